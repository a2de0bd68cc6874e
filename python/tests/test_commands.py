"""Commands of the program from Python: the same results, errors in one line, and nothing left behind."""

import ast
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mafalda
from mafalda import _keywords as keywords
from mafalda import _commands as commands, _program as program, _temporary as temporary

HERE = pathlib.Path(__file__).resolve().parent

real = pytest.mark.skipif(not os.environ.get("MAFALDA"), reason="needs the program: $MAFALDA")


class Graph:
    """A graph as networkx has them: what the package uses of one."""

    def __init__(self, edges, nodes=(), directed=False, parallel=False):
        self._edges = [(*edge, {}) if len(edge) == 2 else (*edge[:2], {"weight": edge[2]}) for edge in edges]
        self.nodes = list(dict.fromkeys([*nodes, *(node for edge in edges for node in edge[:2])]))
        self._directed, self._parallel = directed, parallel

    def edges(self, data=False):
        return self._edges

    def is_directed(self):
        return self._directed

    def is_multigraph(self):
        return self._parallel


CYCLE = Graph([("a b", "c;d"), ("c;d", "é"), ("é", "a b")])


def tool(*arguments):
    done = subprocess.run([program.find(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@real
def test_functions_are_those_of_the_program():
    described = HERE.parent / "commands.json"
    if not described.exists():  # the tests are not beside the source
        described = pathlib.Path(os.environ["MAFALDA_SOURCE"]) / "commands.json"
    assert described.read_text(encoding="utf-8") == tool("describe"), "make python"
    sys.path.insert(0, str(described.parent))
    import generate

    found = generate.module(json.loads(tool("describe")))
    assert pathlib.Path(commands.__file__).read_text(encoding="utf-8") == found, "make python"


def problem(draw):
    """Keywords of a small problem, and the flags that say the same."""
    graph = draw.choice(["florentine", "cycle:6", "star:5", "hypercube:3", "erdos:9,0.5"])
    steps = draw.choice([8, 12, 16])
    given = {"steps": steps, "k": draw.choice([1, 2, 4])}
    if graph.startswith("erdos"):
        given["seed"] = draw.randrange(100)
    given.update(draw.choice([{}, {"mu": 0.5}, {"epsilon": 2, "delta": 1e-6, "adjacency": "replace-one"}, {"mu": 1, "clip": 0.25}]))
    given.update(
        draw.choice(
            [
                {},
                {"strategy": {"strategy": "banded", "bandwidth": 2}},
                {"strategy": "blt"},
                {"optimizer": {"momentum": 0.9}, "learning_rates": [1.0] * (steps - 1) + [0.1]},
                {"gossip": "metropolis", "objective": "max"},
                {"workload": "message", "no_baselines": True},
                {"schema": "min-sep", "b": 2, "strategy": "toeplitz"},
                {"graph_changes": "failures:0.25"},
                {"trust": {"trust": "secldp", "coalitions": 2}},
            ]
        )
    )
    return graph, given


def flags(given, folder):
    words = []
    for name, value in given.items():
        flag = {"steps": "T", "k": "participations", "b": "separation"}.get(name, name.replace("_", "-"))
        if name == "learning_rates":
            path = folder / "learning-rates"
            path.write_text("".join(f"{rate}\n" for rate in value))
            value = path
        if isinstance(value, dict):
            words += [f"--{flag}={of}" if key == name else f"--{flag}={key}={of}" for key, of in value.items()]
        else:
            words.append(f"--{flag}" if value is True else f"--{flag}={value}")
    return words


def bare(directory):
    """The manifest without what differs from run to run."""
    text = (pathlib.Path(directory) / "manifest.json").read_text(encoding="utf-8")
    text, commands = re.subn(r'  "command": \[[^\]]*\],\n', "", text)
    assert commands == 1
    lines = [line for line in text.split("\n") if not line.strip().startswith(('"seconds"', '"peak_bytes"'))]
    return "\n".join(lines)


@real
@pytest.mark.parametrize("seed", range(20))
def test_the_same_manifest_as_the_command(seed, tmp_path):
    graph, given = problem(random.Random(seed))
    plan = mafalda.optimize(graph, **given)
    tool("optimize", f"--graph={graph}", *flags(given, tmp_path), "-q", "-o", str(tmp_path / "out"))
    assert bare(plan.directory) == bare(tmp_path / "out")


@real
def test_labels_and_weights_of_a_graph_are_kept(tmp_path):
    plan = mafalda.optimize(CYCLE, steps=8, k=2)
    assert sorted(plan.nodes) == sorted(CYCLE.nodes)
    weighted = mafalda.optimize(Graph([(1, 2, 0.1), (2, 3, 0.3)]), steps=8, k=2)
    assert weighted.nodes == ["1", "2", "3"] and weighted.W[0, 1] != weighted.W[2, 1]
    directed = mafalda.optimize(Graph([("a", "b"), ("b", "c"), ("c", "a")], directed=True), steps=8, k=2)
    assert directed.neighbours("a") == {"b": 0.5}


@real
def test_a_list_of_edges_is_a_graph():
    plan = mafalda.optimize([("'a\"", "b"), ("b", 3)], steps=8.0, k=2)
    assert plan.nodes == sorted(["'a\"", "b", "3"]) and plan.steps == 8
    assert mafalda.optimize([(1, 2, 0.1), (2, 3, 0.3)], steps=8, k=2).W[0, 1] != 0.5


@real
def test_a_gossip_matrix_is_used_to_the_last_bit():
    w = np.array([[0.5, 0.5, 0], [0.5, 0.1, 0.4], [0, 0.4, 0.6]])
    plan = mafalda.optimize(w, steps=8, k=2)
    assert np.array_equal(plan.W, w) and plan.verify().ok
    sparse = pytest.importorskip("scipy.sparse")
    assert np.array_equal(mafalda.optimize(gossip=sparse.csr_array(w), steps=8, k=2).W, w)


@real
def test_the_gap_of_secret_batches_is_of_the_error_under_the_sampling():
    plan = mafalda.optimize(CYCLE, steps=8, k=2, sampling="poisson", epsilon=4, delta=1e-5)
    error, bound = plan.manifest["error_at_privacy"], plan.manifest["sampling"]["lower_bound"]
    assert plan.gap == pytest.approx(error / bound - 1) and plan.table["above_bound"] == pytest.approx([plan.gap])


@real
@pytest.mark.parametrize("sampling", ["cyclic", "poisson"])
def test_the_level_of_a_plan_is_that_of_its_account_and_its_simulation(sampling):
    plan = mafalda.optimize("cycle:4", steps=8, k=2, epsilon=2, delta=1e-5, sampling=sampling)
    simulated = mafalda.simulate(plan, seeds=1, task={"records": 200}).table
    assert simulated["epsilon"][1:] == pytest.approx([2, 2])
    if sampling == "cyclic":
        table = mafalda.account(plan, attackers="0").table
        assert np.nanmax(table["epsilon"]) == pytest.approx(2)
        assert set(table["victim"]) == set(plan.nodes) and set(table["attacker"]) == {"0"}  # labels, and no numbers
        other = mafalda.account(plan, attackers="0", delta=1e-4).table["epsilon"]
        assert np.nanmax(other) == pytest.approx(plan.spent(8, delta=1e-4).epsilon)


@real
@pytest.mark.parametrize("taking", [{"unit": "silo"}, {"unit": "person", "k": 2}, {"unit": "person:batches=2", "k": 2}], ids=lambda of: of["unit"])
def test_a_plan_is_accounted_for_by_its_own_unit(tmp_path, taking):
    made = mafalda.optimize("cycle:4", steps=8, epsilon=2, delta=1e-5, out=tmp_path / "out", **taking)
    for plan in (made, mafalda.load(tmp_path / "out")):
        assert mafalda.account(plan, trust="eavesdropper").ldp_epsilon == pytest.approx(2)
        assert mafalda.audit(plan, trust="eavesdropper", runs=200).passed
    if taking["unit"] == "silo":
        with pytest.raises(mafalda.ProgramError, match="give unit silo"):
            mafalda.account(plan, unit="record", trust="eavesdropper")


@real
def test_results_are_arrays_tables_and_pictures(tmp_path):
    plan = mafalda.optimize(CYCLE, steps=8, k=2, mu=1, delta=1e-6)
    assert np.allclose(plan.C @ plan.C_inv, np.eye(8)) and plan.lower_bound <= plan.loss <= plan.lower_bound * (1 + plan.gap) * 1.0001
    assert plan.table["method"][0] == "mafalda" and set(plan.baselines) < set(plan.table["method"])
    assert all(picture.lstrip().startswith("<") for picture in plan.figures.values()) and "errors" in plan.figures
    account = mafalda.account(plan, attackers="all", reaction="fixed")
    assert set(account.table["attacker"]) == set(plan.nodes) and account.sigma == plan.noise_std
    assert account["attackers"][0]["algorithm"] == "mf-d-sgd" and "exposure" in account.figures
    single = mafalda.account(plan, attackers=["a b", "é"], reaction="fixed")
    assert single.attacker == "a b,é"
    assert mafalda.verify(plan).ok and mafalda.audit(plan, attacker="é", runs=200).passed
    simulated = mafalda.simulate(plan, seeds=1, task={"records": 200})
    assert simulated.table["mu"][2] == pytest.approx(1) and len(simulated.rows) == 3
    assert [row["method"] for row in simulated.rows] == ["none", "dp-d-sgd", "plan"]  # and no temporary folder
    kept = mafalda.optimize(CYCLE, steps=8, k=2, mu=1, delta=1e-6, out=tmp_path / "kept")
    both = mafalda.simulate(plan, methods=["none", kept, plan, plan], seeds=1, task={"records": 200})
    assert {row["method"] for row in both.rows} == {"none", "kept", "plan", "plan2"}
    page = mafalda.report(plan, account, out=tmp_path / "report.html")
    assert pathlib.Path(page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>") or "<html" in pathlib.Path(page).read_text()
    assert plan._repr_html_().startswith("<iframe") and "<table" in mafalda.epsilon(mu=1, delta=1e-6)._repr_html_()
    assert mafalda.epsilon(mu=1, delta=1e-6).epsilon == pytest.approx(4.8866, abs=1e-4)


@real
def test_averaging_smoothness_and_partial_sharing_are_functions():
    names = Graph([("a", "b"), ("b", "c"), ("c", "a")])
    averaged = mafalda.average(names, protocol="gossip", values={"a": 1, "b": 2.5, "c": -3}, noise_std=2, observer=["a", "b"])
    assert averaged.mean == pytest.approx(0.5 / 3) and "error" in averaged.figures
    assert mafalda.average("exp:4", protocol="dpps", push_sum={"lambda": 0.9, "c_prime": 3.0}, rounds=3)["b"] == 50
    turns = [Graph([("a", "b"), ("b", "c"), ("c", "a")], directed=True), Graph([("a", "c"), ("c", "b"), ("b", "a")], directed=True)]
    assert mafalda.average(push_sum={"sequence": turns}, protocol="dpps", rounds=2).period == 2
    found = mafalda.smoothness(model="linear", data={"data": np.array([[3.0, 4.0, 1.0], [0.0, 1.0, 2.0]]), "target": -1}, rate=0.01)
    assert found.beta == pytest.approx(52) and found.account.startswith("--reaction convex")
    trained = mafalda.partpsp(task={"records": 300, "features": 8}, nodes=4, epochs=1, seeds=1, networks="exp", laplace_b=1, shared=[1, 3], batch=25)
    assert len(trained.cells) == 4 and "sensitivity-exp" in trained.figures
    with pytest.raises(mafalda.MafaldaError, match="relabel_nodes"):
        mafalda.average(CYCLE, values={"a b": 1})
    with pytest.raises(mafalda.MafaldaError, match="a mapping of their labels, not a list"):
        mafalda.average("cycle:3", values=[1, 2, 3])


WRONG = [
    (lambda: mafalda.optimize("florentine", steps=12, k=3, sampling="poisson"), mafalda.ProgramError, "^sampling poisson needs epsilon and delta"),
    (lambda: mafalda.optimize("florentine", steps=12, k="x"), mafalda.ProgramError, r'^invalid argument "x" for k: must be a whole number \(see help\(mafalda.optimize\)\)$'),
    (lambda: mafalda.audit("florentine", steps=4), mafalda.ExportError, "no export in florentine"),
    (lambda: mafalda.audit(graph="florentine", steps=4), mafalda.ProgramError, "Use attacker LABEL"),
    (lambda: mafalda.account(graph="florentine", steps=4), mafalda.ProgramError, "attackers"),
    (lambda: mafalda.optimize("cycle:4", steps=8, k=2, trust="secldp:coalitions=9"), mafalda.ProgramError, "must be 1, 2, or a file of coalitions"),
    (lambda: mafalda.epsilon(mu=1), mafalda.ProgramError, "two of mu, epsilon and delta"),
    (lambda: mafalda.benchmark(workloads="many"), mafalda.ProgramError, "workloads"),
    (lambda: mafalda.advise("cycle:4", steps=8, k=2, epsilon=1, delta=1e-6, records=10), mafalda.ProgramError, "records is for curvature"),
    (lambda: mafalda.optimize("florentine", steps="many"), mafalda.ProgramError, 'invalid argument "many"'),
    (lambda: mafalda.optimize("florentine"), TypeError, "steps"),
    (lambda: mafalda.optimize("florentine", steps=20, k=3), mafalda.ProgramError, "k = 3 does not divide"),
    (lambda: mafalda.optimize("florentine", steps=20, strategy="best"), mafalda.ProgramError, 'best: choose dense'),
    (lambda: mafalda.optimize("nobody", steps=20), mafalda.ProgramError, "nobody"),
    (lambda: mafalda.optimize("florentine", steps=20, participations=4), TypeError, "unexpected keyword"),
    (lambda: mafalda.optimize(3, steps=20), mafalda.MafaldaError, "not a int"),
    (lambda: mafalda.optimize(2 * np.eye(3), steps=20), mafalda.MafaldaError, "rows of W sum to 1"),
    (lambda: mafalda.optimize(np.eye(3) + 1j, steps=20), mafalda.MafaldaError, "real numbers is needed, not of complex128"),
    (lambda: mafalda.optimize(np.array([["a"]]), steps=20), mafalda.MafaldaError, "real numbers is needed"),
    (lambda: mafalda.optimize(np.array([[0.5, 0.5], [np.nan, 1]]), steps=20), mafalda.MafaldaError, "one sums to nan"),
    (lambda: mafalda.optimize(np.full((3, 3), 1 / 3, np.float32), steps=20), mafalda.MafaldaError, "single precision"),
    (lambda: mafalda.optimize(np.array([[1.5, -0.5], [0.5, 0.5]]), steps=20), mafalda.ProgramError, r"^W.npy: .* is -0.5"),
    (lambda: mafalda.optimize([[0.5, 0.5], [0.5, 0.5]], steps=20), mafalda.MafaldaError, "Is this a matrix"),
    (lambda: mafalda.optimize(Graph([("a", "b", "heavy")]), steps=20), mafalda.MafaldaError, "'heavy', which is no number"),
    (lambda: mafalda.optimize("florentine", steps=8.5, k=2), mafalda.ProgramError, 'invalid argument "8.5"'),
    (lambda: mafalda.optimize("florentine", steps=8, k=2, progress=3), TypeError, "None, True, False or a function"),
    (lambda: mafalda.optimize(Graph([("a,b", "c")]), steps=20), mafalda.MafaldaError, "relabel_nodes"),
    (lambda: mafalda.optimize(Graph([("a", "b", 1), ("b", "c")]), steps=20), mafalda.MafaldaError, "give all of them one"),
    (lambda: mafalda.optimize(Graph([("a", "b")], parallel=True), steps=20), mafalda.MafaldaError, "parallel edges"),
    (lambda: mafalda.optimize(Graph([(1, "1")]), steps=20), mafalda.MafaldaError, "same label"),
    (lambda: mafalda.optimize("florentine", steps=20, mu={1: 2}), mafalda.ProgramError, 'invalid argument "1=2"'),
    (lambda: mafalda.account("nowhere", attackers="all"), mafalda.ExportError, "no export in nowhere"),
    (lambda: mafalda.epsilon(mu=-1, delta=1e-6), mafalda.ProgramError, "must be positive"),
]


@real
@pytest.mark.parametrize("wrong, kind, says", WRONG)
def test_errors_are_one_line(wrong, kind, says):
    with pytest.raises(kind, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value) and not re.search(r"(?<![\w/])--?[a-zA-Z]", str(caught.value)), "flags"
    assert kind is not mafalda.ProgramError or caught.value.code == 2


def test_what_the_package_says_names_no_flag():
    """Only words that are for the command line begin with dashes, and what somebody types into a shell is in backticks."""
    for path in sorted(pathlib.Path(mafalda.__file__).parent.glob("*.py")):
        if path.name == "_keywords.py":  # its patterns
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.startswith("--"):
                assert not re.search(r"(?<![\w\[])--[a-zA-Z]", re.sub(r"`mafalda noise [^`]*`", "", node.value)), (path.name, node.value)


@real
def test_notes_and_warnings_name_keywords(tmp_path):
    (tmp_path / "g.edges").write_text("a b\nb c\n")
    plan = mafalda.optimize(tmp_path / "g.edges", steps=8, k=2, out=tmp_path / "out")
    assert plan.verify().ok and "errors" in plan.figures
    loaded = mafalda.load(tmp_path / "out")
    assert "network's file with graph FILE" in loaded.verify().notes[0]
    assert "with graph FILE" in mafalda.plot(loaded).not_drawn["errors"]
    assert keywords.words("optimize", "--T 4, -k 2 -> --no-baselines of 'mafalda account', a/--b, w--x") == "steps 4, k 2 -> no_baselines of 'mafalda.account', a/--b, w--x"


@real
def test_without_pandas_there_is_the_table(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    plan = mafalda.optimize("cycle:4", steps=8, k=2)
    with pytest.raises(mafalda.MafaldaError, match="table has the same columns"):
        plan.to_pandas()
    with pytest.raises(mafalda.MafaldaError, match="table has the same columns"):
        mafalda.account(plan, attackers="0", reaction="fixed").to_pandas()


@real
def test_a_failing_audit_raises_and_says_by_how_much():
    with pytest.raises(mafalda.ProgramError) as caught:
        mafalda.audit(graph="florentine", steps=10, attacker="Medici", noise_scale=0.5)
    assert caught.value.code == 1 and caught.value.result.passed is False


@real
def test_out_keeps_a_result_and_otherwise_it_goes(tmp_path):
    plan = mafalda.optimize("cycle:4", steps=8, k=2, out=tmp_path / "kept")
    gone = mafalda.optimize("cycle:4", steps=8, k=2)
    folder = pathlib.Path(gone.directory)
    assert folder.exists() and (tmp_path / "kept" / "manifest.json").exists()
    del plan, gone
    assert not folder.parent.exists() and (tmp_path / "kept" / "manifest.json").exists()


@real
def test_warnings_of_the_program_are_warnings():
    with pytest.warns(UserWarning, match="not connected") as caught:
        plan = mafalda.optimize(Graph([("a", "b"), ("b", "c"), ("d", "e")]), steps=8, k=2)
    assert caught[0].filename == __file__  # the line that called the package
    assert plan.verify().ok


LONG = """
import signal, mafalda
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where this is started in the background of a shell
def said(doing, fraction):
    print(doing, flush=True)
mafalda.optimize("watts:600,6,0.1", steps=2000, k=20, progress=said)
"""


def environment(tmp_path):
    return {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join([p for p in sys.path if p])}


def begin(tmp_path):
    """A process that optimizes something long, once the program says what it does; and the program's process."""
    python = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path))
    assert python.stdout.readline(), python.stderr.read()
    children = pathlib.Path(f"/proc/{python.pid}/task/{python.pid}/children").read_text().split()
    assert len(children) == 1
    return python, int(children[0])


def until(true):
    """Waits until something holds, a minute at most."""
    for _ in range(3000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it does not come to hold")


def gone(process):
    """Whether a process has ended; a zombie counts as one that has not, unless its parent is init's."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state[0] == "Z" and state[1] == "1"  # a container whose first process does not wait for others


@real
@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="processes are found in /proc")
@pytest.mark.parametrize("which", ["ctrl-c", "python", "program", "both"])
def test_nothing_is_left_of_what_is_killed(which, tmp_path):
    python, child = begin(tmp_path)
    if which == "ctrl-c":
        python.send_signal(signal.SIGINT)
    if which in ("program", "both"):
        os.kill(child, signal.SIGKILL)
    if which in ("python", "both"):
        python.kill()
    _, errors = python.communicate()
    until(lambda: gone(child))
    if which == "ctrl-c":
        assert b"KeyboardInterrupt" in errors
    elif which == "program":
        assert b"ProgramError: mafalda ended without a word, by -9" in errors
    elif which == "both":  # the next process removes the folder
        for folder in tmp_path.iterdir():
            os.utime(folder, (0, 0))
        subprocess.run([sys.executable, "-c", "from mafalda._temporary import Folder; Folder()"], env=environment(tmp_path), check=True)
    until(lambda: not list(tmp_path.iterdir()))


def test_folders_of_the_living_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(temporary.tempfile, "mkdtemp", lambda prefix: _made(tmp_path / f"{prefix}{len(list(tmp_path.iterdir()))}"))
    first = temporary.Folder()
    os.utime(first.path, (0, 0))
    second = temporary.Folder()
    assert os.path.isdir(first.path) and os.path.isdir(second.path)


def _made(path):
    path.mkdir()
    return str(path)


def test_a_program_of_another_version_is_named(tmp_path, monkeypatch):
    stranger = tmp_path / "mafalda"
    stranger.write_text('#!/bin/sh\necho \'{"version":"v9.9.9"}\'\n')
    stranger.chmod(0o755)
    monkeypatch.delenv("MAFALDA", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    monkeypatch.setattr(program, "_built", lambda: {"version": "v1.0.0"})
    with pytest.raises(mafalda.ServerError, match=f"{stranger}, the mafalda on the PATH, has version v9.9.9, and this package is of version v1.0.0"):
        program.find()
    monkeypatch.setattr(program, "_built", lambda: {"version": "v9.9.9"})
    assert program.find() == str(stranger)
