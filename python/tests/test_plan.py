"""Exports: what is read, and what is refused."""

import json
import os

import numpy as np
import pytest
from conftest import NODES, OWN, W, seal, strategy, write

import mafalda


def test_what_an_export_says(out):
    plan = mafalda.load(out)
    assert (plan.steps, plan.k, plan.b, plan.noise_std, plan.clip, plan.nodes) == (12, 3, 4, 1.0, 1.0, NODES)
    assert plan.W.shape == (4, 4) and (plan.W == W).all() and not plan.W.flags.writeable
    assert plan.neighbours("a") == {"b": 1 / 3, "d": 1 / 3} and plan.weight("a") == 1 / 3
    assert plan.receivers("a") == ["b", "d"] and plan.pairs == [] and plan.own_std("a") == 1
    assert "batch t mod 4" in plan.contract and "T = 12" in plan.contract
    assert len(plan.hash) == 64 and mafalda.load(out, sha256=plan.hash).hash == plan.hash


@pytest.mark.parametrize(
    "what, says",
    [
        ("hash", "not the file"),
        ("stranger", "not in the manifest"),
        ("gone", "cannot be read"),
        ("inverse", "not the inverse"),
        ("no json", "no JSON"),
        ("twice", "twice"),
        ("nan", "NaN"),
        ("level", "less than mu"),
        ("nodes", "a label twice"),
        ("rows", "add up to 1"),
        ("missing", "no export"),
        ("path", "no file of an export"),
    ],
)
def test_damaged(tmp_path, what, says):
    folder = write(tmp_path / "out")
    path = os.path.join(folder, "manifest.json")
    with open(path) as f:
        manifest = json.load(f)
    if what == "hash":
        np.save(os.path.join(folder, "C_inv.npy"), np.eye(12))
    elif what == "stranger":
        open(os.path.join(folder, "notes.txt"), "w").close()
    elif what == "gone":
        os.unlink(os.path.join(folder, "W.npy"))
    elif what == "inverse":
        np.save(os.path.join(folder, "C_inv.npy"), strategy("dense", 12)[0])
        seal(folder, manifest)
    elif what == "level":
        manifest["privacy"]["noise_std"] = 0.5
        seal(folder, manifest)
    elif what == "nodes":
        write(folder, nodes=["a", "a", "c", "d"])
    elif what == "rows":
        write(folder, w=W * 2)
    elif what == "missing":
        os.unlink(path)
    else:
        with open(path) as f:
            text = f.read()
        text = {
            "no json": text[:-1],
            "twice": text.replace('"steps"', '"STEPS": 3, "steps"'),
            "nan": text.replace('"steps": 12', '"steps": NaN'),
            "path": text.replace('"W.npy"', '"../W.npy"'),
        }[what]
        with open(path, "w") as f:
            f.write(text)
    with pytest.raises(mafalda.ExportError, match=says):
        mafalda.load(folder).W


def test_foreign(tmp_path, out):
    plan = mafalda.load(out)
    with pytest.raises(mafalda.ExportError, match="another export"):
        mafalda.load(write(tmp_path / "other", steps=16, b=4, k=4), sha256=plan.hash)
    for ask in (
        lambda: plan.neighbours("z"),
        lambda: plan.noise("z", 3, seed=1),
        lambda: plan.sampler(9, node="z"),
        lambda: plan.sampler(9),
    ):
        with pytest.raises(mafalda.ExportError, match="no node 'z'|which node"):
            ask()


def test_sparse(tmp_path):
    folder = write(tmp_path / "out", w=None)
    entries = [(i + 1, j + 1, float(W[i, j])) for i in range(4) for j in range(4) if W[i, j]]
    with open(os.path.join(folder, "W.mtx"), "w") as f:
        f.write(
            f"%%MatrixMarket matrix coordinate real general\n4 4 {len(entries)}\n"
            + "".join(f"{i} {j} {w!r}\n" for i, j, w in entries)
        )
    with open(os.path.join(folder, "manifest.json")) as f:
        seal(folder, json.load(f))
    plan = mafalda.load(folder)
    assert plan.neighbours("b") == {"a": 1 / 3, "c": 1 / 3} and plan.receivers("b") == ["a", "c"]
    pytest.importorskip("scipy", reason="plan.W of a sparse export is a scipy matrix")
    assert (plan.W.toarray() == W).all() and plan.W.format == "csr"


def test_turns(tmp_path):
    both = np.stack([W, np.eye(4)])
    plan = mafalda.load(write(tmp_path / "out", w=both, workload_spec={"graph_sequence": {"networks": 2}}))
    assert plan.W.shape == (2, 4, 4) and plan.neighbours("a", 1) == {} and plan.weight("a", 3) == 1
    assert plan.neighbours("a", 2) == {"b": 1 / 3, "d": 1 / 3}
    with pytest.raises(mafalda.ExportError, match="say step"):
        plan.neighbours("a")


def test_without_network(tmp_path):
    folder = write(tmp_path / "out", w=None, graph=None)
    plan = mafalda.load(folder)
    assert plan.nodes == [] and plan.noise("", 3, seed=1).row().shape == (3,)
    with pytest.raises(mafalda.ExportError, match="no W|no network"):
        plan.W


def test_the_only_node_needs_no_name(tmp_path, out):
    alone = mafalda.load(write(tmp_path / "alone", nodes=["x"], w=np.eye(1)))
    assert alone.check_node(None) == "x" and alone.noise(None, 3, seed=1).node == "x" and alone.sampler(24, seed=1).node == "x"
    with pytest.raises(mafalda.ExportError, match="which node is this"):
        mafalda.load(out).sampler(24, seed=1)


def test_mix(out):
    plan, mine = mafalda.load(out), np.array([3.0, 0.0])
    b, d = np.array([0.0, 3.0]), np.array([6.0, 3.0])
    for received, missing, want in (
        ({"b": b, "d": d.tobytes()}, "share", [3, 2]),
        ({"b": b}, "share", [1.5, 1.5]),
        ({"b": b}, "self", [2, 1]),
        ({}, "share", [3, 0]),
        ({}, "self", [3, 0]),
    ):
        assert np.allclose(plan.mix(mine, received, node="a", missing=missing), want, atol=1e-14)
    assert np.allclose(plan.mix(mine, {"b": b}, node="a"), [2, 1], atol=1e-14)
    plan.sampler(8, node="a")  # from here on the plan knows whose it is
    assert np.allclose(plan.mix(mine, {"b": b, "d": d}), [3, 2], atol=1e-14)
    for received, missing, says in (
        ({"b": b}, "error", "no model came of 'd'"),
        ({"c": b}, "share", "no neighbour"),
        ({"b": b[:1]}, "share", "numbers"),
    ):
        with pytest.raises(mafalda.ExportError, match=says):
            plan.mix(mine, received, node="a", missing=missing)


def test_shared_noise_cancels(tmp_path):
    """What a pair adds is opposite at its ends: the sum of all rows has only the own parts."""
    folder = write(tmp_path / "out", kind="identity", space={})
    plan = mafalda.load(folder)
    assert plan.pairs == [("a", "b", 0.5), ("d", "a", 0.25)] and plan.own_std("a") == OWN
    rows = {n: plan.noise(n, 5, seed=3).row(0) for n in NODES}
    single = mafalda.load(write(tmp_path / "alone", kind="identity"))
    own = {n: single.noise(n, 5, seed=3).row(0) * OWN for n in NODES}
    assert np.allclose(sum(rows.values()), sum(own.values()), atol=1e-12)
    assert np.allclose(rows["c"], own["c"], rtol=1e-15) and not np.allclose(rows["b"], own["b"])


def test_one_plan_for_several_graphs():
    plan = mafalda.optimize([[("a", "b"), ("b", "c")], "cycle:5"], steps=8, k=2, no_baselines=True)
    assert len(plan.manifest["family"]["ratios"]) == 2 and plan.nodes == []
    assert 1 <= plan.manifest["family"]["bound"] <= max(plan.manifest["family"]["ratios"]) < 1.1
    report = mafalda.verify(plan, graph=[[("a", "b"), ("b", "c")]])
    assert report["ok"] and any(c["check"] == "ratios" for c in report["checks"])
    one = mafalda.optimize([("a", "b"), ("b", "c")], steps=8, k=2, no_baselines=True)
    assert "family" not in one.manifest and plan.manifest["steps"] == 8
    assert (plan.noise("a", 3, seed=1, noise_std=1).row(0) != plan.noise("b", 3, seed=1, noise_std=1).row(0)).all()  # labels are the nodes' own
    with pytest.raises(mafalda.ExportError, match="a label that no other node has"):
        plan.noise("", 3, seed=1, noise_std=1)
    with pytest.raises(mafalda.ExportError, match="for several networks"):
        plan.mix(np.ones(3), {}, node="a")
