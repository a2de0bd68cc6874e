"""Fine-tuning with adapters (LoRA): all nodes of a network, in one process. What is frozen gets no noise and is not sent.

Of the two factors of an adapter the first is frozen, too, as it was drawn, the same at every node. Were both trained, their
noises would be multiplied with each other, which no C is the best for, and the mean of up times the mean of down, which nodes
average, is not the mean of up·down. With one frozen the layer is linear in what is trained (Sun et al., 2024, FFA-LoRA).

    pip install ./python && python lora.py      # from the repository

The noise is seeded, for a simulation: with state=… in the place of seed=1 it is real.
"""
import torch

import mafalda


class Adapted(torch.nn.Module):
    """A layer that is frozen, and two narrow ones beside it, of which the second is trained."""

    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = torch.nn.Linear(layer.in_features, rank, bias=False).requires_grad_(False)
        self.up = torch.nn.Linear(rank, layer.out_features, bias=False)
        torch.nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.layer(x) + self.up(self.down(x))


def pretrained():
    torch.manual_seed(0)  # the same at every node
    return torch.nn.Sequential(Adapted(torch.nn.Linear(8, 64)), torch.nn.Tanh(), Adapted(torch.nn.Linear(64, 1)))


def main():
    plan = mafalda.optimize("cycle:4", steps=20, k=5, epsilon=8, delta=1e-5)
    nodes = {}
    for number, node in enumerate(plan.nodes):
        model = pretrained()
        x = torch.randn(1000, 8, generator=torch.Generator().manual_seed(number))
        y = torch.sin(x.sum(dim=1, keepdim=True))
        sgd = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=2.0)
        sampler = plan.sampler(len(x), node=node)
        nodes[node] = model, x, y, sampler, plan.make_private(sgd, node=node, seed=1, sampler=sampler)
    model, x, y, _, private = nodes[plan.nodes[0]]
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {private.noise.dim} of them trained")
    loss = torch.nn.functional.mse_loss
    print(f"before: loss {loss(model(x), y):.3f}")  # here of records that are random: nothing is revealed
    for step in range(plan.steps):
        for model, x, y, sampler, private in nodes.values():
            private.backward(model, loss, x[sampler.batch(step)], y[sampler.batch(step)])
            private.step()
        sent = {node: mafalda.flat(private.parameters) for node, (*_, private) in nodes.items()}
        for node, (*_, private) in nodes.items():
            plan.mix(private.parameters, {other: sent[other] for other in plan.neighbours(node)}, node=node)
    model, x, y, *_ = nodes[plan.nodes[0]]
    print(f"after:  loss {loss(model(x), y):.3f}")


main()
