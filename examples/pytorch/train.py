"""One node's training steps with PyTorch and correlated noise.

    pip install ./python                # from the repository
    python train.py out Medici          # out: an export made with --mu or --epsilon and --delta

The noise here is seeded, for a simulation: with state="medici.noise" in the place of seed=1 it is real, from `mafalda noise serve`,
and with a state for the sampler, too, the node can be stopped and started again (docs/nodes.md).
"""

import sys

import torch

import mafalda


def main(
    directory, node, missed=(5, 6, 17)
):  # steps in which this node was off, for a reason that has nothing to do with its data
    plan = mafalda.load(directory)
    print(plan.contract)
    torch.manual_seed(0)
    x = torch.randn(32 * plan.b, 8)
    y = x.sum(dim=1, keepdim=True)
    model = torch.nn.Linear(8, 1)
    sampler = plan.sampler(len(x), node=node)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    private = plan.make_private(sgd, node=node, seed=1, sampler=sampler)
    for step, batch in sampler.items():
        if step in missed:
            private.skip_to(step + 1)  # its batch is skipped, not shifted; its row is carried by the next one
            continue
        loss = private.backward(model, torch.nn.functional.mse_loss, x[batch], y[batch])
        private.step()
        # here the node sends its model to its neighbours, and averages: plan.mix(model, received)
        if step % 10 == 0:  # the loss has no noise: it is as secret as the records
            print(f"step {step}: loss {loss:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
