"""One node, in numpy: softmax regression. Started by run.py; node_torch.py is the same with torch."""

import json
import os
import pathlib
import resource
import sys
import time

import numpy as np

import data
import mafalda
from mafalda.canaries import Recorder
from mafalda._simulated import SimulatedNoise
from peers import Peers


def clipped_sum(theta, x, y, clip):
    """Σ of the records' gradients of the cross-entropy, each clipped: (p - 1_y)⊗x has the norm of p - 1_y times that of x."""
    scores = x @ theta
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    norms = np.linalg.norm(p, axis=1) * np.linalg.norm(x, axis=1) * (1 + 1e-5)
    return x.T @ (p * np.minimum(1, clip / np.maximum(norms, 1e-30))[:, None])


def with_constant(x):
    return np.hstack([x, np.ones((len(x), 1), np.float32)])


def train(plan, node, x, y, work, addresses, rate, options, private=True, made_up=0):
    """The user's code: a private training loop with gossip. Returns the model, and the peers for what they counted.

    made_up is how many records are made up for an audit of what really happened, after the node's own.
    """
    sampler = plan.sampler(len(x) + made_up, node=node, state=work / "batches")
    shape = (x.shape[1], data.CLASSES)
    audit = Audit(plan, node, work, sampler, shape[0] * shape[1], made_up) if made_up else None
    noise = (
        plan.noise(node, shape[0] * shape[1], state=work / "noise")
        if private
        else Silent(plan, node, shape[0] * shape[1])
    )
    with noise, Peers(plan, node, addresses, work / "outbox", noise, **options) as peers:
        theta = peers.restore(np.zeros(shape[0] * shape[1], np.float32))
        for step in peers.steps():
            if not peers.misses(step):
                numbers, clip = sampler.batch(step), plan.level(node).clip
                batch = numbers[numbers < len(x)]
                total = clipped_sum(theta.reshape(shape), x[batch], y[batch], clip).ravel()
                if audit:
                    total += audit.canaries_of(numbers, clip)
                    audit.recorder.missed(noise.place.unsent)
                total += noise.row(step, dtype=np.float32)
                before, theta = theta, theta - np.float32(rate / sampler.expected) * total
                if audit:
                    audit.recorder.add(step, before, theta, rate)
            theta = plan.mix(theta, peers.exchange(step, theta))
    return theta, peers


class Audit:
    """What an audit needs: canaries, and a record of the messages."""

    def __init__(self, plan, node, work, sampler, dim, made_up):
        self._canaries = plan.canaries(made_up, dim, work / "coins.json", sampler=sampler)
        self.recorder = Recorder(plan, node, work / "run", [dim], sampler.expected)

    def canaries_of(self, numbers, clip):
        """The sum of the canaries of a batch, clipped as records are."""
        gradients = self._canaries.gradients(numbers)
        norms = np.linalg.norm(gradients, axis=1) * (1 + 1e-5)
        return (gradients * np.minimum(1, clip / np.maximum(norms, 1e-30))[:, None]).sum(axis=0)


class Silent(SimulatedNoise):
    """No noise at all, to compare with."""

    def __init__(self, plan, node, dim):
        super().__init__(plan, node, dim, 1.0, 0)

    def row(self, step=None, dtype=np.float32):
        super().row(step)
        return np.zeros(self.dim, dtype)


def main(settings, go):
    plan, work = mafalda.load(settings["export"], sha256=settings["sha256"]), pathlib.Path(settings["work"])
    node, digits = settings["node"], data.load(settings["data"])
    x, y = data.shard(digits, plan.index(node), len(plan.nodes))
    if settings["torch"]:
        from node_torch import train as train_torch
    pathlib.Path(go + ".ready").touch()
    while not os.path.exists(go):
        time.sleep(0.01)
    start = time.monotonic()
    addresses = {label: tuple(address) for label, address in settings["addresses"].items()}
    if settings["torch"]:
        accuracy, loss, peers = train_torch(
            plan, node, x, y, work, addresses, settings["rate"], settings["peers"], digits, settings["canaries"]
        )
    else:
        theta, peers = train(
            plan,
            node,
            with_constant(x),
            y,
            work,
            addresses,
            settings["rate"],
            settings["peers"],
            settings["private"],
            settings["canaries"],
        )
        scores = with_constant(digits.test_x) @ theta.reshape(-1, data.CLASSES)
        accuracy = float((scores.argmax(axis=1) == digits.test_y).mean())
        scores -= scores.max(axis=1, keepdims=True)
        loss = float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(scores)), digits.test_y]))
    seconds = time.monotonic() - start
    result = {
        "accuracy": accuracy,
        "loss": loss,
        "seconds": seconds,
        "skipped": peers.skipped,
        "missing": peers.missing,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    (work / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2])
