"""What the experiments of run.py add to mafalda.peers: a pace, and steps without a gradient."""

import time

import numpy as np

from mafalda import peers


class Peers(peers.Peers):
    """pace is how many seconds a step takes at least, miss the probability that a node has no gradient in a step."""

    def __init__(self, plan, node, addresses, outbox, noise, pace=0.0, miss=0.0):
        super().__init__(plan, node, addresses, outbox, noise)
        self._private, self._pace, self._miss = noise, pace, miss
        self._random = np.random.default_rng(plan.index(node))

    def steps(self):
        for step in super().steps():
            end = time.monotonic() + self._pace
            yield step
            time.sleep(max(0.0, end - time.monotonic()))

    def misses(self, step):
        """Whether this node has no gradient in a step: its row is carried, and it goes on with gossip."""
        if step + 1 == self.plan.steps or self._random.random() >= self._miss:
            return False
        self.note_skipped(self._private.skip_to(step + 1))
        return True
