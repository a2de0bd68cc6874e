"""Audits of real trainings of a network, with make_private: what docs/auditing.md says was measured.

    MAFALDA=… python audited_trainings.py --trainings 13         # 8 nodes, T = 160, 105,546 parameters; needs torch and scikit-learn
    MAFALDA=… python audited_trainings.py --trainings 2 --steps 40 --hidden 60 --canaries 400

Every node has canaries and is audited: so many nodes, so many audits of a training, each with noise and coins of its own. The noise
is of the operating system's keys: numbers are others in every run.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile

import numpy as np
import torch
from audited_seeds import audit

import mafalda

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "network"))


def network(widths):
    """A perceptron with tanh between its layers; all nodes start with the same one."""
    torch.manual_seed(0)
    layers = [torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:])]
    return torch.nn.Sequential(*[m for layer in layers for m in (layer, torch.nn.Tanh())][:-1])


def train(plan, folder, seed, shards, widths, count, rate):
    """Trains all nodes; the paths of each node's record and coins, and the models."""
    nodes, paths, real = plan.nodes, {}, {}
    for node, (x, y) in zip(nodes, shards):
        place = pathlib.Path(folder) / node
        place.mkdir()
        model = network(widths)
        sampler = plan.sampler(len(x) + count, node=node, seed=seed)
        dim = sum(p.numel() for p in model.parameters())
        canaries = plan.canaries(count, dim, place / "coins", sampler=sampler, seed=1000 * seed + nodes.index(node))
        size = sampler.records / len(x)  # what canaries add to the size of batches
        sgd = torch.optim.SGD(model.parameters(), lr=rate * size)
        audited = {"sampler": sampler, "canaries": canaries, "record": place / "run"}
        private = plan.make_private(sgd, node=node, state=place / "noise", **audited)
        real[node] = model, sampler.items(), private, torch.from_numpy(x), torch.from_numpy(y)
        paths[node] = place / "run", place / "coins"
    for t in range(plan.steps):
        for model, batches, private, x, y in real.values():
            _, batch = next(batches)
            if len(batch):
                private.backward(model, torch.nn.functional.cross_entropy, x[batch], y[batch])
            private.step()
        sent = {node: mafalda.flat(model) for node, (model, *_) in real.items()}
        for node, (model, *_) in real.items():
            plan.mix(model, {v: sent[v] for v in plan.neighbours(node)}, node=node, step=t)
    for _, _, private, _, _ in real.values():
        private.close()
    return paths, {node: model for node, (model, *_) in real.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainings", type=int, default=13)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--canaries", type=int, default=1000)
    parser.add_argument("--records", type=int, default=40, help="that are real, of a node")
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--hidden", type=int, nargs="+", default=[320, 256], help="units of the layers")
    options = parser.parse_args()
    import data

    torch.set_num_threads(1)
    digits = data.load("digits")
    widths = (digits.x.shape[1], *options.hidden, data.CLASSES)
    audits = covered = alarmed = above = 0
    with tempfile.TemporaryDirectory() as work:
        privacy = {"k": options.steps // 8, "epsilon": 8, "delta": 1e-5, "no_baselines": True}
        plan = mafalda.optimize("hypercube:3", steps=options.steps, **privacy, out=os.path.join(work, "plan"))
        shards = [data.shard(digits, i, len(plan.nodes)) for i in range(len(plan.nodes))]
        shards = [(x[: options.records], y[: options.records]) for x, y in shards]
        for seed in range(options.first, options.first + options.trainings):
            with tempfile.TemporaryDirectory() as folder:
                paths, models = train(plan, folder, seed, shards, widths, options.canaries, options.rate)
                with torch.no_grad():
                    right = [(m(torch.from_numpy(digits.test_x)).argmax(1).numpy() == digits.test_y).mean() for m in models.values()]
                print(f"training {seed}: accuracy {np.mean(right):.3f}", flush=True)
                for node, (run, coins) in paths.items():
                    found = audit(plan, run, coins)
                    alarms = [f["name"] for f in found.faults if f["alarm"]]
                    near = abs(found.mu - found.claimed_mu) <= 2 * found.mu_error
                    over = found.lower_epsilon > found.claimed_epsilon
                    audits, covered, alarmed, above = audits + 1, covered + near, alarmed + (alarms != []), above + over
                    print(
                        f"  node {node}  mu {found.mu:.3f} ± {found.mu_error:.3f}, claimed {found.claimed_mu:.3f}  "
                        f"epsilon ≥ {found.lower_epsilon:.2f}  {', '.join(alarms) or '-'}",
                        flush=True,
                    )
    print(f"{audits} audits: mu covered in {covered}, alarms in {alarmed}, epsilon above the claim in {above}", flush=True)


if __name__ == "__main__":
    main()
