#!/usr/bin/env python3
"""Measures simulated noise where the model is, for docs/simulate.md: torch.randn, rows of every class, and the streams of
jax_privacy and Opake where this Python has them. For developers; run it from the repository, with the package on PYTHONPATH.

    benchmarks/device.py                                    # this machine's processors
    benchmarks/device.py --device cuda --dim 100000000      # a GPU
    benchmarks/device.py --network ego.edges --memory 6.5e9 # 148 nodes of 10⁶ parameters, 10 steps

Rates are numbers of a row per second, the median of rows in order after the first ones; ratio is the rate over torch.randn's (or
numpy's, where there is no torch). --busy takes seconds of a processor for seconds of the clock, with one thread: for a machine
that does other things, too. dense is a row that adds T - 1 earlier ones: GB/s counts the reading of these.
"""
import argparse
import importlib.metadata
import resource
import statistics
import time

import numpy as np

import mafalda

STEPS, ROWS = 48, 12
CLASSES = {"independent": "banded:bandwidth=1", "4 bands": "banded:bandwidth=4", "16 bands": "banded:bandwidth=16", "toeplitz": "toeplitz",
           "banded-inverse": "banded-inverse", "blt of 4 buffers": "blt:buffers=4", "comb": "comb", "dense": "dense"}


def seconds(step, a, torch=None):
    """Returns the median time of steps, after a third of them."""
    clock, took = time.process_time if a.busy else time.perf_counter, []
    for t in range(STEPS - 1):
        start = clock()
        step(t)
        if torch is not None and a.device.startswith("cuda"):
            torch.cuda.synchronize()
        took.append(clock() - start)
    return statistics.median(took[-ROWS:])


def plan_of(strategy, graph="florentine", steps=STEPS, **options):
    return mafalda.optimize(graph, steps=steps, k=4 if steps >= 16 else 2, mu=1, strategy=strategy, no_baselines=True, **options)


def of_jax_privacy(a):
    import jax
    from jax_privacy.matrix_factorization import toeplitz
    from jax_privacy import noise_addition

    coefficients = toeplitz.optimal_max_error_strategy_coefs(4)
    streams = {"dense": np.array(plan_of("dense").inverse(), np.float32), "4 bands": toeplitz.inverse_as_streaming_matrix(coefficients)}
    for name, noising in streams.items():
        privatizer = noise_addition.matrix_factorization_privatizer(noising, stddev=1.0, prng_key=1)
        like = jax.numpy.zeros(a.dim)
        update, state = jax.jit(privatizer.update), privatizer.init(like)

        def step(t):
            nonlocal state
            row, state = update(like, state)
            row.block_until_ready()

        yield name, seconds(step, a)


def of_opake(a, torch):
    import opake.random
    from opake.dpftrl.noise import band_mf_strategy, blt_strategy, mf_gaussian_noise
    from opake.types import ClippedPytree

    for name, strategy in (("4 bands", band_mf_strategy(bands=4)), ("blt of 4 buffers", blt_strategy(max_buffers=4))):
        like = torch.zeros(a.dim, device=a.device)
        noise, state = mf_gaussian_noise(like, strategy, n_steps=STEPS, noise_multiplier=1.0, key=opake.random.key(1))

        def step(t):
            nonlocal state
            _, state = noise(ClippedPytree(pytree=like, max_norm=1.0), state)

        yield name, seconds(step, a, torch)


def network(a):
    """Prints what rows of all nodes of a network take, and what the first ones take with the program's bits."""
    plan, clock = plan_of(a.strategy, a.network, a.steps), time.perf_counter
    made = plan.simulated(a.nodes_dim, seed=1, memory=int(a.memory), **({"device": a.device} if a.device != "cpu" else {}))
    start, used = clock(), time.process_time()
    for t in range(plan.steps):
        made.rows(t)
    took, used = clock() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start = time.process_time()
    plan.noise(plan.nodes[0], a.nodes_dim, seed=1).row(0)
    before = (time.process_time() - start) * len(plan.nodes)
    print("%d nodes, %d numbers, %d steps: %.1f s (%.1f s of processors), %.1f s a step, peak %.2f GB; the program's bits: %.1f s of "
          "a processor a step" % (len(plan.nodes), a.nodes_dim, plan.steps, took, used, took / plan.steps, peak, before))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dim", type=int, default=1 << 20)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--network", help="a file of edges, or a built-in graph: measure rows of all its nodes instead")
    parser.add_argument("--nodes-dim", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--strategy", default="dense")
    parser.add_argument("--memory", type=float, default=1 << 32, help="bytes of earlier rows that are kept")
    a = parser.parse_args()
    if a.network:
        return network(a)
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None:
        draw, base = np.random.default_rng(1), "numpy %s" % np.__version__
        least = seconds(lambda t: draw.standard_normal(a.dim, dtype=np.float32), a)
    else:
        base, least = "torch %s" % torch.__version__, seconds(lambda t: torch.randn(a.dim, device=a.device), a, torch)
    rows = [("normal numbers", base, least, "")]
    for name, strategy in CLASSES.items():
        plan = plan_of(strategy)
        where = {} if torch is None else {"device": a.device}
        made = plan.simulated(a.dim, seed=1, threads=1 if a.busy else None, **where)
        took = seconds(lambda t: made.row(plan.nodes[0], t), a, torch)
        more = ", %.1f GB/s" % (4e-9 * (STEPS - ROWS / 2) * a.dim / took) if name == "dense" else ""
        rows.append((name, "mafalda", took, more))
    for peer, of in (("jax_privacy", of_jax_privacy), ("opake", lambda a: of_opake(a, torch))):
        try:
            rows += [(name, "%s %s" % (peer, importlib.metadata.version(peer)), took, "") for name, took in of(a)]
        except (ImportError, importlib.metadata.PackageNotFoundError) as error:
            print("not measured: %s (%s)" % (peer, error))
    print("| rows of %.3g numbers, T = %d, %s | by | 10⁶/s | ratio |\n|---|---|---|---|" % (a.dim, STEPS, a.device))
    for name, by, took, more in rows:
        print("| %s | %s | %.0f%s | %.2f |" % (name, by, a.dim / took / 1e6, more, rows[0][2] / took))


main()
