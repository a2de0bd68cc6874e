"""Audits of many trainings that are honest or have a fault: what docs/auditing.md says was measured.

    MAFALDA=… python audited_seeds.py --fault half --seeds 20          # one fault; honest, missed and drawn are without one
    MAFALDA=… python audited_seeds.py --seeds 20 --processes 2         # all faults
    MAFALDA=… python audited_seeds.py --fault honest --seeds 100

A training here has the sums of its gradients made up: a drift that stays, a part that changes, and canaries. trained.py has real ones.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import tempfile
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import mafalda
from mafalda.canaries import Recorder

FAULTS = {  # what went wrong: the statistics that may say so
    "half": "half the noise",
    "shuffle": "a loader that shuffles in every epoch",
    "twice": "every tenth row of noise is the one before",
    "inverse": "C in the place of its inverse",
    "mean": "noise on the mean in the place of the sum",
    "layer": "a tenth of the model is not clipped",
    "lost": "5 % of the steps are missed, and their rows lost",
    "fixed": "fixed batches under a plan of drawn ones",
    "export": "noise by the export for another k",
    "graph": "noise by the export of another graph",
}
HONEST = {"honest": "", "missed": "5 % of the steps are missed, and their rows carried", "drawn": "batches drawn in secret"}


def steps_of_canaries(plan, canaries, fault, draw):
    """For each canary that contributes the steps in which it really does."""
    if fault == "fixed":  # as many records a step as are drawn in expectation
        batches = round(canaries.sampler.records / canaries.sampler.expected)
        return [list(range(i % batches, plan.steps, batches)) for i in range(canaries.count)]
    if fault == "shuffle":
        cycles = [draw.permutation(canaries.sampler.records) % plan.b for _ in range(plan.k)]
        return [[c * plan.b + int(cycle[canaries.records + i]) for c, cycle in enumerate(cycles)] for i in range(canaries.count)]
    return canaries.steps


def noise_of(plan, fault, draw, dim, missed):
    """Rows of noise as they are added to the sums; rows of missed steps are in the next one, or lost."""
    inverse = plan.C_inv
    if fault == "inverse":
        inverse = np.linalg.inv(inverse)
    elif fault in ("export", "graph"):
        other = {"export": ("hypercube:3", plan.k // 2), "graph": ("cycle:8", plan.k)}[fault]
        inverse = mafalda.optimize(other[0], steps=plan.steps, k=other[1], mu=1, no_baselines=True).C_inv
    rows = (inverse * plan.noise_std * (0.5 if fault == "half" else 1)).astype(np.float32) @ draw.standard_normal(
        (plan.steps, dim), dtype=np.float32
    )
    if fault == "twice":
        rows[10::10] = rows[9:-1:10]
    for t in missed:
        if fault != "lost" and t + 1 < plan.steps:
            rows[t + 1] += rows[t]
    return rows


def trained(plan, folder, fault="honest", seed=0, dim=100_000, count=1000, records=240, node=None):
    """A training with numpy alone; the paths of its record and its coins."""
    folder, draw = pathlib.Path(folder), np.random.default_rng([seed, 7])
    node = plan.nodes[1] if node is None else node
    sampler = plan.sampler(records + count, node=node, seed=seed)
    canaries = plan.canaries(count, dim, folder / "coins", sampler=sampler, seed=seed)
    layers = [dim // 2, dim // 10, dim - dim // 2 - dim // 10]
    recorder = Recorder(plan, node, folder / "run", layers, sampler.expected)
    missed = sorted(draw.choice(plan.steps - 1, plan.steps // 20, replace=False)) if fault in ("missed", "lost") else []
    change = draw.standard_normal((plan.steps, 20), dtype=np.float32) * np.float32(0.1)  # a drift that stays, and a part that changes:
    sums = (1 + change) @ draw.standard_normal((20, dim), dtype=np.float32)  # half of what a batch can add
    sums *= np.float32(0.5 * records / sampler.records * sampler.expected * plan.clip / np.sqrt(20.2 * dim))
    gradients = canaries.gradients(range(records, records + count))
    gradients *= np.float32(plan.clip) / np.linalg.norm(gradients, axis=1, keepdims=True)
    if fault == "layer":
        gradients[:, layers[0] : layers[0] + layers[1]] *= 10
    actual = steps_of_canaries(plan, canaries, fault, draw)
    takes = np.zeros((plan.steps, count), dtype=np.float32)
    for i in range(count):
        takes[actual[i], i] = 1
    sums += takes[:, canaries.included] @ gradients
    sums[missed] = 0
    rows = noise_of(plan, fault, draw, dim, missed)
    sums += rows * np.float32(sampler.expected if fault == "mean" else 1)
    sums[missed] = np.nan
    recorder._updates.write(0, *(sums / np.float32(sampler.expected)))
    return folder / "run", folder / "coins"


def audit(plan, run, coins):
    """The result, with a fault or without."""
    try:
        return plan.audit(run, coins)
    except mafalda.ProgramError as failed:
        if failed.result is None:
            raise
        return failed.result


def line(job):
    """One training, audited: its fault, seed, alarms and numbers."""
    directory, fault, seed, dim, count = job
    with tempfile.TemporaryDirectory() as folder:
        found = audit((plan := mafalda.load(directory)), *trained(plan, folder, fault, seed, dim, count))
    alarms = [f["name"] for f in found.faults if f["alarm"]]
    claimed = getattr(found, "claimed_mu", None)
    covered = claimed is not None and abs(found.mu - claimed) <= 2 * found.mu_error
    above = getattr(found, "claimed_epsilon", None) is not None and found.lower_epsilon > found.claimed_epsilon
    return fault, seed, alarms, found.mu, found.mu_error, claimed, covered, found.lower_epsilon, above


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", nargs="*", default=list(FAULTS), choices=[*FAULTS, *HONEST])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--parameters", type=int, default=100_000)
    parser.add_argument("--canaries", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    privacy = {"k": options.steps // 8, "epsilon": 8, "delta": 1e-5, "no_baselines": True}
    with tempfile.TemporaryDirectory() as work, ProcessPoolExecutor(options.processes) as pool:
        cyclic, drawn = os.path.join(work, "cyclic"), os.path.join(work, "drawn")
        mafalda.optimize("hypercube:3", steps=options.steps, **privacy, out=cyclic)
        mafalda.optimize("hypercube:3", steps=options.steps, **privacy, sampling="poisson", out=drawn)
        for fault in options.fault:
            plan = drawn if fault in ("fixed", "drawn") else cyclic
            seeds = range(options.first, options.first + options.seeds)
            jobs = [(plan, fault, seed, options.parameters, options.canaries) for seed in seeds]
            alarmed = covered = above = 0
            for _, seed, alarms, mu, wrong, claimed, near, epsilon, over in pool.map(line, jobs):
                print(f"{fault:8} seed {seed:3}  mu {mu:.3f} ± {wrong:.3f}  epsilon ≥ {epsilon:.2f}  {', '.join(alarms) or '-'}", flush=True)
                alarmed, covered, above = alarmed + (alarms != []), covered + near, above + over
            print(f"{fault}: alarms in {alarmed} of {options.seeds}, mu covered in {covered}, epsilon above the claim in {above}", flush=True)


if __name__ == "__main__":
    main()
