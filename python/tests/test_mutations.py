"""Exports of all kinds, changed at random: load refuses with an ExportError, or what a node uses is the same."""

import copy
import json
import os
import random
import shutil
import subprocess
import time

import numpy as np
import pytest
from conftest import REAL, seal, write

import mafalda
from mafalda import _checks as checks

ALONE = {  # written by numpy alone
    "dense": {},
    "banded": {"kind": "banded"},
    "min-sep": {"kind": "banded", "participation": {"schema": "min-sep", "k": 3, "b": 3}},
    "poisson": {"sampling": {"scheme": "poisson", "groups": 2, "probability": 0.5, "rounds": 6}},
    "bins": {"sampling": {"scheme": "bins", "groups": 4, "probability": 1, "rounds": 3}},
    "shared": {"space": {}},
}
SECRET = ["--epsilon", "2", "--delta", "1e-5"]
MADE = {  # by the program
    "dense": ["--epsilon", "2", "--delta", "1e-6"],
    "banded": ["--mu", "1", "--strategy", "banded:bandwidth=4"],
    "toeplitz": ["--mu", "1", "--strategy", "toeplitz"],
    "blt": ["--mu", "1", "--strategy", "blt"],
    "banded-inverse": ["--mu", "1", "--strategy", "banded-inverse"],
    "parameters": ["--mu", "1", "--strategy", "blt", "--format", "parameters-only"],
    "per-node": ["--mu", "1", "--strategy", "per-node"],
    "min-sep": ["--mu", "1", "--schema", "min-sep"],
    "poisson": [*SECRET, "--sampling", "poisson"],
    "allocation": [*SECRET, "--sampling", "allocation"],
    "truncated": [*SECRET, "--sampling", "truncated:records=400,max=150"],
    "bins": [*SECRET, "--sampling", "bins:samples=4096", "--T", "6", "-k", "2"],
    "secldp": ["--mu", "1", "--trust", "secldp"],
}
KINDS = [f"alone {kind}" for kind in ALONE] + [f"made {kind}" for kind in MADE if REAL]


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory):
    """An export of one of KINDS."""
    out = str(tmp_path_factory.mktemp("export") / "out")
    how, kind = request.param.split(" ")
    if how == "alone":
        return write(out, **ALONE[kind])
    arguments = ["optimize", "--graph", "path:4", "--T", "12", "-k", "3", *MADE[kind], "-o", out]
    subprocess.run([REAL, *arguments], check=True, capture_output=True)
    return out


def used(plan):
    """All that a node uses of an export: numbers within 1e-6, as what is rounded to the safe side may differ."""
    sampling = plan.manifest.get("sampling", {})
    numbers = [plan.noise_std, plan.clip, sampling.get("probability", 1.0), *(plan.own_std(n) for n in plan.nodes)]
    numbers += [p.std for p in plan.pairs] + plan.W.ravel().tolist()
    for node in (plan.nodes[0], plan.nodes[-1]):
        numbers += [float(x) for _, row in plan.noise(node, 1, seed=1) for x in row]
        if "C_inv.npy" in plan.manifest["files"]:
            numbers += plan.inverse(node).ravel().tolist()
    turns = [] if plan.scheme in ("poisson", "truncated") else [plan.k, plan.b]  # groups and rounds are in their place
    batches = list(plan.sampler(24, node=plan.nodes[0], seed=None if plan.scheme == "cyclic" else 1))
    exact = [plan.steps, plan.schema, plan.scheme, sampling.get("groups"), sampling.get("rounds"), *turns]
    return exact + [plan.nodes, [p[:2] for p in plan.pairs], batches], numbers


def same(plan, whole):
    exact, numbers = used(plan)
    return exact == whole[0] and np.allclose(numbers, whole[1], rtol=1e-6, atol=1e-6)


def places(value, at=()):
    """The paths of all values in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, v in inner:
        yield (*at, key)
        yield from places(v, (*at, key))


JUNK = [None, True, -1, 0, 3, 1.5, 1e300, 10**400, "", "x", "NaN", [], {}, [1], {"a": 1}, [[]], ["\udc80"]]


def changed(manifest, rng):
    """A copy with one thing changed."""
    m = copy.deepcopy(manifest)
    *path, key = rng.choice([p for p in places(m) if p[0] != "history" or rng.random() < 0.02])
    parent = m
    for step in path:
        parent = parent[step]
    old, way = parent[key], rng.randrange(6)
    if way == 0:
        del parent[key]
    elif way == 1:
        parent[key] = copy.deepcopy(rng.choice(JUNK))
    elif way == 2 and isinstance(parent, dict):
        parent[rng.choice([key + "s", key[:-1], key.upper(), "x"])] = parent.pop(key)
    elif isinstance(old, bool) or old is None:
        parent[key] = not old
    elif isinstance(old, int):
        parent[key] = old + rng.choice([-2, -1, 1, 2, 7])
    elif isinstance(old, float):
        parent[key] = old * rng.choice([-1, 0.5, 0.99, 1.01, 2, 1 + 1e-4, 1e9])
    elif isinstance(old, str) and old:
        at = rng.randrange(len(old))
        parent[key] = old[:at] + chr(rng.randrange(32, 127)) + old[at + 1 :]
    elif isinstance(old, list) and old:
        rng.choice([old.pop, old.reverse, lambda: old.append(old[0])])()
    else:
        parent[key] = copy.deepcopy(rng.choice(JUNK))
    return m


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_mutated_manifests(folder, tmp_path):
    work = str(tmp_path / "out")
    shutil.copytree(folder, work)
    whole = used(mafalda.load(work))
    with open(os.path.join(work, "manifest.json")) as f:
        manifest = json.load(f)
    rng, refused, count = random.Random(3), 0, 75
    for i in range(count):
        other = changed(manifest, rng)
        with open(os.path.join(work, "manifest.json"), "w") as f:
            json.dump(other, f)
        try:
            plan = mafalda.load(work)
            assert same(plan, whole), {k: v for k, v in other.items() if v != manifest.get(k)}
        except mafalda.ExportError:
            refused += 1
    assert refused > count / 4


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_mutated_files(folder, tmp_path):
    """Of any file, without a new hash: refused. With one: refused, or usable, and no other error."""
    work = str(tmp_path / "out")
    rng = random.Random(4)
    for i in range(60):
        shutil.copytree(folder, work)
        name = rng.choice(sorted(os.listdir(work)))
        with open(os.path.join(work, name), "rb") as f:
            content = bytearray(f.read())
        for _ in range(rng.randrange(1, 4)):
            content[rng.randrange(min(len(content), rng.choice([80, 10**9])))] = rng.randrange(256)
        if i % 10 == 0:
            del content[rng.randrange(len(content)) :]
        elif i % 10 == 1:
            content = bytearray()
        with open(os.path.join(work, name), "rb+") as f:
            was = f.read()
            f.seek(0)
            f.truncate()
            f.write(content)
        if name != "manifest.json" and content != was:
            with pytest.raises(mafalda.ExportError, match="not the file of the manifest"):
                mafalda.load(work)
            with open(os.path.join(work, "manifest.json")) as f:
                seal(work, json.load(f))
        try:
            used(mafalda.load(work))
        except mafalda.ExportError:
            pass
        shutil.rmtree(work)


@pytest.mark.parametrize("folder", [kind for kind in KINDS if kind not in ("alone poisson", "alone bins")], indirect=True)
def test_noise_that_is_too_little_is_refused(folder, tmp_path):
    """All numbers that speak of the noise are changed together, and so agree: what they claim is false."""
    work = str(tmp_path / "out")
    shutil.copytree(folder, work)
    with open(os.path.join(work, "manifest.json")) as f:
        manifest = json.load(f)
    secret = "noise_multiplier" in manifest.get("sampling", {})
    less_noise(manifest, 0.98 if secret else 0.999)
    with open(os.path.join(work, "manifest.json"), "w") as f:
        json.dump(manifest, f)
    if not secret:
        with pytest.raises(mafalda.ExportError, match="takes"):
            mafalda.load(work)
        return
    plan = mafalda.load(work)  # what so many rounds give away is the accountant's to say: no row is drawn without it
    with pytest.raises(mafalda.ServerError, match="delta is at most|epsilon is"):
        plan.noise(plan.nodes[0], 3, state=tmp_path / "state", binary=REAL)
    assert not (tmp_path / "state").exists()


def less_noise(manifest, factor):
    privacy, sampling = manifest["privacy"], manifest.get("sampling", {})
    privacy["noise_std"] *= factor
    if "noise_multiplier" in sampling:
        before = sampling["noise_multiplier"]
        sampling["noise_multiplier"] = privacy["noise_std"] / privacy["clip"]
        for c in sampling.get("candidates", []):
            if c["noise_multiplier"] == before:
                c["noise_multiplier"] = sampling["noise_multiplier"]


def test_sensitivities_against_the_definition(tmp_path):
    """Against all patterns of a schema, one by one."""
    rng = np.random.default_rng(2)
    for steps, k, b, bands in ((7, 2, 3, 7), (9, 3, 2, 9), (9, 2, 4, 4), (10, 3, 3, 3), (11, 4, 2, 2), (6, 1, 6, 6)):
        c = np.tril(rng.normal(size=(steps, steps)))
        c[np.subtract.outer(np.arange(steps), np.arange(steps)) >= bands] = 0
        x = np.abs(c.T @ c)
        for schema in ("cyclic", "min-sep"):
            worst = 0.0
            for bits in range(1, 1 << steps):
                pattern = [t for t in range(steps) if bits >> t & 1]
                apart = [t - s for s, t in zip(pattern, pattern[1:])]
                if len(pattern) <= k and all(a == b if schema == "cyclic" else a >= b for a in apart):
                    worst = max(worst, x[np.ix_(pattern, pattern)].sum())
            found = checks.sensitivity(c, {"schema": schema, "k": k, "b": b})
            assert found == pytest.approx(worst, rel=1e-12) if schema == "cyclic" else found <= worst * (1 + 1e-12)


@pytest.mark.skipif(REAL is None, reason="the program is not there")
@pytest.mark.parametrize("epsilon, delta", [(0.01, 1e-12), (2, 1e-6), (30, 1e-250), (3000, 1e-9)])
def test_an_epsilon_that_is_a_little_too_small_is_refused(tmp_path, epsilon, delta):
    """By a hundred-millionth: a millionth of mu was forgiven."""
    out = str(tmp_path / "out")
    mafalda.optimize("path:3", steps=4, k=2, epsilon=epsilon, delta=delta, no_baselines=True, out=out)
    path = os.path.join(out, "manifest.json")
    with open(path) as f:
        manifest = json.load(f)
    for factor in (1 - 1e-8, 1 - 1e-4):
        manifest["privacy"]["epsilon"] = epsilon * factor
        with open(path, "w") as f:
            json.dump(manifest, f)
        with pytest.raises(mafalda.ExportError, match="less than mu = .* gives away"):
            mafalda.load(out)


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_shared_noise_that_hides_less_is_refused_by_the_program(tmp_path):
    """Deviations that are too small, under hashes of their own."""
    out = str(tmp_path / "out")
    subprocess.run([REAL, "optimize", "--graph", "path:4", "--T", "12", "-k", "3", *MADE["secldp"], "-o", out], check=True, capture_output=True)
    path = os.path.join(out, "nodes.csv")
    with open(path) as f:
        head, *rows = f.read().splitlines()
    rows = [",".join([*row.split(",")[:3], repr(0.9 * float(row.split(",")[3]))]) for row in rows]
    with open(path, "w") as f:
        f.write("\n".join([head, *rows]) + "\n")
    with open(os.path.join(out, "manifest.json")) as f:
        seal(out, json.load(f))
    with pytest.raises(mafalda.ProgramError, match="checks failed"):
        mafalda.load(out).verify()
    done = subprocess.run([REAL, "verify", out], capture_output=True, text=True)
    assert "the noise hides less than it should" in done.stdout


@pytest.mark.parametrize("name", ["manifest.json", "C.npy", "C_inv.npy", "W.npy", "nodes.csv"])
@pytest.mark.parametrize("what", ["pipe", "device", "folder"])
def test_what_is_no_file_is_refused_at_once(out, name, what):
    path = os.path.join(out, name)
    os.unlink(path)
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        os.mkdir(path)
    else:
        os.symlink("/dev/zero", path)
    before = time.process_time()
    with pytest.raises(mafalda.ExportError, match="no regular file"):
        mafalda.load(out)
    assert time.process_time() - before < 60  # it would never have ended
