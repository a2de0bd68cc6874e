"""One node's training steps with PyTorch and correlated noise: per-example clipping, noise on the sum, then the average.

    python train.py out Medici          # out: an export made with --mu or --epsilon and --delta

The noise here is seeded, for a simulation. A node with real records takes its rows from `mafalda noise --state FILE --row t`.

Two things are part of the guarantee, and no detail of the data loader (docs/noise.md):

- The records are cut into b batches once, and step t uses batch t mod b: never reshuffled, never drawn anew. A shuffling loader puts
  a record into steps that are not b apart, and it pays more than the manifest says: an epsilon of 8 became 10.2 to 10.8.
- A step that is missed takes its row and its batch with it. Step t+1 uses row t+1 and batch (t+1) mod b, whatever happened in step t.
  If the message of step t was certainly never sent, its row is carried: added to the noise of the next message, which keeps most of
  the accuracy. If it may have been sent, the same bytes are sent again, or nothing.
"""

import sys

import torch

from mafalda_noise import Noise


def parts(records, b):
    """The batches, as indices: made once, before training, without looking at the records."""
    return torch.arange(records).chunk(b)


def clipped_sum(model, parameters, x, y, clip):
    """The sum of the examples' gradients, each clipped on its own."""
    total = torch.zeros(sum(p.numel() for p in parameters))
    for i in range(len(x)):
        loss = torch.nn.functional.mse_loss(model(x[i : i + 1]), y[i : i + 1])
        gradient = torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)])
        total += gradient * min(1.0, clip / (gradient.norm().item() + 1e-12))
    return total


def descend(parameters, update, rate):
    at = 0
    with torch.no_grad():
        for p in parameters:
            p -= rate * update[at : at + p.numel()].view_as(p)
            at += p.numel()


def main(directory, node, missed=(5, 6, 17)):  # steps in which this node was off, for a reason that has nothing to do with its data
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    parameters = list(model.parameters())
    noise = Noise(directory, node=node, dim=sum(p.numel() for p in parameters), seed=1)
    clip = noise.manifest["privacy"]["clip"]
    x = torch.randn(32 * noise.batches, 8)
    y = x.sum(dim=1, keepdim=True)
    batches, size, rate = parts(len(x), noise.batches), 32, 0.1  # size is public: the same for every batch

    carried = torch.zeros(noise.dim, dtype=torch.float64)  # rows of messages that were certainly never sent
    for step, row in enumerate(noise):
        row = torch.from_numpy(row)
        if step in missed:
            carried += row
            continue  # its batch is skipped, not shifted
        batch = batches[step % noise.batches]
        total = clipped_sum(model, parameters, x[batch], y[batch], clip)
        message = (total.double() + row + carried) / size
        carried.zero_()
        descend(parameters, message.float(), rate)
        # here the node sends its model to its neighbours, and averages what it receives
        if step % 10 == 0:
            print(f"step {step}: loss {torch.nn.functional.mse_loss(model(x), y).item():.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
