#!/usr/bin/env python3
"""Measures simulated noise where the model is, for docs/simulate.md: torch.randn, rows of every class, and streams of
Opake and jax_privacy. For developers; run it from the repository, with the package on PYTHONPATH and the program as
$MAFALDA.

    benchmarks/device.py --busy                             # this machine's processors
    benchmarks/device.py --device cuda --dim 100000000      # a GPU
    benchmarks/device.py --network ego.edges                # 148 nodes of 10⁶ parameters, 10 steps

Opake and jax_privacy are measured by this file in Pythons of their own: --python opake=PATH, or environments that it
makes in --environments. Rates are numbers of a row per second, the best of the last rows in order; ratio is the rate
over that of torch.randn (or numpy's, where there is no torch), in turns with the rows (after them, for jax_privacy).
--busy takes seconds of a processor for seconds of the clock, with one thread: for a machine that does other things,
too. dense is a row that adds T - 1 earlier ones: GB/s counts the reading of these, and stands beside what summing a
large array reads.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time
import venv

import numpy as np

import mafalda

STEPS, ROWS, TRIES = 48, 12, 3
CLASSES = {"independent": "banded:bandwidth=1", "4 bands": "banded:bandwidth=4", "16 bands": "banded:bandwidth=16", "toeplitz": "toeplitz",
           "banded-inverse": "banded-inverse", "blt of 4 buffers": "blt:buffers=4", "comb": "comb", "dense": "dense"}
PEERS = {"opake": "opake[dpftrl]==0.16.1", "jax_privacy": "jax_privacy==2.0.0"}


def best(a, *calls, torch=None, rows=STEPS - 1):
    """Returns what each of some calls takes, which have turns: the best of the last."""
    clock, took = time.process_time if a.busy else time.perf_counter, []
    for t in range(rows):
        took.append([])
        for call in calls:
            start = clock()
            call(t)
            if torch is not None and a.device.startswith("cuda"):
                torch.cuda.synchronize()
            took[-1].append(clock() - start)
    return [min(each) for each in zip(*took[-ROWS:])]


def plan_of(strategy, graph="florentine", steps=STEPS, **options):
    return mafalda.optimize(graph, steps=steps, k=4 if steps >= 16 else 2, mu=1, strategy=strategy, no_baselines=True, **options)


def of_jax_privacy(a):
    import jax
    from jax_privacy.matrix_factorization import toeplitz
    from jax_privacy import noise_addition

    coefficients = toeplitz.optimal_max_error_strategy_coefs(4)
    dense = np.array(plan_of("dense").inverse(), np.float32)
    for name, noising in (("4 bands", toeplitz.inverse_as_streaming_matrix(coefficients)), ("dense", dense)):
        privatizer = noise_addition.matrix_factorization_privatizer(noising, stddev=1.0, prng_key=1)
        like = jax.numpy.zeros(a.dim)
        update, state = jax.jit(privatizer.update), privatizer.init(like)

        def step(t):
            nonlocal state
            row, state = update(like, state)
            row.block_until_ready()

        yield name, *best(a, step)


def of_opake(a):
    import opake.random
    import torch
    from opake.dpftrl.noise import band_mf_strategy, blt_strategy, mf_gaussian_noise
    from opake.types import ClippedPytree

    if a.busy:
        torch.set_num_threads(1)
    strategies = {"4 bands": band_mf_strategy(bands=4), "blt of at most 4 buffers": blt_strategy(max_buffers=4)}
    for name, strategy in strategies.items():
        like = torch.zeros(a.dim, device=a.device)
        noise, state = mf_gaussian_noise(like, strategy, n_steps=STEPS, noise_multiplier=1.0, key=opake.random.key(1))

        def step(t):
            nonlocal state
            _, state = noise(ClippedPytree(pytree=like, max_norm=1.0), state)

        yield name, *best(a, step, lambda t: torch.randn(a.dim, device=a.device), torch=torch)


def version(peer):
    return "%s %s" % (peer, PEERS[peer].split("==")[1])


def python_of(peer, a):
    """Returns the Python that has a peer; it makes one where none was named."""
    named = dict(pair.split("=", 1) for pair in a.python)
    if peer in named:
        return named[peer]
    folder = os.path.join(a.environments, version(peer).replace(" ", "-") + "-cuda" * a.device.startswith("cuda"))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "whole")):
        print("%s is installed in %s" % (version(peer), folder), file=sys.stderr)
        venv.create(folder, clear=True, with_pip=True)
        wanted = [PEERS[peer]] + ["jax[cuda12]"] * (peer == "jax_privacy" and a.device.startswith("cuda"))
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True, capture_output=True, text=True)
        open(os.path.join(folder, "whole"), "w").close()
    return python


def streams_of(peer, a):
    """Yields the streams of a peer and what a row takes, as its own Python measures them, and torch.randn if it can."""
    words = [python_of(peer, a), os.path.abspath(__file__), "--only", peer, "--device", a.device, "--dim", str(a.dim)]
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(mafalda.__file__)))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words + ["--busy"] * a.busy, env=environment, **pipes) as process:
        for line in process.stdout:
            yield json.loads(line)
        said = process.stderr.read()
    if process.returncode:
        raise RuntimeError(said)


def network(a):
    """Prints what rows of all nodes of a network take, and what the first ones take with the program's bits."""
    plan, clock = plan_of(a.strategy, a.network, a.steps), time.perf_counter
    made = plan.simulated(a.nodes_dim, seed=1, memory=a.memory, **({"device": a.device} if a.device != "cpu" else {}))
    start, used = clock(), time.process_time()
    for t in range(plan.steps):
        made.rows(t)
    took, used = (clock() - start) / plan.steps, (time.process_time() - used) / plan.steps
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start = time.process_time()
    plan.noise(plan.nodes[0], a.nodes_dim, seed=1).row(0)
    before = (time.process_time() - start) * len(plan.nodes)
    print("%d nodes, %d numbers, %d steps" % (len(plan.nodes), a.nodes_dim, plan.steps))
    print("%.1f s a step, %.1f s of a processor, peak %.2f GB" % (took, used, peak))
    print("the program's bits: %.1f s of a processor, %.1f times as much" % (before, before / used))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dim", type=int, default=1 << 20)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help="a Python that has a peer")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--environments", default=os.path.join(cache, "mafalda-benchmarks"), metavar="DIR")
    parser.add_argument("--only", choices=PEERS, help=argparse.SUPPRESS)  # a peer that this Python has: JSON
    parser.add_argument("--network", help="a file of edges, or a built-in graph: measure rows of all its nodes instead")
    parser.add_argument("--nodes-dim", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--strategy", default="dense")
    parser.add_argument("--memory", type=float, help="bytes of earlier rows that are kept")
    a = parser.parse_args()
    if a.network:
        return network(a)
    if a.only:
        for stream in {"opake": of_opake, "jax_privacy": of_jax_privacy}[a.only](a):
            print(json.dumps(stream), flush=True)
        return
    try:
        import torch
    except ImportError:
        torch = None
    draw, large = np.random.default_rng(1), np.ones(1 << 26, np.float32)
    if torch is None:
        base, randn = "numpy %s" % np.__version__, lambda t: draw.standard_normal(a.dim, dtype=np.float32)
    else:
        base, randn = "torch %s" % torch.__version__, lambda t: torch.randn(a.dim, device=a.device)
        large = torch.from_numpy(large).to(a.device) if a.device != "cpu" else large
        if a.busy:
            torch.set_num_threads(1)
    print("| rows of %.3g numbers, T = %d, %s | by | 10⁶/s | ratio |\n|---|---|---|---|" % (a.dim, STEPS, a.device))

    def line(name, by, took, least, more=""):
        print("| %s | %s | %.0f%s | %.2f |" % (name, by, a.dim / took / 1e6, more, least / took), flush=True)

    least, _ = best(a, randn, randn, torch=torch)
    line("normal numbers", base, least, least)
    for name, strategy in CLASSES.items():
        plan = plan_of(strategy)
        where = {} if torch is None else {"device": a.device}
        pairs = []
        for _ in range(TRIES):
            made = plan.simulated(a.dim, seed=1, threads=1 if a.busy else None, **where)
            pairs.append(best(a, lambda t: made.row(plan.nodes[0], t), randn, torch=torch))
        took, least = map(min, zip(*pairs))
        more = ""
        if name == "dense":
            read = 4e-9 * len(large) / best(a, lambda t: large.sum(), torch=torch, rows=ROWS)[0]
            more = ", %.1f GB/s of %.1f" % (4e-9 * (STEPS - ROWS / 2) * a.dim / took, read)
        line(name, "mafalda", took, least, more)
    for peer in PEERS:
        try:
            for name, took, *least in streams_of(peer, a):
                line(name, version(peer), took, *(least or best(a, randn, torch=torch, rows=ROWS)))
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            print("not measured: %s (%s)" % (peer, said.strip().splitlines()[-1]), file=sys.stderr)


main()
