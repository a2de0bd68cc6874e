"""A silo and its server: a round has one answer, whatever happens around it."""

import contextlib
import hashlib
import math
import os
import shutil
import signal
import traceback
import types

import numpy as np
import pytest
from conftest import NODES, REAL, write

import mafalda
from mafalda import _durable as durable, _outbox as outbox

torch = pytest.importorskip("torch")

from mafalda import _clipping as clipping  # noqa: E402
from mafalda.silo import Silo, average, clipped  # noqa: E402

STEPS = 6
START = np.zeros(3, np.float32)
EQUAL = np.full((4, 4), 1 / 4)


@pytest.fixture
def plan(tmp_path):
    write(tmp_path / "server", steps=STEPS, k=2, b=3, w=EQUAL)
    return mafalda.load(tmp_path / "server")


def opened(plan, folder, node="a", **options):
    """A silo with a model of three parameters and twelve records."""
    os.makedirs(folder, exist_ok=True)
    model = torch.nn.Linear(2, 1)
    sampler = plan.sampler(12, node=node, state=folder / "batches" if "state" in options else None)
    private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.5), node=node, sampler=sampler, **options)
    silo = Silo(private, folder / "outbox")
    silo.model = model
    return silo


def train(silo, step, weights=START):
    """What a trainer does; returns the answer."""
    if silo.begin(step, weights):
        gradient(silo, step)
    return silo.answer(step)


def records():
    draw = torch.Generator().manual_seed(0)
    return torch.randn(12, 2, generator=draw), torch.randn(12, 1, generator=draw)


def gradient(silo, step):
    x, y, batch = *records(), silo.private.sampler.batch(step)
    silo.private.backward(silo.model, torch.nn.functional.mse_loss, x[batch], y[batch])
    silo.private.step()


def test_a_server_with_silos_is_the_complete_graph(plan, tmp_path):
    silos = {node: opened(plan, tmp_path / node, node, seed=1) for node in NODES}
    noise = {node: plan.noise(node, 3, seed=1) for node in NODES}
    weights = START
    for t in range(STEPS):
        expected, answers = weights.astype(float), {}
        for node, silo in silos.items():
            if node == "b" and t in (3, 4):  # it is not there: its rows are carried, and it counts with the server's weights
                noise[node].skip(t)
                continue
            x, y, batch = *records(), silo.private.sampler.batch(t)
            mafalda.set_flat(silo.model, weights)
            parameters = list(silo.model.parameters())
            sums, _ = clipping.clipped_sum(silo.model, parameters, torch.nn.functional.mse_loss, x[batch], y[batch], 1.0)
            expected -= 0.5 * (np.concatenate([s.numpy().ravel() for s in sums]) + noise[node].row(t)) / len(batch) / 4
            answers[node] = train(silo, t, weights)
        weights = average(plan, weights, answers)
        np.testing.assert_allclose(weights, expected, rtol=1e-5, atol=1e-5)
    assert silos["a"].says() == "a: 6 of 6 rounds are over"
    with pytest.raises(mafalda.StepError, match="the export has the rounds 0 to 5"):
        train(silos["a"], 6)
    with pytest.raises(mafalda.StepError, match="round 4 is over for 'a'.* So are all rounds"):
        train(silos["a"], 4)
    with pytest.raises(mafalda.ExportError, match="no node 'x'"):
        average(plan, weights, {"x": START})
    with pytest.raises(mafalda.ExportError, match="'a' has 2 numbers"):
        average(plan, weights, {"a": START[:2]})
    with pytest.raises(mafalda.MafaldaError, match="the answer of 'a' is not finite numbers: leave it out"):
        average(plan, weights, {"a": START + np.nan})


def test_a_round_has_one_answer(plan, tmp_path):
    silo = opened(plan, tmp_path / "a", seed=1)
    first = train(silo, 0)
    for weights in (START, START + 1, START + np.nan):  # the server restarts, and repeats the round with other weights
        assert not silo.begin(0, weights)
        assert train(silo, 0, weights).tobytes() == first.tobytes()
    assert silo.private.noise.next == 1
    second = train(silo, 3, first)  # rounds that went by without this silo
    assert second.tobytes() != first.tobytes()
    for step in (0, 1, 2):
        with pytest.raises(mafalda.StepError, match=f"round {step} is over for 'a'.* Go on with round 4"):
            train(silo, step)
    with pytest.raises(mafalda.StepError, match="round 3 is over"):  # the answer is lost, or was changed
        (tmp_path / "a" / "outbox").write_bytes((tmp_path / "a" / "outbox").read_bytes()[:-1] + b"x")
        silo.begin(3, START)
    for step in (-1, True, 1.0, "4", 6):
        with pytest.raises(mafalda.StepError, match="the export has the rounds 0 to 5"):
            silo.begin(step, START)


def test_nothing_leaves_that_no_private_step_has_made(plan, tmp_path):
    silo = opened(plan, tmp_path / "a", seed=1)
    for private, outbox_file, says in (
        (silo.private.noise, "outbox", "takes what plan.make_private"),
        (silo.private, "no folder/outbox", "in no folder that is there"),
    ):
        with pytest.raises(mafalda.MafaldaError, match=says):
            Silo(private, tmp_path / outbox_file)
    for weights in (START + np.inf, np.full(START.shape, 1e39), "weights", None):
        with pytest.raises(mafalda.MafaldaError, match="not finite numbers; no row was drawn"):
            silo.begin(0, weights)
    with pytest.raises(mafalda.ExportError, match="another number of parameters"):
        silo.begin(0, START[:2])
    assert silo.begin(0, START)
    with pytest.raises(mafalda.StepError, match="no private step was made in round 0"):
        silo.answer(0)
    with torch.no_grad():
        silo.model.bias.add_(1)  # by a trainer of its own, before the private step
    with pytest.raises(mafalda.MafaldaError, match="'parameter 1' was changed, and not by a private step"):
        gradient(silo, 0)
    assert silo.begin(0, START)
    gradient(silo, 0)
    with torch.no_grad():
        silo.model.weight.add_(1)  # and after it
    with pytest.raises(mafalda.MafaldaError, match="changed"):
        silo.answer(0)
    with pytest.raises(mafalda.StepError, match="round 0 is over"):  # its row is carried
        silo.begin(0, START)
    assert silo.private.noise.place.unsent == (0,)
    train(silo, 1)


def test_a_round_that_is_begun_again_has_one_gradient(plan, tmp_path):
    silo, other = opened(plan, tmp_path / "a", seed=1), opened(plan, tmp_path / "b", seed=1)
    silo.begin(0, START)
    batch = silo.private.sampler.batch(0)
    silo.private.backward(silo.model, torch.nn.functional.mse_loss, torch.ones(len(batch), 2), torch.ones(len(batch), 1))
    assert train(silo, 0).tobytes() == train(other, 0).tobytes()


def whole(folder, **changes):
    """An export for silos' whole updates, of norm 0.5."""
    privacy = {"mu": 1.0, "clip": 0.5, "adjacency": "zero-out", "noise_std": 0.5}
    write(folder, steps=STEPS, w=EQUAL, participation={"schema": "silo", "k": STEPS, "b": 1, **changes}, privacy=privacy)
    return mafalda.load(folder)


def test_a_whole_update_is_clipped_as_one(tmp_path):
    plan = whole(tmp_path / "silos")
    silo, rows = Silo(plan.noise("a", 3, seed=1), tmp_path / "outbox"), plan.noise("a", 3, seed=1)
    weights = START + 2
    for t, (step, least) in enumerate([((30, 0, -40), (0.3, 0, -0.4)), ((0.1, 0, 0.2),) * 2, ((1e200, 0, 0), (0.5, 0, 0)), ((np.nan, 9, 9), (0, 0, 0))]):
        assert silo.begin(t, weights)
        with pytest.raises(mafalda.StepError, match=f"no update was made in round {t}"):
            silo.answer(t)
        with pytest.warns(UserWarning, match="counts as zero") if np.isnan(step).any() else contextlib.nullcontext():
            silo.update(weights.astype(float) + step)
        with pytest.raises(mafalda.StepError, match="or its update was made"):  # a row protects one update
            silo.update(weights)
        got = silo.answer(t) - rows.row(t) - weights
        np.testing.assert_allclose(got, least, rtol=0, atol=1e-6)
        assert not silo.begin(t, weights + 1) and silo.answer(t).tobytes() == silo.answer(t).tobytes()
    assert silo.begin(5, weights)  # round 4 goes by, and its row is carried
    for trained in (weights[:2], 3.0):
        with pytest.raises(mafalda.ExportError, match="trained weights of shape"):
            silo.update(trained)
    silo.update(weights)
    rows.skip(4)
    np.testing.assert_allclose(silo.answer(5) - weights, rows.row(5), atol=1e-6)
    for update in np.random.default_rng(1).standard_normal((200, 3)) * 10.0 ** np.arange(-2, 198).reshape(-1, 1):
        assert math.hypot(*clipped(update, 0.5)) <= 0.5


def test_a_silo_says_what_is_spent_without_a_delta(tmp_path, monkeypatch):
    plan = whole(tmp_path / "silos")
    silo = Silo(plan.noise("a", 3, seed=1), tmp_path / "outbox")
    monkeypatch.setattr(type(silo.noise), "spent", {"steps": 2, "mu": 0.57731, "by": "leading block"}, raising=False)
    assert silo.says() == "a: 0 of 6 rounds are over, mu 0.5774 is spent"


def test_a_whole_update_is_no_record(plan, tmp_path):
    silos, sgd = whole(tmp_path / "silos"), torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=1)
    for refused in (
        lambda: silos.sampler(12, node="a", seed=1),
        lambda: silos.ledger(12),
        lambda: silos.make_private(sgd, node="a", seed=1, participation="mine", size=3),
        lambda: opened(plan, tmp_path / "a", seed=1).update(START),
    ):
        with pytest.raises(mafalda.ParticipationError, match="clipped as one|clipped one by one"):
            refused()
    for given, of in (
        (plan.noise("a", 3, seed=1), "make_private"),
        (opened(plan, tmp_path / "b", seed=1), "make_private"),
        (silos.simulated(3, seed=1), "noise"),
    ):
        with pytest.raises(mafalda.MafaldaError, match=f"a silo takes what plan.{of}"):
            Silo(given, tmp_path / "outbox")
    with pytest.raises(mafalda.ExportError, match="a silo is in every step"):
        whole(tmp_path / "once", k=1)
    silo = Silo(silos.noise("a", 3, seed=1), tmp_path / "outbox")
    with pytest.raises(mafalda.ExportError, match=r"weights of shape \(2,\)"):
        silo.begin(0, START[:2])
    assert silo.noise.next == 0


def test_an_export_for_gossip_is_refused(out, tmp_path):
    with pytest.raises(mafalda.ExportError, match="for the complete graph of the silos"):
        opened(mafalda.load(out), tmp_path / "a", seed=1)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """An export of the program, whose nodes 0, 1, 2 and 3 share noise, with their keys and what they announce of a run."""
    if REAL is None:
        pytest.skip("the program is not there")
    folder = tmp_path_factory.mktemp("shared")
    plan = mafalda.optimize(
        "complete:4", steps=12, k=3, epsilon=2, delta=1e-6, trust="secldp", no_baselines=True, out=folder / "out", binary=REAL
    )
    os.mkdir(folder / "runs")
    (folder / "keys.csv").write_text("".join(mafalda.keys.new(v, folder / v, folder / f"{v}.pub", REAL) for v in plan.nodes))
    for v in plan.nodes:
        mafalda.keys.announce(plan, folder / v, folder / "keys.csv", 3, folder / "runs" / f"{v}.run", REAL)
    return folder


@pytest.fixture
def real(shared, tmp_path, monkeypatch):
    """A run of its own: node 0 has the states in tmp_path / "a"."""
    monkeypatch.setenv("MAFALDA", REAL)
    shutil.copytree(shared, tmp_path, dirs_exist_ok=True)
    plan = mafalda.load(tmp_path / "out")
    keys = {"key": tmp_path / "0", "peers": tmp_path / "keys.csv", "runs": tmp_path / "runs"}

    def begin(**options):
        return opened(plan, tmp_path / "a", "0", state=tmp_path / "a" / "noise", **keys, **options)

    begin.plan = plan
    return begin


def killed(work):
    """Runs it in a process that SIGKILL ends at once where it calls the function that it gets."""
    child = os.fork()
    if child == 0:
        try:
            work(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.parametrize("moment, answered", [("drawn", False), ("written", False), ("declared", True), ("answered", True)])
def test_a_silo_that_is_killed_comes_back(real, moment, answered):
    def work(die):
        silo = real()
        train(silo, 0)
        if moment == "drawn":
            durable.write = die
        elif moment == "written":
            silo.private.noise.sending = die
        elif moment == "declared":
            outbox.os = types.SimpleNamespace(**{**vars(os), "replace": die})
        train(silo, 1)
        die()

    killed(work)
    with real() as silo:
        if answered:  # the same bytes, whatever the server's weights are now
            place = silo.private.noise.place
            kept = train(silo, 1, START + 7)
            assert silo.private.noise.place == place and hashlib.sha256(kept.tobytes()).hexdigest() == place.sending
        else:
            with pytest.raises(mafalda.StepError, match="round 1 is over for '0'"):
                train(silo, 1)
            assert silo.private.noise.place.unsent == (1,)  # carried by round 2
        noise = silo.private.noise
        os.kill(noise._server._process.pid, signal.SIGKILL)  # the server of its noise is gone now, too
        noise._server._process.wait()
        train(silo, 2)
        with pytest.raises(mafalda.StepError, match="round 1 is over"):
            train(silo, 1)
        if moment == "drawn":  # a second silo of the same label: its batches, its noise
            child = os.fork()
            if child == 0:
                os._exit(7 if refused(real) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            train(silo, 3)


def refused(begin):
    """Whether a silo that is open in another process cannot be opened here."""
    try:
        begin()
    except mafalda.MafaldaError as e:
        return "use" in str(e)
    except BaseException:
        traceback.print_exc()
    return False


def test_the_budget_ends_the_rounds_of_a_silo(real):
    stop = real.plan.spent(2).epsilon * 1.0001
    for attempt in range(2):  # it is not asked for round 2, and it is after a restart
        with real(stop_at=stop) as silo:
            end = silo.private.noise.end
            if attempt == 0:
                for t in range(end):
                    train(silo, t)
                assert silo.says().startswith(f"0: {end} of 12 rounds are over, epsilon ") and "before round" in silo.says()
            with pytest.raises(mafalda.BudgetError, match=f"row {end} would pass the budget"):
                silo.begin(end if attempt == 0 else 11, START)
            assert not silo.begin(end - 1, START)
