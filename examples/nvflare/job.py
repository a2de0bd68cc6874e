"""NVFlare's simulator with private peer-to-peer training of the digits.

pip install ./python nvflare scikit-learn torch
python job.py WORK                  # WORK: an empty folder; mafalda on the PATH, or $MAFALDA
"""

import os
import pathlib
import subprocess
import sys

import torch
from nvflare.app_opt.p2p.controllers import DistOptController
from nvflare.app_opt.p2p.types import Config, Neighbor, Network, Node
from nvflare.job_config.api import FedJob

import mafalda
from mafalda._program import find
from private_dgd import PrivateDGDExecutor

SITES = 4


class Digits(PrivateDGDExecutor):
    """A layer of 32 on the 8×8 digits."""

    def task(self, index, nodes):
        from sklearn.datasets import load_digits

        digits = load_digits()
        x, y = torch.tensor(digits.images.reshape(-1, 64) / 16, dtype=torch.float32), torch.tensor(digits.target)
        self.test = x[::5], y[::5]
        rest = torch.arange(len(x)) % 5 != 0
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))
        return model, torch.nn.functional.cross_entropy, x[rest][index::nodes], y[rest][index::nodes]

    def _post_algorithm_run(self, fl_ctx, shareable, abort_signal):
        x, y = self.test
        accuracy = (self.model(x).argmax(dim=1) == y).double().mean().item()
        pathlib.Path(self.state, fl_ctx.get_identity_name(), "accuracy").write_text(f"{accuracy:.3f}\n")


def network(plan):
    """The sites and their weights, as NVFlare has them."""
    return Network(
        [
            Node(id=site, neighbors=[Neighbor(id=other, weight=w) for other, w in plan.neighbours(site).items()])
            for site in plan.nodes
        ]
    )


def main(work):
    edges = os.path.join(work, "sites.edges")
    pathlib.Path(edges).write_text("".join(f"site-{i + 1} site-{(i + 1) % SITES + 1}\n" for i in range(SITES)))
    out = os.path.join(work, "out")
    subprocess.run(
        [
            find(),
            "optimize",
            "--graph",
            edges,
            "--T",
            "80",
            "-k",
            "10",
            "--workload",
            "message",
            "--epsilon",
            "8",
            "--delta",
            "1e-5",
            "-o",
            out,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    plan = mafalda.load(out)
    job = FedJob(name="private")
    job.to_server(
        DistOptController(config=Config(network=network(plan), extra={"iterations": plan.steps, "stepsize": 0.5}))
    )
    state = os.path.join(work, "state")
    for site in plan.nodes:
        job.to(Digits(export=out, sha256=plan.hash, state=state), site)
    job.simulator_run(os.path.join(work, "run"), threads=SITES)
    for site in plan.nodes:
        print(site, "accuracy", pathlib.Path(state, site, "accuracy").read_text().strip())


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
