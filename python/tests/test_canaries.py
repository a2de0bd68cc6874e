"""An audit of a training that happened: canaries, what is recorded, and what the program says of it."""

import json
import os
import resource
import shutil
import warnings

import audited_seeds
import numpy as np
import pytest
from test_process import in_child

import mafalda
from mafalda.canaries import Recorder, View, _Rows

real = pytest.mark.skipif(not os.environ.get("MAFALDA"), reason="needs the program: $MAFALDA")
DIM, RECORDS, COUNT = 3000, 40, 400


@pytest.fixture(scope="module")
def plan():
    return mafalda.optimize("cycle:4", steps=40, k=10, epsilon=8, delta=1e-6, no_baselines=True)


def trained(plan, tmp_path, fault=None, node="1"):
    """A training whose gradients are a drift and canaries, with numpy alone; the paths of its record and its coins."""
    sampler = plan.sampler(RECORDS + COUNT, node=node)
    canaries = plan.canaries(COUNT, DIM, tmp_path / "coins", sampler=sampler, seed=3)
    noise = plan.noise(node, DIM, seed=4)
    recorder = Recorder(plan, node, tmp_path / "run", [2000, 990, 10], sampler.expected)
    draw = np.random.default_rng(5)
    drift = draw.normal(size=DIM) / np.sqrt(DIM)
    order = np.arange(RECORDS + COUNT)
    model = np.zeros(DIM)
    for t in range(plan.steps):
        row = noise.row(t) * (0.5 if fault == "half" else 1)
        if fault == "shuffle" and t % plan.b == 0:
            order = draw.permutation(order)
        numbers = order[sampler.numbers(t)] if fault == "shuffle" else sampler.numbers(t)
        gradients = canaries.gradients(numbers)
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / plan.clip)
        if fault == "layer":
            clipped[:, 2000:2990] = gradients[:, 2000:2990]
        before, model = model, model - 0.5 * (5 * drift + clipped.sum(axis=0) + row) / sampler.expected
        recorder.add(t, before, model, 0.5)
    return tmp_path / "run", tmp_path / "coins"


@real
def test_an_honest_training_passes(plan, tmp_path):
    run, coins = trained(plan, tmp_path)
    found = plan.audit(run, coins)
    assert found.passed and found.canaries == COUNT and 140 < found.included < 260
    assert abs(found.mu - found.claimed_mu) <= 3 * found.mu_error and 0 < found.lower_epsilon < found.claimed_epsilon == 8
    assert mafalda.audit(plan, run={"run": run, "coins": coins}, runs={"confidence": 0.5}).lower_epsilon > found.lower_epsilon
    assert (os.stat(coins).st_mode & 0o077) == 0


@real
@pytest.mark.parametrize("fault, alarm", [("half", "scale"), ("shuffle", "participation"), ("layer", "clipping")])
def test_a_fault_of_a_training_is_found(plan, tmp_path, fault, alarm):
    run, coins = trained(plan, tmp_path, fault)
    with pytest.raises(mafalda.ProgramError, match="the run is not what the plan says") as caught:
        plan.audit(run, coins)
    assert caught.value.code == 1 and alarm in [f["name"] for f in caught.value.result.faults if f["alarm"]]


@real
def test_measured_seeds_are_audits(plan):
    """What docs/auditing.md has numbers of."""
    fault, _, alarms, mu, wrong, claimed, *_ = audited_seeds.line((plan.directory, "twice", 0, DIM, COUNT))
    assert fault == "twice" and "correlation" in alarms and abs(mu - claimed) < 4 * wrong


@real
@pytest.mark.parametrize("momentum, missed", [(0.5, ()), (0.0, (6, 7, 21)), ("adam", ())])
def test_a_private_training_with_canaries(plan, tmp_path, momentum, missed):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 100), torch.nn.Tanh(), torch.nn.Linear(100, 2))
    dim = sum(p.numel() for p in model.parameters())
    x, y = torch.randn(RECORDS, 20), torch.randint(2, (RECORDS,))
    sampler = plan.sampler(RECORDS + COUNT, node="2", state=tmp_path / "batches")
    canaries = plan.canaries(COUNT, dim, tmp_path / "coins", sampler=sampler, seed=6)
    if momentum == "adam":  # cannot be undone: what it is given is recorded
        sgd = torch.optim.Adam(model.parameters(), lr=0.01)
    else:
        sgd = torch.optim.SGD(model.parameters(), lr=0.5, momentum=momentum)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of momentum, which the export was not made for
        private = plan.make_private(
            sgd, node="2", seed=7, sampler=sampler, canaries=canaries, record=tmp_path / "run"
        )
    for step, batch in sampler.items():
        if step in missed:  # rows are carried, which the record says
            private.skip_to(step + 1)
            continue
        assert (batch < RECORDS).all()
        private.backward(model, torch.nn.functional.cross_entropy, x[batch], y[batch])
        private.step()
        plan.mix(model, {}, node="2")
    private.close()
    found = plan.audit(tmp_path / "run", tmp_path / "coins")
    assert found.passed and found.missed == len(missed) and found.included == canaries.included.sum()
    assert getattr(found, "gradients", False) == (momentum == "adam")
    assert abs(found.mu - found.claimed_mu) <= 4 * found.mu_error


@real
def test_an_attacker_is_audited_by_what_it_received(plan, tmp_path):
    """Node 3 of a cycle of four attacks node 1, which it does not hear; all nodes have gradients of their own."""
    draw = np.random.default_rng(8)
    sampler = plan.sampler(RECORDS + COUNT, node="1", seed=2)
    canaries = plan.canaries(COUNT, DIM, tmp_path / "coins", sampler=sampler, seed=9)
    noises = {node: plan.noise(node, DIM, seed=5) for node in plan.nodes}
    models = {node: np.full(DIM, 0.5) for node in plan.nodes}
    drift = {node: draw.normal(size=DIM) / np.sqrt(DIM) for node in plan.nodes}
    sizes = {node: sampler.expected for node in plan.nodes}
    view = View(plan, "3", tmp_path / "view", models["3"], sizes=sizes, rates=0.5)
    for t in range(plan.steps):
        sent = {}
        for node, model in models.items():
            sums = 5 * drift[node] + noises[node].row(t)
            if node == "1":
                sums = sums + canaries.gradients(sampler.numbers(t)).sum(axis=0) / 10  # 10 times the clip
            sent[node] = model - 0.5 * sums / sampler.expected
        view.add(t, sent["3"], {node: sent[node] for node in plan.neighbours("3")})
        models = {node: plan.mix(sent[node], {v: sent[v] for v in plan.neighbours(node)}, node=node, step=t) for node in models}
    found = plan.audit(tmp_path / "view", tmp_path / "coins", attacker="3", out=tmp_path / "audited")
    assert found.passed and found.attacker == "3" and not found.faults and found.lower_epsilon < found.claimed_epsilon
    assert 0.2 < found.linear_mu < 1.2 and abs(found.mu - found.linear_mu) < 3 * found.mu_error
    stored = json.loads((tmp_path / "audited" / "audit.json").read_text())
    assert stored["linear_mu"] == found.linear_mu and "coins" not in stored and "scores" not in stored
    mafalda.report(tmp_path / "audited", out=tmp_path / "report.html")
    assert "no proof of privacy" in (tmp_path / "report.html").read_text()
    again = View(plan, "3", tmp_path / "view", np.full(DIM, 0.5), sizes=sizes, rates=0.5)
    for wrong, says in (
        (lambda: plan.audit(tmp_path / "view", tmp_path / "coins"), "node .*3.* received"),
        (lambda: plan.audit(tmp_path / "view", tmp_path / "coins", attacker="1"), "node .*3.* received"),
        (lambda: again.add(0, sent["3"], {}), "hears"),
        (lambda: View(plan, "3", tmp_path / "view", np.zeros(DIM), sizes=sizes, rates=0.5), "not the record of this run"),
        (lambda: View(plan, "3", tmp_path / "view", np.zeros(DIM), sizes=sizes, rates=0.4), "not the record of this run"),
    ):
        with pytest.raises(mafalda.MafaldaError, match=says):
            wrong()
    again._messages.write(7, np.nan)
    with pytest.raises(mafalda.MafaldaError, match="row 7 is NaN"):
        plan.audit(tmp_path / "view", tmp_path / "coins", attacker="3")


@real
def test_nodes_that_share_noise_are_audited(tmp_path):
    shared = mafalda.optimize("cycle:4", steps=8, k=2, mu=2, trust="secldp", no_baselines=True, out=tmp_path / "plan")
    run, coins = trained(shared, tmp_path)
    found = shared.audit(run, coins)
    assert found.passed and abs(found.mu - found.alone_mu) <= 4 * found.mu_error and found.alone_mu < 2


@real
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_training_with_opacus_and_canaries(plan, tmp_path, reduction):
    torch = pytest.importorskip("torch")
    pytest.importorskip("opacus")
    from opacus import GradSampleModule

    from mafalda.opacus import MafaldaOptimizer

    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(RECORDS, 30), torch.randint(2, (RECORDS,)))
    layers = torch.nn.Linear(30, 60), torch.nn.Tanh(), torch.nn.Linear(60, 2)
    model = GradSampleModule(torch.nn.Sequential(*layers), loss_reduction=reduction)
    dim = sum(p.numel() for p in model.parameters())
    sampler = plan.sampler(RECORDS + COUNT, node="0", state=tmp_path / "batches")
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler)
    canaries = plan.canaries(COUNT, dim, tmp_path / "coins", sampler=sampler, seed=1)
    sgd = torch.optim.SGD(model.parameters(), lr=0.5 if reduction == "mean" else 0.01)
    audit = {"canaries": canaries, "record": tmp_path / "run"}
    optimizer = MafaldaOptimizer(
        sgd, module=model, plan=plan, node="0", seed=2, loader=loader, loss_reduction=reduction, **audit
    )
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y, reduction=reduction).backward()
        optimizer.step()
        plan.mix(model, {}, node="0")
    found = plan.audit(tmp_path / "run", tmp_path / "coins")
    assert found.passed and abs(found.mu - found.claimed_mu) <= 3 * found.mu_error


@real
def test_replaced_records_have_canaries_that_are_replaced(tmp_path):
    """In half of them another record is in the place of a canary, with the opposite of it: coins tell what neighbours do."""
    plan = mafalda.optimize("cycle:4", steps=16, k=4, mu=4, adjacency="replace-one", no_baselines=True)
    run, coins = trained(plan, tmp_path)
    found = plan.audit(run, coins)
    assert found.passed and found.replaced and json.loads(coins.read_text())["replaced"] is True
    assert abs(found.mu - found.claimed_mu) <= 3 * found.mu_error and found.claimed_mu == 4
    gained = np.corrcoef(found.scores, found.coins)[0, 1]  # means ±μ/2, of deviation 1: μ/2 / √(1 + μ²/4)
    assert 0.85 < gained < 0.94
    sampler = plan.sampler(RECORDS + COUNT, node="1")
    canaries = plan.canaries(COUNT, DIM, coins, sampler=sampler, seed=3)
    rows = canaries.gradients(range(RECORDS, RECORDS + 20))
    signs = np.where(canaries.included[:20], 10, -10) * plan.clip
    assert len(rows) == 20 and np.allclose(rows, [x * canaries.direction(i) for i, x in enumerate(signs)])


@real
def test_canaries_of_batches_in_turn_are_summed_once(plan, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from mafalda import torch as private

    sampler = plan.sampler(30, node="1")
    canaries = plan.canaries(20, 8, tmp_path / "coins", sampler=sampler, seed=2)
    clips, clip = [], private.clip_and_sum
    monkeypatch.setattr(private, "clip_and_sum", lambda *given: clips.append(1) or clip(*given))
    for t in range(3 * plan.b):
        sums = [torch.ones(3, 2), torch.zeros(2, dtype=torch.float64)]
        private.add_canaries(canaries, t, sums)
        want = 0.1 * canaries.gradients(sampler.numbers(t)).sum(axis=0)
        assert np.allclose(sums[0].reshape(-1), 1 + want[:6], atol=1e-4) and np.allclose(sums[1], want[6:], atol=1e-4)
    assert len(clips) <= plan.b and len(canaries.kept) == len({tuple(canaries.contributing(sampler.numbers(t))) for t in range(plan.b)})
    monkeypatch.setattr(private, "KEPT", 0)
    canaries.kept.clear()
    private.add_canaries(canaries, 0, [torch.zeros(8)])
    assert not canaries.kept


@real
def test_canaries_go_on_after_a_restart_and_are_not_taken_for_others(plan, tmp_path):
    sampler = plan.sampler(RECORDS + COUNT, node="1")
    first = plan.canaries(COUNT, DIM, tmp_path / "coins", sampler=sampler)
    again = plan.canaries(COUNT, DIM, tmp_path / "coins", sampler=sampler)
    assert (first.included == again.included).all() and (first.direction(7) == again.direction(7)).all()
    assert 0.3 < first.included.mean() < 0.7 and abs(np.linalg.norm(first.direction(0).astype(float)) - 1) < 1e-6
    other = plan.canaries(COUNT, DIM, tmp_path / "others", sampler=sampler)
    assert (first.included != other.included).any()
    said = json.loads((tmp_path / "coins").read_text())
    assert said["steps"][3] == [t for t in range(40) if 43 in sampler.numbers(t)]
    recorder = Recorder(plan, "1", tmp_path / "run", [DIM], 60)
    recorder.add(0, np.ones(DIM), np.zeros(DIM), 1)
    recorder.add(1, np.ones(DIM), np.zeros(DIM), 1)
    recorder.missed((1,))
    kept = Recorder(plan, "1", tmp_path / "run", [DIM], 60)._updates
    assert (kept[0] == 1).all() and all(np.isnan(kept[t]).all() for t in range(1, 40))
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "mine").touch()
    for wrong, says in (
        (lambda: plan.canaries(COUNT + 1, DIM, tmp_path / "coins", sampler=sampler), "coins of another run"),
        (lambda: plan.canaries(RECORDS + COUNT, DIM, tmp_path / "x", sampler=sampler), "leave no real one"),
        (lambda: plan.canaries(COUNT, 0, tmp_path / "x", sampler=sampler), "dim is a whole number"),
        (lambda: plan.canaries(COUNT, DIM, tmp_path / "x", sampler=None), "are records of a node"),
        (lambda: Recorder(plan, "1", tmp_path / "run", [DIM], 61), "not the record of this run"),
        (lambda: Recorder(plan, "1", tmp_path / "else", [DIM], 60), "not the record of this run"),
        (lambda: plan.audit(tmp_path / "else", tmp_path / "coins"), "no run is recorded"),
        (lambda: plan.audit(tmp_path / "run", tmp_path / "coins"), "fewer than two messages"),
        (lambda: mafalda.audit(run=tmp_path / "run"), "^run needs export"),
        (lambda: mafalda.audit(plan, run={"run": tmp_path / "run", "coins": tmp_path / "coins"}, runs=70), "^runs is not for run"),
    ):
        with pytest.raises((mafalda.MafaldaError, ValueError), match=says) as caught:
            wrong()
        assert "\n" not in str(caught.value)


def test_a_full_disk_makes_no_record(plan, tmp_path):
    """Once it killed the process by SIGBUS, and what was left refused every later start."""

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (40 * 4 * DIM - 100,) * 2)
        try:
            Recorder(plan, "1", tmp_path / "run", [DIM], 60)
        except OSError as e:
            return e

    assert f"a record of this run takes {160 * DIM} bytes" in in_child(full) and not os.listdir(tmp_path / "run")
    Recorder(plan, "1", tmp_path / "run", [DIM], 60).add(39, np.ones(DIM), np.zeros(DIM), 1)


def test_what_a_kill_leaves_of_a_record_is_made_anew(plan, tmp_path):
    for way in (lambda: Recorder(plan, "1", tmp_path / "run", [DIM], 60),
                lambda: View(plan, "1", tmp_path / "run", np.ones(DIM), sizes=dict.fromkeys(plan.nodes, 60), rates=0.1)):  # fmt: skip
        for name in ("fsync", "replace"):
            assert in_child(lambda: (setattr(os, name, lambda *_: os.kill(os.getpid(), 9)), way()), -9) == ""
            assert os.listdir(tmp_path / "run")
        way()
        way()
        shutil.rmtree(tmp_path / "run")


def test_a_record_that_was_cut_is_refused(plan, tmp_path):
    """What was cut was read as zeros."""
    Recorder(plan, "1", tmp_path / "run", [DIM], 60)
    os.truncate(tmp_path / "run" / "updates.f32", 1000)
    with pytest.raises(mafalda.ExportError, match=f"has 1000 bytes, not {160 * DIM}: it was cut"):
        Recorder(plan, "1", tmp_path / "run", [DIM], 60)


def test_a_record_is_looked_at_before_every_row(tmp_path, monkeypatch):
    """Rows beyond a cut were written, and the hole before them read as zeros; a folder was looked for from where the process was."""
    monkeypatch.chdir(tmp_path)
    rows = _Rows("run", {"this": "run"}, "updates.f32", (4, 3))
    monkeypatch.chdir("/")
    rows.write(0, np.ones(3))
    os.truncate(tmp_path / "run" / "updates.f32", 20)
    with pytest.raises(mafalda.ExportError, match="has 20 bytes, not 48: it was cut"):
        rows.write(3, np.ones(3))


@real
def test_coins_that_are_damaged_are_refused(plan, tmp_path):
    sampler = plan.sampler(30, node="1")
    plan.canaries(4, 9, tmp_path / "coins", sampler=sampler, seed=1)
    Recorder(plan, "1", tmp_path / "run", [9], 60)
    with pytest.raises(mafalda.MafaldaError, match="fewer than two messages"):  # what is right with the coins
        plan.audit(tmp_path / "run", tmp_path / "coins")
    text = (tmp_path / "coins").read_bytes()
    digits = [text.index(b'"key": "') + 9, text.index(b"[[") + 2, len(text) - 5]
    for at, wrong in [*((at, b"1234"[text[at] == ord("1") :][:1]) for at in digits), (len(text) - 1, b"")]:
        (tmp_path / "coins").write_bytes(text[:at] + wrong + text[at + 1 :] * bool(wrong) + b" " * (not wrong))
        with pytest.raises(mafalda.MafaldaError, match="its checksum is not that"):
            plan.canaries(4, 9, tmp_path / "coins", sampler=sampler, seed=1)
        if wrong:
            with pytest.raises(mafalda.MafaldaError, match="its checksum is not that"):
                plan.audit(tmp_path / "run", tmp_path / "coins")


def test_canaries_of_another_training_are_refused(out, tmp_path):
    torch = pytest.importorskip("torch")
    plan = mafalda.load(out)
    model = torch.nn.Linear(3, 2)
    sampler, another = plan.sampler(20, node="a"), plan.sampler(20, node="a")
    canaries = plan.canaries(4, 8, tmp_path / "coins", sampler=sampler, seed=1)
    for given, says in (
        ({"sampler": another, "canaries": canaries}, "of another sampler"),
        ({"sampler": sampler, "canaries": plan.canaries(4, 9, tmp_path / "c", sampler=sampler, seed=1)}, "are for 9 parameters"),
    ):
        with pytest.raises(mafalda.MafaldaError, match=says):
            plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, **given)
