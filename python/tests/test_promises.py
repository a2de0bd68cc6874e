"""ε, δ and μ of a plan: what the program says, and never less than its report."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import write

import mafalda

real = pytest.mark.skipif(not os.environ.get("MAFALDA"), reason="needs the program: $MAFALDA")


def gaussian(mu, epsilon):
    """δ of a μ-GDP mechanism, by its definition."""
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def reported(plan, tmp_path):
    """ε at 1e-6 as the report says it: rounded up to four digits."""
    page = pathlib.Path(plan.report(tmp_path / "report.html", force=True)).read_text(encoding="utf-8")
    return float(re.search(r"ε = ([0-9.]+) for δ = 1e-06", page)[1])


@real
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_in_turn_they_are_those_of_the_gaussian_mechanism(adjacency, tmp_path):
    plan = mafalda.optimize("path:3", steps=8, k=2, mu=1.2345, delta=1e-6, adjacency=adjacency, no_baselines=True)
    assert plan.mu == 1.2345 and plan.epsilon() == plan.epsilon(1e-6) == plan.manifest["privacy"]["epsilon"]
    assert plan.epsilon() <= reported(plan, tmp_path) < plan.epsilon() * 1.001
    for delta in (1e-3, 1e-9):
        epsilon = plan.epsilon(delta)
        assert gaussian(plan.mu, epsilon) <= delta * (1 + 1e-9) <= gaussian(plan.mu, epsilon * (1 - 1e-6)) and (epsilon > plan.epsilon()) == (delta < 1e-6)
    for epsilon in (0.0, 1.0, 5):
        assert gaussian(plan.mu, epsilon) <= plan.delta(epsilon) * (1 + 1e-12) <= gaussian(plan.mu, epsilon) * (1 + 1e-9)
    assert plan.delta(plan.epsilon()) <= 1e-6 and plan.spent(8).epsilon <= plan.epsilon()


@real
def test_of_nodes_with_budgets_the_least_private_one_counts(tmp_path):
    (tmp_path / "budgets.csv").write_text("node,epsilon,delta\n0,1,1e-6\n1,4,1e-6\n2,2,1e-6\n")
    plan = mafalda.optimize("path:3", steps=8, k=2, budgets=tmp_path / "budgets.csv", no_baselines=True)
    assert plan.mu == plan.level("1").mu and plan.epsilon() == 4 and plan.epsilon(node="0") == 1
    assert plan.epsilon(1e-4) == pytest.approx(plan.spent(8, "1", 1e-4).epsilon) and 1 < plan.epsilon(1e-7, node="0") < plan.epsilon(1e-7)
    assert plan.delta(2.0) == pytest.approx(gaussian(plan.level("1").mu, 2)) and plan.delta(2.0) > plan.delta(2.0, node="2") > plan.delta(2.0, node="0")


@real
@pytest.mark.parametrize("sampling", ["poisson", "allocation"])
def test_of_secret_batches_the_accountant_of_the_program_is_asked(sampling, tmp_path):
    plan = mafalda.optimize("path:3", steps=8, k=2, epsilon=2, delta=1e-6, sampling=sampling, no_baselines=True)
    assert plan.mu is None and plan.epsilon() == 2 == reported(plan, tmp_path)
    assert plan.epsilon(node="1") == 2
    for ask in (plan.epsilon, lambda node: plan.delta(1, node)):
        with pytest.raises(mafalda.ExportError, match="no node 'zz'"):
            ask(node="zz")
    assert plan.epsilon(1e-4) == plan.spent(8, delta=1e-4).epsilon < 2 < plan.epsilon(1e-8)
    assert plan.delta(2) <= 1e-6 < plan.delta(1.9)
    delta = plan.delta(1.0)
    assert plan.epsilon(delta) <= 1 < plan.epsilon(delta / 1.02)
    with pytest.raises(mafalda.ExportError, match=f"batches in secret \\({sampling}\\): ask plan.epsilon"):
        plan.dp_event()
    with pytest.raises(ValueError, match="from 0 on"):
        plan.delta(math.nan)


@real
def test_of_random_bins_the_export_is_all_that_is_known():
    plan = mafalda.optimize("path:3", steps=6, k=2, epsilon=2, delta=1e-5, sampling="bins:samples=4096", no_baselines=True)
    assert plan.mu is None and plan.epsilon() == 2 and plan.delta(2) == plan.delta(3) == 1e-5
    with pytest.raises(mafalda.ProgramError, match="for delta 1e-05 alone"):
        plan.epsilon(1e-4)
    with pytest.raises(mafalda.ExportError, match="for δ = 1e-05 alone: no δ is known for ε = 1, below 2"):
        plan.delta(1)


@real
def test_a_manifest_that_claims_too_small_an_epsilon_of_secret_batches_has_none(tmp_path):
    mafalda.optimize("path:3", steps=8, k=2, epsilon=2, delta=1e-6, sampling="poisson", no_baselines=True, out=tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["privacy"]["epsilon"] = manifest["sampling"]["epsilon"] = 1.5
    path.write_text(json.dumps(manifest), encoding="utf-8")
    plan = mafalda.load(tmp_path / "out")  # the accountant is the program's
    for ask in (plan.epsilon, lambda: plan.epsilon(1e-5), lambda: plan.delta(2.0)):
        with pytest.raises(mafalda.ProgramError, match="epsilon"):
            ask()


def test_without_a_level_there_is_none(tmp_path):
    plan = mafalda.load(write(tmp_path / "out", privacy=None))
    for ask in (lambda: plan.mu, plan.epsilon, lambda: plan.delta(1), plan.dp_event):
        with pytest.raises(mafalda.ExportError, match="no privacy level: give mafalda.optimize epsilon and delta, or mu"):
            ask()
    with pytest.raises(mafalda.ExportError, match="say delta="):
        mafalda.load(write(tmp_path / "mu")).epsilon()


def test_the_event_is_the_gaussian_mechanism_of_mu(tmp_path, monkeypatch):
    plan = mafalda.load(write(tmp_path / "out", privacy={"mu": 3.0, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1 / 3 + 1e-16}))
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(mafalda.MafaldaError, match=r"^dp_accounting is not installed \(pip install dp-accounting\)"):
        plan.dp_event()
    monkeypatch.undo()
    dp_accounting = pytest.importorskip("dp_accounting")
    event = plan.dp_event()
    assert isinstance(event, dp_accounting.GaussianDpEvent) and 1 / 3 - 1e-15 < event.noise_multiplier < 1 / 3
    accountant = dp_accounting.pld.PLDAccountant()
    epsilon = accountant.compose(event).get_epsilon(1e-6)
    assert gaussian(3, epsilon) <= 1e-6 * (1 + 1e-9) and gaussian(3, epsilon * 0.999) > 1e-6


@real
def test_reprs_say_what_is_next_and_what_is_promised(tmp_path):
    plan = mafalda.optimize("path:3", steps=8, k=2, mu=1.23456, delta=1e-6, no_baselines=True)
    assert all(word in repr(plan) for word in ("3 nodes, 8 steps, k=2, b=4, batches cyclic", "delta 1e-06, mu 1.2346", "for clip 1", "above the least"))
    assert f"epsilon {math.ceil(plan.epsilon() * 1e4) / 1e4}" in repr(plan)
    sampler, noise = plan.sampler(8, node="1"), plan.noise("1", 3, seed=1)
    sampler.batch(2), noise.row()
    assert repr(sampler) == "<Sampler of '1': step 2 of 8 is next; 8 records, batches cyclic, 2 records on average>"
    assert repr(noise) == f"<Noise of '1': row 1 of 8 is next; 3 numbers a row, std {plan.noise_std:.6g}, simulated: it protects nothing>"
    account = mafalda.account(plan, attackers="0", reaction="fixed")
    assert repr(account).startswith("<account: attacker='0', trust='pndp', ") and repr(account).endswith("pairs (3); figures: exposure>")
    assert repr(mafalda.epsilon(mu=1, delta=1e-6)).startswith("<epsilon: mu=1, epsilon=4.886554")
    (tmp_path / "budgets.csv").write_text("node,epsilon,delta\n0,1,1e-6\n1,4,1e-6\n2,2,1e-6\n")
    assert "a privacy level a node" in repr(mafalda.optimize("path:3", steps=8, k=2, budgets=tmp_path / "budgets.csv", no_baselines=True))


@real
def test_labels_are_strings_whatever_they_look_like(tmp_path):
    """Of a graph whose labels are numbers: in tables, results, plans and messages."""
    plan = mafalda.optimize([(10, 2), (2, 7), (7, 10)], steps=8, k=2, epsilon=2, delta=1e-6)
    assert sorted(plan.nodes) == ["10", "2", "7"] and set(plan.neighbours("10")) == {"2", "7"}
    every = mafalda.account(plan, attackers="all", reaction="fixed")
    one = mafalda.account(plan, attackers=7, reaction="fixed")
    audit = mafalda.audit(plan, attacker="7", runs=100)
    for found in (*every.table["attacker"], *every.table["victim"], *mafalda.graph([(10, 2), (2, 7)]).table["label"]):
        assert isinstance(found, str) and found in plan.nodes
    assert one.attacker == "7" and audit.victim in plan.nodes and all(isinstance(pair["victim"], str) for pair in one.pairs)
    assert isinstance(plan.spent(3, node="2").node or "2", str)
    (tmp_path / "budgets.csv").write_text("node,epsilon,delta\n10,1,1e-6\n2,4,1e-6\n7,2,1e-6\n")
    levels = mafalda.optimize([(10, 2), (2, 7), (7, 10)], steps=8, k=2, budgets=tmp_path / "budgets.csv", no_baselines=True)
    assert levels.spent(3).node == "2"
    averaged = mafalda.average([(10, 2), (2, 7), (7, 10)], protocol="gossip", values={10: 1, 2: 2.5, 7: -3}, noise_std=2, observer=[10])
    assert isinstance(averaged.observer if "observer" in averaged else "10", str) and json.loads(json.dumps(averaged["mean"]))
    for wrong in (10, np.int64(2)):
        with pytest.raises(mafalda.ExportError, match="no node .*; its nodes are '"):
            plan.sampler(9, node=wrong)


@real
def test_a_with_statement_ends_the_server(tmp_path):
    plan = mafalda.optimize("path:3", steps=8, k=2, mu=1, no_baselines=True, out=tmp_path / "out")
    with pytest.raises(KeyError, match="in between"):
        with plan.noise("1", 3, state=tmp_path / "state") as noise:
            other = "import mafalda, sys; n = mafalda.noise_at(mafalda.load(sys.argv[1]), '1', 3, sys.argv[2]); print(n.row(0).tolist())"
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            done = subprocess.run([sys.executable, "-c", other, plan.directory, noise.address], capture_output=True, text=True, env=environment)
            assert json.loads(done.stdout) == noise.row(0).tolist(), done.stderr
            process = noise._server._process
            raise KeyError("in between")
    assert process.poll() is not None and not os.path.exists(noise.address)
    with plan.noise("1", 3, state=tmp_path / "state", stop_at=3, stop_delta=1e-5) as again:
        assert again.next == 1 and again.end < 8 and "its budget ends before step" in repr(again)


def composed(events):
    """ε at 1e-5 of rounds, by dp_accounting: (times, event) pairs."""
    dp_accounting = pytest.importorskip("dp_accounting")
    accountant = dp_accounting.pld.PLDAccountant()
    for times, event in events(dp_accounting):
        accountant.compose(event, times)
    return accountant.get_epsilon(1e-5)


LOCAL = math.sqrt(2 * math.log(1.25e5)) / 3  # the noise multiplier that LocalDpMod calls ε = 3


@real
@pytest.mark.parametrize(
    "says, events",
    [
        ("preset='flower-local-dp'\nrounds=20\nclip=0.5\nepsilon=3", lambda d: [(20, d.GaussianDpEvent(LOCAL))]),
        ("preset='flower-local-dp'\nrounds=5\nclip=2\nepsilon=3\nsensitivity=1", lambda d: [(5, d.GaussianDpEvent(LOCAL / 2))]),
        ("preset='flower-central-dp'\nrounds=30\nnoise_multiplier=2", lambda d: [(30, d.GaussianDpEvent(2))]),
        (
            "preset='flower-central-dp'\nrounds=30\nnoise_multiplier=8\nweight=2\ncount_std=5",
            lambda d: [(30, d.GaussianDpEvent(4)), (30, d.GaussianDpEvent(5))],
        ),
        ("preset='p2pfl'\nrounds=4\nclip=1\nepsilon=3\nrecipients=3", lambda d: [(12, d.GaussianDpEvent(LOCAL))]),
        (
            "preset='opacus'\nrounds=300\nprobability=0.05\nnoise_multiplier=1.1",
            lambda d: [(300, d.PoissonSampledDpEvent(0.05, d.GaussianDpEvent(1.1)))],
        ),
        (
            "unit='record'\nclip=1\nsigma=2\n[[phase]]\nrounds=40\nprobability=0.1\n[[phase]]\nrounds=3\nsigma=4",
            lambda d: [(40, d.PoissonSampledDpEvent(0.1, d.GaussianDpEvent(2))), (3, d.GaussianDpEvent(4))],
        ),
        (
            "unit='silo'\nmechanism='matrix'\nmatrix='C.npy'\nrounds=4\nclip=0.5\nsigma=2\nrecipients=2",
            lambda d: [(2, d.GaussianDpEvent(4 / np.linalg.norm(PREFIX[:4, :4].sum(axis=1))))],
        ),
    ],
)
def test_presets_are_what_dp_accounting_composes(says, events, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("C.npy", PREFIX)
    pathlib.Path("run.toml").write_text("delta=1e-5\n" + says)
    total, theirs = mafalda.spent("run.toml").rounds[-1]["epsilon"], composed(events)
    assert theirs * 0.999 < total < theirs * 1.001


PREFIX = np.tril(1.0 / (1 + np.subtract.outer(np.arange(6), np.arange(6)).clip(0)))


@real
@pytest.mark.parametrize(
    "says, loss, sum_of_all",
    [
        ("preset='p2pfl'\nmechanism='laplace'\nclip=1\nsigma=40\nparameters=9\nrounds=8", lambda d: d.from_laplace_mechanism(40 / 3), 8 * 3 / 40),
        # in every round ε = 0.1 of the selection and 0.02 for each of 4 parameters that are sent; of ε, randomized response is the worst
        ("preset='nvflare-svt'\nparameters=40\nnoise_var=0.02\nrounds=6", lambda d: d.from_randomized_response(2 / (1 + math.exp(0.18)), 2), 6 * 0.18),
    ],
)
def test_pure_presets_are_no_less_than_dp_accounting_composes(says, loss, sum_of_all, tmp_path):
    one = loss(pytest.importorskip("dp_accounting").pld.privacy_loss_distribution)  # whose accountant counts randomized response once
    theirs = one.self_compose(int(says.rsplit("=", 1)[1])).get_epsilon_for_delta(1e-5)
    (tmp_path / "run.toml").write_text("delta=1e-5\n" + says)
    total = mafalda.spent(tmp_path / "run.toml").rounds[-1]["epsilon"]
    assert theirs * (1 - 1e-3) <= total <= sum_of_all * (1 + 1e-9)


@real
def test_every_preset_is_compared():
    listed = re.search(r"or (.*), or none", mafalda.spent.__doc__)[1].split(", ")
    text = pathlib.Path(__file__).read_text()
    assert "preset" in text and all(f"preset='{name}'" in text for name in [*listed, "flower-local-dp"])
