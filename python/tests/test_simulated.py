"""Simulated rows by their definition: covariances of every class, access in any order, workers, kinds of numbers; and W of all nodes at once."""

import copy
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import REAL, write

import mafalda
from mafalda import _rows as rows, _simulated as simulated

COLUMNS = 100_000
STEPS = 12
PLANS = {  # of the program: a network of six nodes
    "dense": {},
    "banded": {"strategy": "banded"},
    "one band, secret batches": {"sampling": "poisson", "epsilon": 2, "delta": 1e-5, "mu": None, "strategy": "banded:bandwidth=1"},
    "toeplitz": {"strategy": "toeplitz:scale-columns"},
    "banded-inverse": {"strategy": "banded-inverse"},
    "blt": {"strategy": "blt:buffers=3"},
    "comb": {"strategy": "comb:scale-columns,buffers=2"},
    "per node": {"strategy": "per-node"},
    "groups": {"strategy": "groups=2"},
    "shared": {"trust": "secldp"},
    "budgets": {"mu": None, "budgets": "budgets.csv"},
}


@pytest.fixture(scope="module", params=[*PLANS])
def plan(request, tmp_path_factory):
    if REAL is None:
        pytest.skip("the program is not there")
    folder = tmp_path_factory.mktemp("plan")
    (folder / "net.edges").write_text("a b\nb c\nc d\nd a\na c\nd e\ne f\n")
    (folder / "budgets.csv").write_text("node,mu\n" + "".join(f"{node},{1 + i / 4}\n" for i, node in enumerate("abcdef")))
    options = {"k": 3, "mu": 1, **PLANS[request.param]}
    if "budgets" in options:
        options["budgets"] = str(folder / "budgets.csv")
    return mafalda.optimize(folder / "net.edges", steps=STEPS, no_baselines=True, out=folder / "out", **options)


def covariance(plan):
    """Of rows over noise_std of the node, by definition: nodes times steps, squared."""
    n, index = len(plan.nodes), {node: i for i, node in enumerate(plan.nodes)}
    z = np.diag([plan.own_std(node) ** 2 for node in plan.nodes])
    for a, b, std in plan.pairs:  # z_a has what z_b has not
        difference = np.zeros(n)
        difference[index[a]], difference[index[b]] = std, -std
        z += np.outer(difference, difference)
    inverse = np.stack([plan.inverse(node) for node in plan.nodes])
    return np.einsum("uv,uts,vrs->utvr", z, inverse, inverse).reshape(n * STEPS, n * STEPS)


def is_distributed(values, wanted):
    """Whether columns (numbers × columns, independent) have a covariance: every entry within six standard errors.

    An entry of an estimate from N columns has the variance (M_ii M_jj + M_ij²)/N. Beyond six errors are two in 10⁹ of normal
    numbers; the largest test has 2,628 of them.
    """
    count = values.shape[1]
    error = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / count)
    assert (np.abs(values @ values.T / count - wanted) < 6 * error + 1e-7).all()
    assert (np.abs(values.mean(axis=1)) < 6 * np.sqrt(np.diag(wanted) / count)).all()


def test_covariances(plan):
    made = plan.simulated(COLUMNS, seed=5)
    assert made.private is False and "protects nothing" in repr(made)
    stds = np.array([plan.level(node).noise_std for node in plan.nodes])
    values = np.stack([made.rows(t).astype(float) / stds[:, None] for t in range(STEPS)], axis=1)
    assert values.shape == (len(plan.nodes), STEPS, COLUMNS)
    is_distributed(values.reshape(-1, COLUMNS), covariance(plan))


def test_any_order_and_any_worker(plan, monkeypatch):
    """In order, out of order, a node alone, without memory for earlier rows, by other threads: the same bits."""
    monkeypatch.setattr(rows.Host, "chunk", 100)
    dim = 250  # three chunks, the last not whole
    ordered = [plan.simulated(dim, seed=3).rows(t) for t in range(STEPS)]
    made = plan.simulated(dim, seed=3)
    assert all((made.rows(t) == ordered[t]).all() for t in range(STEPS))
    draw = np.random.default_rng(1)
    for bounds in ({}, {"memory": 0}, {"memory": 3000, "threads": 1}, {"threads": 3}):
        worker = plan.simulated(dim, seed=3, **bounds)
        for t in draw.permutation(STEPS):
            node = plan.nodes[draw.integers(len(plan.nodes))]
            assert (worker.row(node, int(t)) == ordered[t][plan.index(node)]).all()
            assert (worker.rows(int(t)) == ordered[t]).all()
    halves = [plan.simulated(dim, seed=3), plan.simulated(dim, seed=3)]  # two workers have every other node each
    for t in (0, 5, 6, STEPS - 1):
        for i, node in enumerate(plan.nodes):
            assert (halves[i % 2].row(node, t) == ordered[t][i]).all()
    assert not (plan.simulated(dim, seed=4).rows(0) == ordered[0]).any()


def test_shared_noise_cancels_between_workers(plan):
    """Two workers with a part of the nodes each go forward, back and anywhere: sums over neighbours, by definition."""
    n, steps = len(plan.nodes), (0, 7, 8, 3, 11)
    workers = [plan.simulated(COLUMNS, seed=8) for _ in range(2)]
    values = np.empty((n, len(steps), COLUMNS))
    for i, node in enumerate(plan.nodes):
        for t in draw_order(steps, i):
            values[i, steps.index(t)] = workers[i % 2].row(node, t) / plan.level(node).noise_std
    z = covariance(plan).reshape(n, STEPS, n, STEPS)[:, steps][:, :, :, steps]
    is_distributed(values.reshape(-1, COLUMNS), z.reshape(n * len(steps), -1))
    for pair in plan.pairs:
        both = [plan.index(pair.a), plan.index(pair.b)]
        is_distributed(values[both].sum(axis=0), z[both][:, :, both].sum(axis=(0, 2)))


def draw_order(steps, i):
    """Forward, backward, or in between."""
    return (steps, steps[::-1], sorted(steps))[i % 3]


def test_small_models_come_together(plan):
    """Many nodes in one chunk: the rows that each of them has alone."""
    made = plan.simulated(7, seed=3)
    assert all((made.rows(t)[i] == plan.simulated(7, seed=3).row(node, t)).all() for t in (0, 9, 3) for i, node in enumerate(plan.nodes))


def test_numbers_of_torch_have_the_same_distribution(plan):
    """What other devices than processors use, here on a processor; seeds of torch have 32 bits there."""
    torch = pytest.importorskip("torch")
    made = rows.Rows(plan, COLUMNS, 6, rows.Device(False, torch.device("cpu")), lambda _: 1.0)
    values = [torch.empty(len(plan.nodes), COLUMNS) for _ in range(STEPS)]
    for t, out in enumerate(values):
        made.put(plan.nodes, t, out)
    is_distributed(torch.stack(values, dim=1).reshape(-1, COLUMNS).double().numpy(), covariance(plan))
    again = torch.empty(1, COLUMNS)
    rows.Rows(plan, COLUMNS, 6, rows.Device(False, torch.device("cpu")), lambda _: 1.0, 0).put(plan.nodes[1:2], 7, again)
    assert torch.equal(again[0], values[7][1])


def test_memory_is_what_was_said(plan, monkeypatch):
    """What is kept of earlier rows, counted, stays within memory and within what is booked for it."""
    monkeypatch.setattr(rows.Host, "chunk", 1000)
    for memory in (0, 100_000, 1 << 30):
        made = plan.simulated(3000, seed=1, memory=memory)
        for t in range(STEPS):
            made.rows(t)
        arrays = {}
        for columns in made._kept.values():
            frame = columns._place[1].gi_frame.f_locals if columns._place else {"past": columns._past}
            collect(frame, arrays)
        held = sum(arrays.values())
        booked = memory - made.room
        largest = max([len(c._sources) * 4 * 1000 for c in made._kept.values()], default=0)
        assert booked <= memory and held <= booked + 3 * largest * len(made._kept)  # and the arrays of the row itself


def collect(value, arrays):
    if isinstance(value, np.ndarray):
        base = value if value.base is None else value.base
        if base.ndim == 2 and base.dtype == np.float32 and base.shape[1] > STEPS:
            arrays[id(base)] = base.nbytes
    elif isinstance(value, dict):
        for x in value.values():
            collect(x, arrays)
    elif isinstance(value, (list, tuple)):
        for x in value:
            collect(x, arrays)
    elif hasattr(value, "gi_frame") and value.gi_frame is not None:
        collect(value.gi_frame.f_locals, arrays)


def test_columns_are_independent(tmp_path):
    """Neighbours, the ends of chunks, and the same place of different chunks, nodes and steps."""
    plan = mafalda.load(write(tmp_path / "out", kind="identity"))
    z = plan.simulated(4 * rows.Host.chunk, seed=9, noise_std=1.0).rows(3).astype(float) / plan.inverse()[3, 3]
    count = rows.Host.chunk
    chunks = z.reshape(-1, count)
    is_distributed(chunks, np.eye(len(chunks)))
    for lag in (1, 2, 3):
        assert abs((z[0, lag:] * z[0, :-lag]).mean()) < 6 / np.sqrt(4 * count)
    x = np.sort(z.ravel())
    erf = np.vectorize(__import__("math").erf)
    distance = np.abs(0.5 * (1 + erf(x[::97] / 2**0.5)) - (np.arange(len(x))[::97] + 0.5) / len(x)).max()
    assert distance < 3 / np.sqrt(len(x))  # of Kolmogorov: beyond 3 are 3 in 10⁸


def test_types(tmp_path):
    plan = mafalda.load(write(tmp_path / "out", kind="banded"))
    single = plan.simulated(1000, seed=1).rows(5)
    assert single.dtype == np.float32 and plan.simulated(np.zeros((10, 100)), seed=1).rows(0).dtype == np.float64
    half = plan.simulated(1000, seed=1, dtype="float16").rows(5)
    assert half.dtype == np.float16 and (half == single.astype(np.float16)).all()  # summed in single precision
    with pytest.raises(ValueError, match="float64, float32, float16, and with torch bfloat16"):
        plan.simulated(10, seed=1, dtype="bfloat16")
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(90, 10), torch.nn.Linear(9, 9))
    made = plan.simulated(model, seed=1)
    assert made.dim == 1000 and made.rows(5).dtype == torch.float32 and (made.rows(5).numpy() == single).all()
    generator = torch.Generator().manual_seed(1)
    assert (plan.simulated(1000, generator=generator, device="cpu").row("a", 5).numpy() == single[0]).all()
    rounded = plan.simulated(model, seed=1, dtype=torch.bfloat16).rows(5)
    assert torch.equal(rounded, torch.from_numpy(single).bfloat16())
    assert plan.simulated(model.double(), seed=1).row("b", 0).dtype == torch.float64
    with pytest.raises(mafalda.MafaldaError, match="rows of one dtype"):
        plan.simulated([torch.zeros(2), torch.zeros(2).double()], seed=1)
    with pytest.raises(mafalda.MafaldaError, match="say device="):
        plan.simulated([torch.zeros(2), torch.zeros(2, device="meta")], seed=1)
    for device in ("cuda:99", "meta"):
        with pytest.raises(mafalda.MafaldaError, match=f"'{device}' is none of this torch"):
            plan.simulated(2, seed=1, device=device)


def test_what_is_refused(tmp_path):
    plan = mafalda.load(write(tmp_path / "out"))
    for like in (0, True, [], None, 2.0):
        with pytest.raises(ValueError, match="parameters of a model"):
            plan.simulated(like, seed=1)
    for like in ({"w": np.zeros(3)}, [1, 2], "model"):
        with pytest.raises(ValueError, match="of a state dict, its values"):
            plan.simulated(like, seed=1)
    for wrong in ({"memory": "4GB"}, {"memory": -1}, {"memory": [1]}, {"threads": 0}, {"threads": True}):
        with pytest.raises(ValueError, match=f"{[*wrong][0]} is a number, at least"):
            plan.simulated(3, seed=1, **wrong)
    for options in ({}, {"seed": 1, "generator": 1}, {"generator": 3}):
        with pytest.raises(ValueError, match="exactly one of seed"):
            plan.simulated(3, **options)
    for seed in (-1, 1 << 64, True, "one"):
        with pytest.raises(ValueError, match="2\\^64"):
            plan.simulated(3, seed=seed)
    for dtype, name in ((np.int32, "int32"), ("bogus", "bogus"), (3, "3")):
        with pytest.raises(ValueError, match=f"dtype={name}: float64, float32"):
            plan.simulated(3, seed=1, dtype=dtype)
    for std in ("2", True, [2.0]):
        for ask in (plan.simulated, lambda *_, **options: plan.noise("a", 3, **options)):
            with pytest.raises(ValueError, match="noise_std is a number, not"):
                ask(3, seed=1, noise_std=std)
    with pytest.raises(mafalda.ExportError, match="noise level"):
        plan.simulated(3, seed=1, noise_std=0.5).rows(0)
    made = plan.simulated(3, seed=1)
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(mafalda.MafaldaError, match="rows are not copied: load the plan"):
            copied(made)
    for step in (-1, STEPS, 1.5, True):
        with pytest.raises(mafalda.StepError, match="steps 0 to 11"):
            made.rows(step)
    with pytest.raises(mafalda.ExportError, match="no node 'z'"):
        made.row("z", 0)
    for options in ({"seed": made}, {"state": made}, {"seed": 1, "noise": made}):
        with pytest.raises(mafalda.MafaldaError, match="protect nothing"):
            plan.noise("a", 3, **options)


def test_make_private_refuses_them(tmp_path):
    torch = pytest.importorskip("torch")
    plan = mafalda.load(write(tmp_path / "out"))
    model = torch.nn.Linear(2, 1)
    for name in ("seed", "state", "noise"):
        with pytest.raises(mafalda.MafaldaError, match="protect nothing"):
            sgd = torch.optim.SGD(model.parameters(), lr=1)
            plan.make_private(sgd, node="a", sampler=plan.sampler(20, node="a"), **{name: plan.simulated(model, seed=1)})


@pytest.mark.parametrize("alone", [True, False])
def test_an_interruption_leaves_no_row_half_made(plan, alone, monkeypatch):
    """Parts of Z are interrupted, of one thread or two: what is asked for again is what it would have been."""
    monkeypatch.setattr(rows.Host, "chunk", 4)
    wanted = [plan.simulated(10, seed=1).rows(t) for t in range(STEPS)]
    made, whole, count = plan.simulated(10, seed=1, threads=1 if alone else 2), rows.Host.normals, 0

    def stopped(*args):
        nonlocal count
        count += 1
        if count % 31 == 0 and count < 1000:
            raise KeyboardInterrupt
        return whole(*args)

    monkeypatch.setattr(rows.Host, "normals", stopped)
    for t in (0, 1, 2, 7, 3, *range(3, STEPS), 5):
        for _ in range(100):
            try:
                row = made.rows(t)
                break
            except KeyboardInterrupt:
                pass
        assert (row == wanted[t]).all()
    assert count > 62


def test_threads_take_turns(tmp_path):
    plan = mafalda.load(write(tmp_path / "out", kind="banded"))
    wanted = [plan.simulated(50, seed=1).rows(t) for t in range(STEPS)]
    made = plan.simulated(50, seed=1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(made.rows, [t for _ in range(5) for t in range(STEPS)]))
    assert all((x == wanted[i % STEPS]).all() for i, x in enumerate(found))


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_without_a_network(tmp_path):
    plan = mafalda.optimize(workload="prefix", steps=STEPS, k=3, mu=1, strategy="blt", no_baselines=True, out=tmp_path / "out")
    made = plan.simulated(100, seed=1)
    assert made.rows(4).shape == (1, 100) and (made.row(None, 4) == made.rows(4)[0]).all()


def test_mix_all(tmp_path, monkeypatch):
    """W·stacked, and what plan.mix makes of each node; dense and sparse."""
    w = np.array([[0.5, 0.5, 0, 0], [0.25, 0.25, 0.5, 0], [0, 0.5, 0.25, 0.25], [0, 0, 0.25, 0.75]])
    plan = mafalda.load(write(tmp_path / "out", w=w))
    models = np.random.default_rng(1).normal(size=(4, 3, 5))
    wanted = np.einsum("uv,vij->uij", w, models)
    kinds = [0, 1024] if __import__("importlib.util").util.find_spec("scipy") else [1024]
    try:
        import torch
    except ImportError:
        torch = None
    for dense in (0, 1024):
        monkeypatch.setattr("mafalda._gossip.DENSE", dense)
        for together in (1, 8, 1 << 24):
            monkeypatch.setattr("mafalda._gossip.TOGETHER", together)
            fresh = mafalda.load(plan.directory)
            if dense in kinds:
                assert np.allclose(fresh.mix_all(models), wanted, atol=1e-15) and fresh.mix_all(models).shape == models.shape
                assert np.allclose(fresh.mix_all(models.astype(np.float32)), wanted, atol=1e-6)
                assert np.allclose(fresh.mix_all(models.astype(np.float16)), wanted, atol=3e-3)
            if torch is not None:
                for dtype, error in ((torch.float64, 1e-15), (torch.float32, 1e-6), (torch.bfloat16, 2e-2)):
                    mixed = fresh.mix_all(torch.from_numpy(models).to(dtype))
                    assert mixed.dtype == dtype and np.allclose(mixed.double().numpy(), wanted, atol=error)
    one = plan.mix(models[1].ravel(), {"a": models[0].ravel(), "c": models[2].ravel()}, node="b")
    assert np.allclose(plan.mix_all(models)[1].ravel(), one, atol=1e-15)
    for step in (-1, 0.0, True, "x"):
        with pytest.raises(mafalda.StepError, match="steps are 0, 1, 2"):
            plan.mix_all(models, step)
    for stacked in (models[:3], models.astype(int), 3, [1, 2]):
        with pytest.raises(mafalda.ExportError, match="a row for each of 4 nodes"):
            plan.mix_all(stacked)


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_mix_all_of_networks_that_take_turns(tmp_path):
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("scipy")
    turns = [networkx.cycle_graph(6), networkx.path_graph(6)]
    plan = mafalda.optimize(turns[0], steps=4, k=2, mu=1, graph_changes={"sequence": turns}, no_baselines=True, out=tmp_path / "out")
    models = np.random.default_rng(1).normal(size=(6, 5))
    for step in range(4):
        mixed = plan.mix_all(models, step)
        for i, node in enumerate(plan.nodes):
            others = {v: models[plan.index(v)] for v in plan.neighbours(node, step)}
            assert np.allclose(mixed[i], plan.mix(models[i], others, node=node, step=step), atol=1e-15)
    for step in (-1, 1.0, True, "0"):
        with pytest.raises(mafalda.StepError, match="steps are 0, 1, 2"):
            plan.mix_all(models, step)
    assert (plan.mix_all(models, np.int64(5)) == plan.mix_all(models, 1)).all()
    with pytest.raises(mafalda.ExportError, match="say step"):
        plan.mix_all(models)
