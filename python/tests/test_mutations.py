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
from mafalda import ExportError, checks

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
    "banded": ["--mu", "1", "--strategy", "banded", "--bandwidth", "4"],
    "toeplitz": ["--mu", "1", "--strategy", "toeplitz"],
    "blt": ["--mu", "1", "--strategy", "blt"],
    "banded-inverse": ["--mu", "1", "--strategy", "banded-inverse"],
    "parameters": ["--mu", "1", "--strategy", "blt", "--no-dense"],
    "per-node": ["--mu", "1", "--per-node"],
    "min-sep": ["--mu", "1", "--schema", "min-sep"],
    "poisson": [*SECRET, "--sampling", "poisson"],
    "bins": [*SECRET, "--sampling", "bins", "--samples", "4096", "--T", "6", "-k", "2"],
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
    turns = [] if plan.scheme == "poisson" else [plan.k, plan.b]  # groups and rounds are in their place
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
    rng, refused, count = random.Random(3), 0, 150
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


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_noise_that_is_too_little_is_refused(folder, tmp_path):
    """All numbers that speak of the noise are changed together, and so agree: what they claim is false."""
    work = str(tmp_path / "out")
    shutil.copytree(folder, work)
    with open(os.path.join(work, "manifest.json")) as f:
        manifest = json.load(f)
    less_noise(manifest, 0.999 if "mu" in manifest["privacy"] else 0.98 if "candidates" in manifest["sampling"] else 0.02)
    if manifest.get("sampling", {}).get("scheme") == "bins" and "candidates" in manifest["sampling"]:
        refused_by_the_program(work, manifest, tmp_path)
        less_noise(manifest, 0.75)  # half-spaces tell less than samples
    with open(os.path.join(work, "manifest.json"), "w") as f:
        json.dump(manifest, f)
    with pytest.raises(mafalda.ExportError, match="takes|delta is at least"):
        mafalda.load(work)


def less_noise(manifest, factor):
    privacy, sampling = manifest["privacy"], manifest.get("sampling", {})
    privacy["noise_std"] *= factor
    if "noise_multiplier" in sampling:
        before = sampling["noise_multiplier"]
        sampling["noise_multiplier"] = privacy["noise_std"] / privacy["clip"]
        for c in sampling.get("candidates", []):
            if c["noise_multiplier"] == before:
                c["noise_multiplier"] = sampling["noise_multiplier"]


def refused_by_the_program(work, manifest, tmp_path):
    """A little less than what the samples were drawn for: load cannot tell, the program draws them again."""
    with open(os.path.join(work, "manifest.json"), "w") as f:
        json.dump(manifest, f)
    plan = mafalda.load(work)
    with pytest.raises(mafalda.ServerError, match="delta is at most"):
        plan.noise(plan.nodes[0], 3, state=tmp_path / "state", binary=REAL)
    assert not (tmp_path / "state").exists()


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
            assert found.exact == (schema == "cyclic" or bands <= b or k == 1)
            assert found.squared == pytest.approx(worst, rel=1e-12) if found.exact else found.squared <= worst


def test_poisson_against_the_definition():
    """Of one round, against the two distributions themselves; of several, never above what their groups give."""
    phi = lambda x: checks._erfc(np.array([-x / 2**0.5]))[0] / 2  # noqa: E731
    for q, noise, epsilon in ((0.25, 1.0, 0.5), (1.0, 2.0, 0.3), (0.01, 0.7, 0.1), (0.5, 10.0, 0.01)):
        inside = np.expm1(epsilon) + q  # e^ε - (1-q)
        x = noise**2 * np.log(inside / q) + 0.5
        truth = (1 - q) * phi(-x / noise) + q * phi((1 - x) / noise) - np.exp(epsilon) * phi(-x / noise)
        least = checks.secret_delta(q, noise, ((1, 1),), epsilon)
        assert truth * (1 - 1e-3) <= least <= truth + 1e-14
    for rounds in (1, 4, 25, 400, 400000):  # with q = 1 they are one Gaussian
        least = checks.secret_delta(1.0, 3.0 * rounds**0.5, ((1, rounds),), 0.5)
        truth = checks._gaussian_delta(1 / 3, 0.5)
        assert truth * 0.99 <= least <= truth * (1 + 1e-9)


def test_bins_against_the_definition():
    """A lower bound, compared with samples of what it bounds."""
    rng = np.random.default_rng(1)
    c = np.tril(rng.uniform(size=(6, 6)))
    c /= checks.sensitivity(c, {"schema": "cyclic", "k": 2, "b": 3}).squared ** 0.5
    for noise, epsilon in ((0.5, 0.5), (1.0, 0.2), (0.3, 2.0)):
        means = np.stack([c[:, j::3].sum(axis=1) for j in range(3)])
        x = means[rng.integers(3, size=200000)] + noise * rng.normal(size=(200000, 6))
        loss = (x @ means.T - (means**2).sum(axis=1) / 2) / noise**2
        loss = np.log(np.exp(loss - loss.max(axis=1, keepdims=True)).mean(axis=1)) + loss.max(axis=1)
        gain = np.maximum(-np.expm1(epsilon - loss), 0)
        least = checks.bins_delta(c, 3, noise, epsilon)
        assert 0.3 * gain.mean() <= least <= gain.mean() + 6 * gain.std() / 200000**0.5


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


def test_shared_noise_of_one_node_is_checked():
    m = {"space": {"coalitions": {"size": 1}, "worst": {"attacker": [], "victim": "a", "value": 1.0}}}
    checks.check_space(m, ["a"], [1.0], [])  # nobody is left whom the node itself could see
    with pytest.raises(ExportError, match="lets"):
        checks.check_space(m, ["a"], [0.9], [])


def test_an_allocation_that_gives_away_more_than_it_says_is_refused(tmp_path):
    """Of one block against the definition, by samples; of an export whose ε is a tenth less than noise for it allows."""
    rng = np.random.default_rng(4)
    for steps, noise, epsilon in ((2, 1.0, 0.5), (5, 0.7, 1.0), (3, 0.5, 2.0)):
        x = noise * rng.normal(size=(400000, steps))
        x[:, 0] += 1
        loss = np.logaddexp.reduce((x - 0.5) / noise**2, axis=1) - np.log(steps)
        gain = np.maximum(-np.expm1(epsilon - loss), 0)
        least = checks.secret_delta(1.0, noise, ((steps, 1),), epsilon)
        assert abs(least / gain.mean() - 1) <= 6 * gain.std() / gain.mean() / 400000**0.5
    sampling = {"scheme": "allocation", "groups": 1, "rounds": 4, "probability": 0.2}
    privacy = {"clip": 1.0, "adjacency": "zero-out", "noise_std": 1.9183443, "delta": 1e-5}
    folder = write(tmp_path / "out", steps=20, k=4, b=5, sampling=sampling, privacy=privacy)
    manifest = mafalda.load(folder).manifest
    manifest["sampling"]["epsilon"] = 1.9999613869497348  # mafalda optimize --T 20 -k 4 --epsilon 2 --sampling allocation
    checks.check(manifest)
    manifest["sampling"]["epsilon"] *= 0.9
    with pytest.raises(mafalda.ExportError, match="delta is at least"):
        checks.check(manifest)
