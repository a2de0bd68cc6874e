"""A network that really runs: a process for each node, TCP on the loopback, noise servers, and one node that crashes and comes back.

    pip install ./python scikit-learn                   # from the repository; mafalda on the PATH, or $MAFALDA
    python examples/network/run.py                      # 8 nodes, 160 steps, ε = 8
    python examples/network/run.py --data FOLDER        # MNIST, from its four files
    python examples/network/run.py --short              # what CI runs

It prints the accuracy without noise, with DP-D-SGD (independent noise) and with the optimal correlations, at the same ε, and of a run
in which a node crashes twice. Softmax regression, T = 160, k = 20, b = 8, δ = 10⁻⁵, mean accuracy of the nodes:

    data, learning rate, ε                                          no noise  DP-D-SGD      MAFALDA       and a node crashes twice
    digits (180 records a node), 0.5, ε = 8, two runs               0.899     0.800, 0.807  0.912, 0.888  0.899, 0.898
    MNIST (7,500 records a node), 4, ε = 0.5                        0.903     0.759         0.865         0.869
    MNIST, 0.5, ε = 2                                               0.847     0.843         0.847         0.848

Noise cannot be repeated: digits vary by a hundredth. The crashed node missed 4 to 51 steps.
"""

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

import mafalda
from mafalda.peers import last_sent

HERE = pathlib.Path(__file__).parent


def export(folder, options, **strategy):
    """The best export, or the best of a class."""
    n = options.nodes
    graph = f"hypercube:{n.bit_length() - 1}" if n & (n - 1) == 0 and n > 2 else f"cycle:{n}"
    privacy = {"epsilon": options.epsilon, "delta": 1e-5}
    return mafalda.optimize(graph, steps=options.steps, k=options.k, **privacy, no_baselines=True, out=folder, **strategy)


class Network:
    """The processes of one training. spares are for nodes that will crash: they wait, with all loaded, until they are needed."""

    def __init__(self, plan, work, options, private=True, pace=0.0, spares=()):
        self.plan, self.work, self.processes, self.all = plan, work, {}, []
        sockets = {label: socket.create_server(("127.0.0.1", 0)) for label in plan.nodes}
        addresses = {label: s.getsockname() for label, s in sockets.items()}
        for s in sockets.values():
            s.close()
        for label in plan.nodes:
            own = work / label
            own.mkdir(parents=True)
            settings = {
                "export": plan.directory,
                "sha256": plan.hash,
                "work": str(own),
                "node": label,
                "data": options.data,
                "private": private,
                "torch": options.torch,
                "rate": options.rate,
                "canaries": options.canaries if label in spares else 0,
                "peers": {"pace": pace, "miss": options.missed},
                "addresses": addresses,
            }
            (own / "settings.json").write_text(json.dumps(settings))
        first = {label: self.prepare(label) for label in plan.nodes}
        self.spares = [self.prepare(label) for label in spares]
        for process, go in [*first.values(), *self.spares]:
            while not go.with_suffix(".ready").exists():
                if process.poll() is not None:
                    raise SystemExit("a node ended before it began")
                time.sleep(0.01)
        for label, (process, go) in first.items():
            self.processes[label] = process
            go.touch()

    def prepare(self, label):
        """Starts a process, which begins when there is a file."""
        go = self.work / label / f"go-{len(self.all)}"
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, str(HERE / "node.py"), str(self.work / label / "settings.json"), str(go)]
        self.all.append(subprocess.Popen(command, env=environment, start_new_session=True))
        return self.all[-1], go

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.all:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    def step(self, label):
        """The step of the last message of a node; -1 before its first."""
        return last_sent(self.work / label / "outbox")

    def crash(self, label, at, away, whole):
        """Kills a node in a step, with its noise server if the whole machine goes, and has it back some steps later."""
        self.until(label, at)
        if whole:
            os.killpg(self.processes[label].pid, signal.SIGKILL)
        self.processes[label].kill()
        self.processes[label].wait()
        down = self.step(label)
        self.until(next(iter(self.plan.neighbours(label))), down + away)
        self.processes[label], go = self.spares.pop()
        go.touch()
        return down

    def until(self, label, step):
        while self.step(label) < step:
            if self.processes[label].poll() is not None:
                raise SystemExit(f"node {label} ended")
            time.sleep(0.005)

    def results(self):
        for label, process in self.processes.items():
            if process.wait():
                raise SystemExit(f"node {label} ended with exit code {process.returncode}")
        return {label: json.loads((self.work / label / "result.json").read_text()) for label in self.processes}


def report(name, results, steps):
    accuracy = np.array([r["accuracy"] for r in results.values()])
    skipped = sum(len(r["skipped"]) for r in results.values())
    loss = np.mean([r["loss"] for r in results.values()])
    seconds = max(r["seconds"] for r in results.values())
    memory = max(r["megabytes"] for r in results.values())
    print(
        f"{name:26} accuracy {accuracy.mean():.3f} (worst node {accuracy.min():.3f})   loss {loss:.4f}   {1000 * seconds / steps:6.1f} ms a step   "
        f"{memory:4.0f} MB a node   {skipped} steps missed",
        flush=True,
    )
    return float(accuracy.mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--steps", type=int, default=160)
    parser.add_argument("-k", type=int, default=20, help="how often a record takes part")
    parser.add_argument("--epsilon", type=float, default=8)
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--missed", type=float, default=0, help="probability that a node has no gradient in a step")
    parser.add_argument("--data", default="digits", help="digits, made, or a folder with MNIST")
    parser.add_argument("--torch", action="store_true", help="nodes train with torch (a layer of 32)")
    parser.add_argument("--canaries", type=int, default=0, help="records made up for an audit of the node that crashes")
    parser.add_argument("--pace", type=float, help="seconds that a step takes at least where a node crashes: more on a busy machine")
    parser.add_argument("--short", action="store_true", help="4 nodes, 40 steps")
    options = parser.parse_args()
    if options.short:
        options.nodes, options.steps, options.k = 4, 40, 10
    with tempfile.TemporaryDirectory() as folder:
        run(pathlib.Path(folder), options)


def run(folder, options):
    best = export(folder / "mafalda", options)
    independent = export(folder / "dp-d-sgd", options, strategy="banded:bandwidth=1")
    print(
        f"{options.nodes} nodes, T = {options.steps}, k = {best.k}, b = {best.b}, epsilon = {options.epsilon:g}, {options.data}, learning rate {options.rate:g}"
    )
    for name, plan, private in (("no noise", best, False), ("DP-D-SGD", independent, True), ("MAFALDA", best, True)):
        if private or not options.torch:
            with Network(plan, folder / "runs" / name, options, private) as network:
                report(name, network.results(), options.steps)
    label = best.nodes[1]
    pace = max(0.05, 8 / options.steps) if options.pace is None else options.pace
    with Network(best, folder / "runs" / "crash", options, pace=pace, spares=(label, label)) as network:
        downs = [
            network.crash(label, options.steps // 4, 2, whole=False),
            network.crash(label, options.steps // 2, 2, whole=True),
        ]
        results = network.results()
        audited = best.audit(network.work / label / "run", network.work / label / "coins.json") if options.canaries else None
    report("MAFALDA, a node crashes", results, options.steps)
    print(
        f"node {label} went down after its message of steps {downs[0]} and {downs[1]}, and missed steps {results[label]['skipped']}: their rows were carried"
    )
    if not results[label]["skipped"]:
        raise SystemExit("the node that crashed missed nothing: the crash was not seen")
    if audited:
        print(
            f"audit of node {label}, {audited.missed} steps missed: mu {audited.mu:.2f} ± {audited.mu_error:.2f}, claimed "
            f"{audited.claimed_mu:.2f}; epsilon at least {audited.lower_epsilon:.2f}; no faults"
        )


if __name__ == "__main__":
    main()
