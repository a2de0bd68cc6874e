"""Automatic clipping, clips of groups, and the ranks of one node, against their definitions."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import write
from test_sampler import truncated

import mafalda

torch = pytest.importorskip("torch")

from mafalda import _clipping as clipping  # noqa: E402
from mafalda.torch import Rank  # noqa: E402
from test_torch import cross_entropy, made  # noqa: E402


def gradients_of(model, x, y):
    """A row for every record, float64."""
    rows = []
    for i in range(len(x)):
        found = torch.autograd.grad(cross_entropy(model(x[i : i + 1]), y[i : i + 1]), list(model.parameters()))
        rows.append(torch.cat([g.reshape(-1) for g in found]).double())
    return torch.stack(rows)


def flat(sums):
    return torch.cat([s.reshape(-1) for s in sums])


def grouped(model, first, second, lr=0.1):
    clips = {0: first, 2: second}
    return torch.optim.SGD([{"params": model[i].parameters(), "clip": clip} for i, clip in clips.items()], lr=lr)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_automatic_norms_are_below_the_clip(dtype):
    for size in torch.logspace(-35, 35, 200, dtype=torch.float64):
        g = torch.full((1, 3), size.item(), dtype=dtype)
        (total,) = clipping.clip_and_sum([g], 0.7, None, 0.01)
        assert total.norm() < 0.7
        if size < 1e29:
            norm = g.double().norm().item()
            within = 1e-2 if dtype == torch.bfloat16 else 2e-5
            assert total.norm().item() == pytest.approx(0.7 * norm / (norm + 0.01), rel=within)
    for gamma, clip in ((1e-50, 1.0), (1e-10, 1e30), (1e-320, 1e8)):  # factors beyond single precision
        for scale in (0.0, 1e-45, 1e-38, 1e-20, 1.0):
            total = clipping.clip_and_sum([torch.full((1, 5), scale)], clip, None, gamma)[0]
            assert torch.isfinite(total).all() and total.norm() <= clip
    bad = torch.tensor([[float("nan"), 1.0], [1.0, 0.0]])
    assert torch.isfinite(clipping.clip_and_sum([bad], 1.0, None, 0.01)[0]).all()


def test_automatic_sums_are_the_definition():
    model, x, y = made()
    rows = gradients_of(model, x, y)
    want = (rows * (0.7 / (rows.norm(dim=1) + 0.01))[:, None]).sum(dim=0)
    sums, _ = clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, 0.7, gamma=0.01)
    assert torch.allclose(flat(sums), want, atol=1e-4)


def test_groups_are_clipped_on_their_own():
    model, x, y = made()
    rows = gradients_of(model, x, y)
    want = []
    for part, clip in ((rows[:, :24], 0.06), (rows[:, 24:], 0.08)):
        want.append((part * torch.clamp(clip / part.norm(dim=1), max=1)[:, None]).sum(dim=0))
    clips = clipping.clips_of(grouped(model, 0.06, 0.08), 0.1)
    assert clips == [(2, 0.06), (2, 0.08)]
    sums, _ = clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, clips)
    assert torch.allclose(flat(sums), torch.cat(want), atol=1e-5)
    assert [s.shape for s in sums] == [p.shape for p in model.parameters()]
    for i in range(len(x)):
        one, _ = clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x[i : i + 1], y[i : i + 1], clips)
        assert flat(one).norm() <= 0.1


def test_steps_of_groups_and_automatic(tmp_path):
    """From end to end: the noise is of the whole clip."""
    plan = mafalda.load(write(tmp_path / "out"))
    for options in ({}, {"automatic": 0.01}):
        model, x, y = made()
        before, sampler = mafalda.flat(model).astype(float), plan.sampler(12, node="a")
        private = plan.make_private(grouped(model, 0.6, 0.8), node="a", seed=1, sampler=sampler, **options)
        batch = sampler.batch(0)
        sums, _ = clipping.clipped_sum(
            *(model, private.parameters, cross_entropy, x[batch], y[batch], [(2, 0.6), (2, 0.8)]),
            gamma=options.get("automatic"),
        )
        private.backward(model, cross_entropy, x[batch], y[batch])
        private.step()
        want = before - 0.1 * (flat(sums).numpy() + plan.noise("a", 39, seed=1).row(0)) / 3
        assert np.allclose(mafalda.flat(model), want, atol=1e-6)


def test_what_is_refused(tmp_path):
    plan = mafalda.load(write(tmp_path / "out"))
    model, _, _ = made()
    sampler = plan.sampler(12, node="a")
    for first, second, error, words in (
        (0.7, 0.8, mafalda.ExportError, "1.06301 together"),
        (0.0, 0.8, ValueError, "its own clip"),
        ("a", 0.8, ValueError, "its own clip"),
        (float("inf"), 0.1, ValueError, "its own clip"),
    ):
        with pytest.raises(error, match=words):
            plan.make_private(grouped(model, first, second), node="a", seed=1, sampler=sampler)
    half = torch.optim.SGD([{"params": model[0].parameters(), "clip": 0.5}, {"params": model[2].parameters()}], lr=1)
    with pytest.raises(ValueError, match="or none of them"):
        plan.make_private(half, node="a", seed=1, sampler=sampler)
    sgd = torch.optim.SGD(model.parameters(), lr=1)
    for gamma in (0, -1, float("nan"), float("inf"), "0.1", True):
        with pytest.raises(ValueError, match="automatic is γ"):
            plan.make_private(sgd, node="a", seed=1, sampler=sampler, automatic=gamma)
    for make in (
        lambda: plan.make_private(sgd, node="a", seed=1, sampler=sampler, ranks=True),
        lambda: Rank(sgd, plan, node="a"),
    ):
        with pytest.raises(mafalda.MafaldaError, match="init_process_group"):
            make()
    plan = mafalda.load(truncated(tmp_path / "truncated"))
    padded = plan.sampler(12, seed=3, node="a", pad=True)
    with pytest.raises(mafalda.ParticipationError, match="clipped whole"):
        plan.make_private(torch.optim.SGD(model.parameters(), lr=1), node="a", seed=1, sampler=padded, ranks=True)


RANK = """
import os, sys, torch, mafalda
from mafalda.torch import Rank, part_of
from test_torch import cross_entropy, made

folder, rank, world = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.distributed.init_process_group("gloo", init_method="file://" + folder + "/meet", rank=rank, world_size=world)
plan = mafalda.load(folder + "/out")
model, x, y = made()
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
sampler = plan.sampler(len(x), node="a") if rank == 0 else None
private = Rank(sgd, plan, node="a") if rank else plan.make_private(sgd, node="a", seed=1, sampler=sampler, ranks=True)
for step in range(plan.steps):
    batch = part_of(sampler.batch(step) if rank == 0 else None)
    assert len(batch) in (1, 2)
    private.backward(model, cross_entropy, x[batch], y[batch])
    private.step()
torch.save(mafalda.flat(model), f"{folder}/{rank}.pt")
torch.distributed.barrier()
torch.distributed.destroy_process_group()  # its threads may not outlive the process: gloo would abort it
"""


def test_two_ranks_are_one_node(tmp_path):
    """Two processes of gloo: the steps of one process with the whole batches, one row a step, the same model in
    both."""
    if not torch.distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    plan = mafalda.load(write(tmp_path / "out"))
    model, x, y = made()
    sampler = plan.sampler(len(x), node="a")
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    private = plan.make_private(sgd, node="a", seed=1, sampler=sampler)
    for step in range(plan.steps):
        batch = sampler.batch(step)
        private.backward(model, cross_entropy, x[batch], y[batch])
        private.step()
    package = os.path.dirname(os.path.dirname(mafalda.__file__))
    path = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), package])
    environment = {**os.environ, "PYTHONPATH": path, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-c", RANK, str(tmp_path)]
    ranks = [subprocess.Popen([*words, str(rank), "2"], env=environment) for rank in (0, 1)]
    assert [rank.wait(timeout=300) for rank in ranks] == [0, 0]
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert (first == second).all() and np.allclose(first, mafalda.flat(model), atol=1e-6)
