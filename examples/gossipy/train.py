"""GossiPy with the noise of a plan: a handler whose update clips every record's gradient, and adds the node's next row.

    pip install ./python gossipy-dfl && python train.py     # from the repository

Noise is simulated. In the place of plan.simulated's rows, plan.noise(node, dim, state="FILE") has real ones.
"""
import numpy as np
import torch
from gossipy.core import AntiEntropyProtocol, CreateModelMode, StaticP2PNetwork
from gossipy.data import DataDispatcher
from gossipy.data.handler import ClassificationDataHandler
from gossipy.model.handler import TorchModelHandler
from gossipy.model.nn import LogisticRegression
from gossipy.node import GossipNode
from gossipy.simul import GossipSimulator

import mafalda
from mafalda.torch import clipped_sum

PLAN = mafalda.optimize("cycle:8", steps=20, k=5, epsilon=8, delta=1e-5, no_baselines=True)
NOISE = PLAN.simulated(3 * 10 + 3, seed=1, device="cpu")


class PrivateHandler(TorchModelHandler):
    node, step = "", 0  # GossiPy copies handlers with every message: these two are all that a copy has of the noise

    def _update(self, data):
        if self.step == PLAN.steps:
            return  # no row is left: the node averages, and trains no more
        x, y = data
        sampler = PLAN.sampler(len(x), node=self.node)
        batch, parameters = sampler.batch(self.step), list(self.model.parameters())
        sums, _ = clipped_sum(self.model, parameters, self.criterion, x[batch], y[batch], PLAN.clip)
        rows = NOISE.row(self.node, self.step).split([p.numel() for p in parameters])
        for p, total, row in zip(parameters, sums, rows):
            p.grad = ((total + row.view_as(p)) / sampler.expected).to(p.dtype)
        self.optimizer.step()
        self.step, self.n_updates = self.step + 1, self.n_updates + 1


def main():
    torch.manual_seed(0)
    x = torch.randn(4000, 10)
    data = ClassificationDataHandler(x, x[:, :3].argmax(dim=1), test_size=0.2)
    proto = PrivateHandler(
        LogisticRegression(10, 3), torch.optim.SGD, {"lr": 1.0}, torch.nn.CrossEntropyLoss(),
        create_model_mode=CreateModelMode.MERGE_UPDATE)  # the others train what is received, too: a second gradient
    n = len(PLAN.nodes)
    links, dispatcher = StaticP2PNetwork(n, (PLAN.W > 0) & ~np.eye(n, dtype=bool)), DataDispatcher(data, n)
    nodes = GossipNode.generate(dispatcher, links, proto, round_len=10, sync=True)
    for i, node in nodes.items():
        node.model_handler.node = PLAN.nodes[i]
    simulator = GossipSimulator(nodes, dispatcher, 10, AntiEntropyProtocol.PUSH, sampling_eval=0.1)
    simulator.init_nodes(seed=1)
    simulator.start(n_rounds=PLAN.steps)
    scores, steps = zip(*((node.evaluate(data.get_eval_set())["accuracy"], node.model_handler.step) for node in nodes.values()))
    print(f"accuracy {sum(scores) / len(scores):.3f} after {min(steps)} to {max(steps)} private steps, ε ≤ {PLAN.epsilon():.4g}")


main()
