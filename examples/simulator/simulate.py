"""A simulation of 100 nodes in plain torch, all models in one tensor: the optimum beside independent noise, at one ε.

    pip install ./python networkx torch     # from the repository
    python simulate.py [cuda]

The noise is simulated: it protects nothing. What is true of a training with real noise is how well it learns.
"""

import sys

import networkx
import torch

import mafalda

NODES, RECORDS, FEATURES, CLASSES, BATCH = 100, 200, 30, 5, 10


def made_up(device):
    """Records of every node (nodes × records × features), with their classes."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(NODES, RECORDS, FEATURES, generator=draw)
    truth = torch.randn(FEATURES, CLASSES, generator=draw)
    return x.to(device), (x @ truth).argmax(dim=-1).to(device)


def clipped_sums(models, x, y, clip):
    """The sum of each node's clipped gradients, nodes × parameters: of softmax regression they are outer products."""
    scores = torch.einsum("nbf,nfc->nbc", x, models.view(len(x), FEATURES, CLASSES))
    errors = scores.softmax(dim=-1) - torch.nn.functional.one_hot(y, CLASSES)
    norms = x.norm(dim=-1) * errors.norm(dim=-1) * (1 + 1e-5)
    errors = errors * (clip / norms.clamp(min=1e-30)).clamp(max=1)[:, :, None]
    return torch.einsum("nbf,nbc->nfc", x, errors).reshape(len(x), -1)


def train(plan, device, rate=1.0):
    """Trains all nodes, and returns how many records their average classifies."""
    x, y = made_up(device)
    noise = plan.simulated(FEATURES * CLASSES, seed=1, device=device)
    sampler = plan.sampler(RECORDS, node=plan.nodes[0])  # every node cuts its records in the same way
    models = torch.zeros(NODES, FEATURES * CLASSES, device=device)
    for step in range(plan.steps):
        batch = sampler.batch(step)
        sums = clipped_sums(models, x[:, batch], y[:, batch], plan.clip) + noise.rows(step)
        models = plan.mix_all(models - rate * sums / sampler.expected)
    scores = x @ models.mean(dim=0).view(FEATURES, CLASSES)
    return (scores.argmax(dim=-1) == y).float().mean().item()


def main():
    device, graph = sys.argv[1] if len(sys.argv) > 1 else "cpu", networkx.random_regular_graph(4, NODES, seed=1)
    for name, strategy in (("the optimum of 20 bands", "banded:bandwidth=20"), ("independent noise", "banded:bandwidth=1")):
        plan = mafalda.optimize(graph, steps=80, k=4, epsilon=8, delta=1e-5, strategy=strategy, no_baselines=True)
        print(f"{name}: ε = {plan.epsilon():.4g}, {train(plan, device):.1%} of the records are classified (simulated noise)")


if __name__ == "__main__":
    main()
