"""The examples for Flower and NVFlare, with stand-ins for both: what leaves a silo, and what a server makes of it."""

import importlib
import math
import os
import pathlib
import sys
import types

import numpy as np
import pytest
from conftest import REAL

import mafalda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(REAL is None, reason="the program is not there")

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent if (HERE.parent / "commands.json").exists() else pathlib.Path(os.environ["MAFALDA_SOURCE"])
CLIP = 0.5
EXAMPLES = SOURCE.parent / "examples"


class Message:
    """Flower's: content or an error, and where it goes."""

    def __init__(self, content, node=None, kind="train", reply_to=None):
        self.metadata = types.SimpleNamespace(message_type=kind, dst_node_id=node)
        self.content = self.error = content

    def has_error(self):
        return isinstance(self.error, Error)


class Error:
    def __init__(self, code, reason):
        self.code, self.reason = code, reason


class ArrayRecord(list):
    def to_numpy_ndarrays(self):
        return list(self)


class App:
    """A ClientApp or a ServerApp."""

    def __init__(self, mods=()):
        self.mods, self.function = list(mods), None

    def train(self):
        return lambda function: setattr(self, "function", function)

    main = train


class DXO:
    def __init__(self, kind, data, meta=None):
        self.data_kind, self.data, self.meta = kind, data, meta or {}

    def to_shareable(self):
        return self


class Part:
    """An Executor, a DXOFilter or a ModelController."""

    def __init__(self, *_, **__):
        self.said = []

    def say(self, *words):
        self.said.append(words[-1])

    log_info = log_warning = info = say


def names(**values):
    return types.SimpleNamespace(**values)


@pytest.fixture
def frameworks(monkeypatch):
    """flwr and nvflare, as far as the examples import them; and the examples' own modules, which go with the test."""
    codes = names(EXECUTION_EXCEPTION="EXECUTION_EXCEPTION", TASK_UNKNOWN="TASK_UNKNOWN")
    for name, content in {
        "flwr.app": dict(
            ArrayRecord=ArrayRecord, ConfigRecord=dict, Error=Error, Message=Message, MessageType=names(TRAIN="train"), RecordDict=dict
        ),
        "flwr.clientapp": dict(ClientApp=App),
        "flwr.serverapp": dict(ServerApp=App),
        "flwr.simulation": dict(run_simulation=None),
        "nvflare.apis.dxo": dict(DXO=DXO, DataKind=names(WEIGHTS="WEIGHTS"), from_shareable=lambda x: x),
        "nvflare.apis.dxo_filter": dict(DXOFilter=Part),
        "nvflare.apis.event_type": dict(EventType=names(START_RUN="start", END_RUN="end")),
        "nvflare.apis.executor": dict(Executor=Part),
        "nvflare.apis.fl_constant": dict(ReturnCode=codes),
        "nvflare.apis.shareable": dict(make_reply=lambda code: code),
        "nvflare.app_common.abstract.fl_model": dict(FLModel=names),
        "nvflare.app_common.app_constant": dict(AppConstants=names(TASK_TRAIN="train", CURRENT_ROUND="round")),
        "nvflare.app_common.workflows.model_controller": dict(ModelController=Part),
    }.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv("MAFALDA", REAL)
    monkeypatch.setattr(sys, "path", [str(EXAMPLES / folder) for folder in ("flower", "nvflare-server", "silos")] + sys.path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name in ("silos", "data", "simulate", "private_rounds"):
            del sys.modules[name]


@pytest.fixture(params=["record", "silo"])
def asked(request, frameworks, tmp_path, monkeypatch):
    """What the examples are asked for, of three silos: for records, and for silos' whole updates."""
    silos = importlib.import_module("silos")
    monkeypatch.setattr(silos, "SILOS", silos.SILOS[:3])
    words = [str(tmp_path / "work"), "--rounds=8", "--data=made", f"--unit={request.param}", f"--clip={CLIP}"]
    asked = silos.arguments("").parse_args([*words, "--lost=site-3:9"])
    silos.prepare(asked)
    return asked, words


def test_flower_silos_answer_each_round_once(asked, monkeypatch, caplog, capsys):
    asked, words = asked
    run, silos = importlib.import_module("simulate"), importlib.import_module("silos")
    plan = silos.prepare(asked)
    stop = plan.spent(2).epsilon * 1.0001
    end = next(t for t in range(9) if plan.spent(t + 1).epsilon > stop)
    monkeypatch.setenv(run.OPTIONS, "\n".join([*words, f"--stop-at={stop!r}"]))
    trained, seen = [], {}

    def call(msg, context):
        trained.append(context.node_config["partition-id"])
        if context.node_config["partition-id"] == 1 and msg.content["config"]["server-round"] == 0:
            raise RuntimeError("record 17 is broken")
        return run.client.function(msg, context)

    def answer(message, node, kind="train"):
        context = names(node_config={"partition-id": node})
        return run.private_rounds(Message(message.content, node, kind), context, call)

    def send_and_receive(messages, timeout):
        replies = [answer(m, min(m.metadata.dst_node_id, 2)) for m in messages]
        for reply, m in zip(replies, messages):
            if not reply.has_error():
                seen.setdefault((m.content["config"]["server-round"], reply.content["silo"]["label"]), set()).add(
                    reply.content["arrays"][0].tobytes()
                )
        again = answer(messages[0], 0)  # the server asks once more
        assert again.has_error() == replies[0].has_error()
        if not again.has_error():
            assert again.content["arrays"][0].tobytes() == replies[0].content["arrays"][0].tobytes()
            assert set(again.content) == {"arrays", "silo"} and set(again.content["silo"]) == {"label"}
        return replies

    grid = names(get_node_ids=lambda: range(4), send_and_receive=send_and_receive)  # the last two say that they are site-3
    with caplog.at_level("INFO", logger="flwr"):
        run.server.function(grid, None)
    said = caplog.text
    assert "accuracy" in capsys.readouterr().out and silos.Server(asked.work).round == end
    assert all(len(answers) == 1 for answers in seen.values()) and len(seen) == 3 * end - 1  # site-2 was not there in round 0
    assert trained.count(0) == end  # and not for the round that was asked for again
    assert "round 0: no answer of a silo: the round failed: see the log of this silo" in said
    assert "round 0: two silos call themselves site-3: the second is left out" in said
    assert f"row {end} would pass the budget of 'site-1'" in said and f"round {end}: 0 of 3 silos answered" in said
    assert f"site-1: {end} of 8 rounds are over, epsilon" in said
    refused = answer(Message({}), 0, kind="evaluate")
    assert refused.has_error() and "answers nothing else" in refused.error.reason


def test_the_nvflare_filter_lets_out_the_private_step_alone(asked, monkeypatch):
    asked, _ = asked
    module, silos = importlib.import_module("private_rounds"), importlib.import_module("silos")
    executor, gate = module.Train(str(asked.work), 1), module.OneAnswerARound()
    props = {}
    context = names(
        get_identity_name=lambda: "site-3",
        set_prop=lambda key, value, private, sticky: props.update({key: value}) if private and not sticky else 1 / 0,
        get_prop=props.get,
    )
    start = silos.Server(asked.work).weights

    class Task(DXO):
        def get_header(self, _):
            return self.data_kind

    def execute(step, weights=start):
        result = executor.execute("train", Task(step, {module.WEIGHTS: weights}), context, None)
        if isinstance(result, str):
            return result
        np.testing.assert_array_equal(result.data[module.WEIGHTS], weights)  # behind the filter there is nothing of the records
        raw = DXO("METRICS", {"loss": 0.5, "gradient": np.ones(3)}, {"NUM_STEPS_CURRENT_ROUND": 17})  # of some other executor
        out = gate.process_dxo(raw, None, context)
        assert list(out.data) == [module.WEIGHTS] and not out.meta and out.data_kind == "WEIGHTS"
        return out.data[module.WEIGHTS]

    executor.handle_event("start", context)
    try:
        first = execute(0)
        assert execute(0, start + 1).tobytes() == first.tobytes() != start.tobytes()
        assert execute(2, first).tobytes() != first.tobytes()
        assert execute(1) == "EXECUTION_EXCEPTION" and "round 1 is over for 'site-3'" in executor.said[-1]
        assert executor.execute("validate", None, context, None) == "TASK_UNKNOWN"
        assert gate.said[-1].startswith("site-3: 3 of 8 rounds are over, epsilon")
    finally:
        executor.handle_event("end", context)

    server = module.Average(str(asked.work), lost="site-2:0")
    answers = iter([["site-1", "site-3"], []])
    asked_for = []

    def send(targets, data, timeout):
        asked_for.append(targets)
        return [names(meta={"client_name": name}, params={module.WEIGHTS: first}) for name in next(answers)]

    server.abort_signal = names(triggered=False)
    server.sample_clients, server.send_model_and_wait = lambda: ["site-1", "site-2", "site-3"], send
    server.run()
    assert asked_for == [["site-1", "site-3"]] * 2
    state = silos.Server(asked.work)
    np.testing.assert_allclose(state.weights, first * 2 / 3, rtol=1e-6)  # the third counts with the server's weights, 0
    assert state.round == 1 and server.said[-1] == state.says()


def test_whole_updates_share_noise(asked):
    """One silo is lost in round 1: what it shares stays in the average, and nothing else changes; all halt at their budget."""
    asked, _ = asked
    if asked.unit == "record":
        return
    silos = importlib.import_module("silos")
    plan = silos.prepare(asked)
    stop = plan.spent(3).epsilon * 1.0001
    open_all = {name: silos.open_silo(asked.work, name, rate, stop) for name, rate in zip(silos.SILOS, (1e-9, 1e-9, 100.0))}
    weights, own = silos.Server(asked.work).weights, plan.level("site-1").noise_std / math.sqrt(2)
    try:
        for t in range(3):
            answers = {}
            for name, silo in open_all.items():
                assert silo.begin(t, weights)
                silos.train(silo, t, weights)
                answers[name] = silo.answer(t)
            moved = [answer.astype(float) - weights for answer in answers.values()]
            rows = [silo.noise.row(t) for silo in open_all.values()]
            assert max(np.linalg.norm(m - r) for m, r in zip(moved, rows)) <= CLIP * (1 + 1e-3)  # the rate of site-3 is 100
            assert np.linalg.norm(moved[2] - rows[2]) > CLIP * 0.99
            scale = own * np.linalg.norm(plan.inverse("site-1")[t])
            assert 0.85 < np.std(sum(rows)) / (scale * math.sqrt(3)) < 1.3  # own noise of three, 1/(3 - 1) each and a little more
            assert np.std(rows[0]) > 3 * scale and np.std(rows[0] + rows[1]) > 1.5 * np.std(sum(rows))
            if t == 1:
                del answers["site-3"]
            weights = silos.average(plan, weights, answers)
        for name, silo in open_all.items():
            with pytest.raises(mafalda.BudgetError, match=f"row 3 would pass the budget of '{name}'"):
                silo.begin(3, weights)
            assert silo.noise.spent["epsilon"] == plan.spent(3).epsilon <= stop
    finally:
        for silo in open_all.values():
            silo.close()


def test_a_run_goes_on_with_what_it_was_asked_for(asked, tmp_path):
    asked, _ = asked
    silos = importlib.import_module("silos")
    key = (asked.work / "site-1" / "key").read_bytes()
    assert silos.prepare(asked).hash == mafalda.load(asked.work / "plan").hash
    asked.noise = "own"
    with pytest.raises(SystemExit, match=f"has a run with --noise=shared --missed_steps=0.01 --unit={asked.unit} --epsilon=1 --clip={CLIP} --rounds=8 --data=made"):
        silos.prepare(asked)
    assert (asked.work / "site-1" / "key").read_bytes() == key
    (asked.work / "start.npz").unlink()  # it was interrupted there, or the folder is somebody else's
    with pytest.raises(SystemExit, match="is not empty, and no run that could go on"):
        silos.prepare(asked)
