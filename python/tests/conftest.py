"""Small exports, written by numpy alone, and the program that serves noise: the real one where it is there, and a stand-in."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from mafalda import _checks as checks

NODES = ["a", "b", "c", "d"]
W = np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1]]) / 3  # a cycle
OWN = 1.25  # what nodes that share noise have of their own


def strategy(kind, steps):
    """C (T×T, not scaled) and what the manifest says of it."""
    lag = np.subtract.outer(np.arange(steps), np.arange(steps))
    if kind == "banded":
        c = np.where(lag == 0, 1.0, np.where(lag == 1, 0.5, 0.0))
        return c, {"class": "banded", "bandwidth": 2, "diagonals": [[1.0] * steps, [0.5] * (steps - 1)]}
    if kind == "dense":
        return np.where(lag >= 0, 1 / (1.0 + np.maximum(lag, 0)), 0.0), {"class": "dense"}
    return np.eye(steps), {"class": "dense"}


def write(folder, kind="dense", steps=12, k=3, b=4, nodes=NODES, w=W, **changes):
    """An export whose numbers agree. changes are keys of the manifest; None takes one out.

    Of sampling, groups, rounds and probability are enough: participation follows, and ε is far above the least.
    """
    os.makedirs(folder, exist_ok=True)
    scheme = changes.get("sampling", {}).get("scheme", "cyclic")
    banded = scheme in ("poisson", "allocation", "truncated")  # of one band, for a single participation
    c, said = strategy("identity" if banded else kind, steps)
    manifest = {
        "version": "test",
        "graph": {"nodes": len(nodes)},
        "workload": "model",
        "workload_spec": {"kind": "model"},
        "steps": steps,
        "strategy": said,
        "participation": {"schema": "cyclic", "k": k, "b": b},
        "sens_squared": 1.0,
        "sens_kind": "exact",
        "loss": 1.0,
        "contract": [f"T = {steps} steps."],
        "privacy": {"mu": 1.0, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0},
        **changes,
    }
    if scheme != "cyclic":
        sampling = changes["sampling"]
        of = round(sampling["groups"] / sampling["probability"]) if scheme in ("poisson", "truncated") else sampling["groups"]
        if scheme == "allocation":
            of = b
        manifest["participation"] = {"schema": "cyclic" if of < steps else "single", "k": -(-steps // of), "b": of}
        privacy = manifest["privacy"] = {"delta": 1e-6, **manifest["privacy"], "epsilon": 300.0}
        privacy.pop("mu", None)
        noise = {"noise_multiplier": privacy["noise_std"] / privacy["clip"], "delta": privacy["delta"]}
        manifest["sampling"] = {**sampling, **noise, "epsilon": 300.0}
    p = manifest["participation"]
    if scheme == p["schema"] == "cyclic":
        times = f"so that a record is in {p['k']} steps at most, {p['b']} apart"
        turn = f"t mod {p['b']}" if steps <= p["k"] * p["b"] else f"(t mod {p['b']}) + {p['b']}·⌊t/{p['k'] * p['b']}⌋"
        manifest["contract"].append(f"A node's step t uses batch {turn}, {times}.")
    if p["schema"] == "min-sep":
        manifest["contract"].append(f"A record takes part in at most {p['k']} steps, any two of them at least {p['b']} apart.")
    if banded:
        said.update({"class": "banded", "bandwidth": 1, "diagonals": [[1.0] * steps]})
        single = {"schema": "single", "k": 1, "b": steps}
    scale = checks.sensitivity(c, single if banded else manifest["participation"]) ** -0.5
    c = c * scale
    if "diagonals" in said:
        said["diagonals"] = [(scale * np.array(d)).tolist() for d in said["diagonals"]]
    np.save(os.path.join(folder, "C.npy"), c)
    np.save(os.path.join(folder, "C_inv.npy"), np.linalg.inv(c))
    if w is not None:
        np.save(os.path.join(folder, "W.npy"), w)
    shared = "space" in changes
    rows = ["index,label,degree" + ",own_std" * shared]
    rows += [f"{i},{label},2" + f",{OWN}" * shared for i, label in enumerate(nodes)]
    with open(os.path.join(folder, "nodes.csv"), "w", newline="") as f:
        f.write("\n".join(rows) + "\n")
    if shared:
        with open(os.path.join(folder, "pairs.csv"), "w", newline="") as f:
            f.write("label,label,std\na,b,0.5\nd,a,0.25\n")
        worst = {"attacker": [], "victim": "c", "value": OWN**-2}
        manifest.update({"trust": "secldp", "space": {"secrets": {"source": "gossip", "pairs": 2}, "coalitions": {"size": 1}, "worst": worst, "largest_pair": 1.0}})
    return seal(folder, {key: value for key, value in manifest.items() if value is not None})


def seal(folder, manifest):
    """Writes the manifest with the hashes of what is there."""
    manifest["files"] = {}
    for name in sorted(os.listdir(folder)):
        if name != "manifest.json":
            with open(os.path.join(folder, name), "rb") as f:
                manifest["files"][name] = hashlib.sha256(f.read()).hexdigest()
    with open(os.path.join(folder, "manifest.json"), "w") as f:
        json.dump(manifest, f)
    return str(folder)


@pytest.fixture
def out(request, tmp_path):
    """An export of 4 nodes and 12 steps, clip 1 and mu 1; of the program, for tests that use the real one."""
    param = getattr(request.node, "callspec", None)
    if param is None or "real" not in param.params.values():
        return write(tmp_path / "out")
    (tmp_path / "cycle.edges").write_text("a b\nb c\nc d\nd a\n")
    subprocess.run(
        [
            REAL,
            "optimize",
            "--graph",
            str(tmp_path / "cycle.edges"),
            "--T",
            "12",
            "-k",
            "3",
            "--mu",
            "1",
            "-o",
            str(tmp_path / "out"),
        ],
        check=True,
        capture_output=True,
    )
    return str(tmp_path / "out")


REAL = shutil.which(os.environ.get("MAFALDA", "mafalda"))


PROGRAMS = ["fake", *(["real"] if REAL else [])]


def program_of(kind, tmp_path):
    """The path of a program that knows `noise serve`."""
    if kind == "real":
        return REAL
    path = tmp_path / "fake"
    script = os.path.join(os.path.dirname(__file__), "fake_mafalda.py")
    package = os.path.dirname(os.path.dirname(__import__("mafalda").__file__))
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{package}" exec "{sys.executable}" "{script}" "$@"\n')
    path.chmod(0o700)
    return str(path)


@pytest.fixture(params=PROGRAMS)
def program(request, tmp_path):
    return program_of(request.param, tmp_path)


def interrupt(run, at):
    """Runs it, and interrupts it before the line of the package that comes after `at` others."""
    count, folder = 0, os.path.dirname(__import__("mafalda").__file__)

    def tracer(frame, event, _):
        nonlocal count
        if os.path.dirname(frame.f_code.co_filename) != folder or frame.f_globals["__name__"][8:] not in TRACED:
            return None
        if event == "line":
            count += 1
            if count - 1 == at:
                raise KeyboardInterrupt
        return tracer

    old = sys.gettrace()
    sys.settrace(tracer)
    try:
        run()
    finally:
        sys.settrace(old)


TRACED = ("torch", "opacus", "_clipping", "_guard", "_watch", "_sampler", "_noise")
