"""One node's training steps with PyTorch and correlated noise: per-example clipping, noise on the sum, then the average.

    python train.py out Medici          # out: an export made with --mu or --epsilon and --delta

The noise here is seeded, for a simulation. A node with real records takes its rows from `mafalda noise --state FILE`.
"""

import sys

import torch

from mafalda_noise import Noise

directory, node = sys.argv[1:3]
torch.manual_seed(0)
model = torch.nn.Linear(8, 1)
parameters = list(model.parameters())
dim = sum(p.numel() for p in parameters)
noise = Noise(directory, node=node, dim=dim, seed=1)
clip = noise.manifest["privacy"]["clip"]
batch, rate = 32, 0.1

for step, row in enumerate(noise):
    x = torch.randn(batch, 8)
    y = x.sum(dim=1, keepdim=True)
    total = torch.zeros(dim)
    for i in range(batch):  # each example's gradient is clipped on its own
        loss = torch.nn.functional.mse_loss(model(x[i : i + 1]), y[i : i + 1])
        gradient = torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)])
        total += gradient * min(1.0, clip / (gradient.norm().item() + 1e-12))
    total = (total + torch.from_numpy(row).float()) / batch
    with torch.no_grad():
        at = 0
        for p in parameters:
            p -= rate * total[at : at + p.numel()].view_as(p)
            at += p.numel()
    # here the node sends its model to its neighbours, and averages what it receives
    if step % 10 == 0:
        print(f"step {step}: loss {torch.nn.functional.mse_loss(model(x), y).item():.4f}")
