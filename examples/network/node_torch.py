"""One node, with torch: what a user writes to train privately, with gossip."""

import torch

import mafalda
from peers import Peers


def train(plan, node, x, y, work, addresses, rate, options, digits, made_up=0):
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    torch.manual_seed(0)  # all nodes start with the same model
    model = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))
    sampler = plan.sampler(len(x) + made_up, node=node, state=work / "batches")
    sgd, audit = torch.optim.SGD(model.parameters(), lr=rate), {}
    if made_up:
        dim = sum(p.numel() for p in model.parameters())
        audit = {"canaries": plan.canaries(made_up, dim, work / "coins.json", sampler=sampler), "record": work / "run"}
    private = plan.make_private(sgd, node=node, state=work / "noise", sampler=sampler, **audit)
    with Peers(plan, node, addresses, work / "outbox", private, **options) as peers:
        mafalda.set_flat(model, peers.restore(mafalda.flat(model)))
        for step in peers.steps():
            if not peers.misses(step):
                batch = sampler.batch(step)
                private.backward(model, torch.nn.functional.cross_entropy, x[batch], y[batch])
                private.step()
            plan.mix(model, peers.exchange(step, mafalda.flat(model)))
    private.close()
    scores, y = model(torch.from_numpy(digits.test_x)), torch.from_numpy(digits.test_y)
    return (
        (scores.argmax(dim=1) == y).double().mean().item(),
        torch.nn.functional.cross_entropy(scores, y).item(),
        peers,
    )
