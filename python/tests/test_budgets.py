"""Exports whose nodes have privacy levels of their own."""

import json

import pytest
from conftest import NODES, OWN, seal, write

import mafalda


def levels(**changes):
    """μ from 0.5 to 2, clips of 1 and 2; the noise of each is its own."""
    found = []
    for i, (node, mu) in enumerate(zip(NODES, (2.0, 1.0, 0.5, 1.0))):
        clip = 1.0 + (i == 3)
        found.append({"node": node, "mu": mu, "clip": clip, "noise_std": clip / mu})
    for i, change in changes.items():
        found[int(i[1:])].update(change)
    return found


PRIVACY = {"mu": 0.5, "clip": 2.0, "adjacency": "zero-out", "noise_std": 4.0}


def test_every_node_has_its_own_noise_and_clip(tmp_path):
    plan = mafalda.load(write(tmp_path / "out", privacy=PRIVACY, budgets=levels()))
    assert [plan.level(node).noise_std for node in NODES] == [0.5, 1.0, 2.0, 2.0]
    assert [plan.level(node).clip for node in NODES] == [1, 1, 1, 2]
    assert [plan.noise(node, 5, seed=1).std for node in NODES] == [0.5, 1.0, 2.0, 2.0]
    with pytest.raises(mafalda.ExportError, match=r"level\(node\)"):
        plan.level()
    for number in ("clip", "noise_std"):
        with pytest.raises(mafalda.ExportError, match=r"level\(node\)"):
            getattr(plan, number)
    with pytest.raises(mafalda.ExportError, match="where the export says 2.0"):
        plan.noise("c", 5, seed=1, noise_std=1.0)
    assert mafalda.load(write(tmp_path / "one")).level("a") == mafalda.load(tmp_path / "one").level()


def test_shared_noise_is_weighed_by_the_levels(tmp_path):
    """All nodes have one Z, whatever their levels."""
    path = write(tmp_path / "out", privacy=PRIVACY, budgets=[{**level, "noise_std": 4.0} for level in levels()], space={})
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())

    def load(value, **level):
        manifest["space"]["worst"]["value"] = value
        manifest["budgets"][2].update(level)
        seal(path, manifest)
        return mafalda.load(path)

    plan = load(OWN**-2 / 4)
    assert plan.level("a").noise_std == plan.noise("c", 5, seed=1).std == 4.0 and plan.level("a").mu == 2.0
    with pytest.raises(mafalda.ExportError, match="4.0 at all nodes"):
        load(OWN**-2 / 4, noise_std=2.0)


def test_the_optimizer_clips_as_its_node_does(tmp_path):
    torch = pytest.importorskip("torch")
    plan = mafalda.load(write(tmp_path / "out", privacy=PRIVACY, budgets=levels()))
    for node, clip, std in (("a", 1.0, 0.5), ("d", 2.0, 2.0)):
        model = torch.nn.Linear(2, 1)
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        sampler = plan.sampler(8, node=node, seed=1)
        private = plan.make_private(sgd, node=node, seed=1, sampler=sampler)
        assert (private.clip, private.noise.std) == (clip, std)
    with pytest.raises(mafalda.ExportError, match="gradients of norm 1.0"):
        plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=plan.sampler(8, node="a", seed=1), clip=2.0)


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"budgets": levels(_0={"noise_std": 0.4})}, "budget of 'a'.*less than mu"),
        ({"budgets": levels(_3={"clip": 4.0})}, "less than mu"),
        ({"budgets": levels(_1={"mu": 0.9})}, "less than mu"),
        ({"budgets": levels(_1={"noise_std": 2.0})}, "not what mu"),
        ({"budgets": levels(_2={"epsilon": 0.1, "delta": 1e-6})}, "gives away"),
        ({"budgets": levels(_2={"epsilon": 0.1})}, "belong together"),
        ({"budgets": levels(_2={"node": "x"})}, "other nodes"),
        ({"budgets": levels()[::-1]}, "other nodes"),
        ({"budgets": levels()[1:]}, "3 budgets for 4 nodes"),
        ({"budgets": levels(), "privacy": {**PRIVACY, "mu": 1.0, "noise_std": 2.0}}, "strictest"),
        ({"budgets": levels(), "privacy": None}, "privacy for them all"),
        ({"budgets": [{"node": "a"}] * 4}, "no 'mu'"),
        ({"budgets": levels(_0={"mu": 0.0})}, "mu is 0"),
        ({"budgets": levels(_0={"clip": 0.0})}, "clip is 0"),
        ({"one_level_loss": 1.0}, "for budgets"),
    ],
)
def test_levels_that_contradict_themselves(tmp_path, changes, says):
    with pytest.raises(mafalda.ExportError, match=says):
        mafalda.load(write(tmp_path / "out", **{"privacy": PRIVACY, **changes}))
