"""What has been spent, and a node's own budget: of the real program alone, which computes it."""

import os
import shutil
import threading

import numpy as np
import pytest
from conftest import REAL

import mafalda

pytestmark = pytest.mark.skipif(REAL is None, reason="the program is not there")


@pytest.fixture
def plan(tmp_path):
    return mafalda.optimize("path:3", steps=12, k=3, epsilon=2, delta=1e-6, no_baselines=True, out=tmp_path / "out", binary=REAL)


def test_spent_is_of_the_leading_block(plan, monkeypatch):
    monkeypatch.setenv("MAFALDA", REAL)
    c = np.array(plan.C)
    before = 0.0
    for t in range(13):
        x = c[:t, :t].T @ c[:t, :t]
        bound = max((np.abs(x[i::4, i::4]).sum() for i in range(min(t, 4))), default=0.0)  # no less than what is spent
        least = max((x[i::4, i::4].sum() for i in range(min(t, 4))), default=0.0)  # equal contributions
        spent = plan.spent(t)
        assert least**0.5 <= spent.mu * plan.noise_std * (1 + 1e-12) and spent.mu * plan.noise_std <= bound**0.5 * (1 + 1e-6)
        assert before <= spent.epsilon * (1 + 1e-6) and spent.epsilon <= 2 and spent.delta == 1e-6
        before = spent.epsilon
    assert 2 - 1e-9 < spent.epsilon <= 2 and plan.spent(12, delta=1e-3).epsilon < 2
    with pytest.raises(mafalda.ProgramError, match="steps 0 to 12"):
        plan.spent(13)


def test_a_budget_ends_the_run(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("MAFALDA", REAL)
    stop = (plan.spent(6).epsilon + plan.spent(7).epsilon) / 2
    end = next(t for t in range(13) if plan.spent(t + 1).epsilon > stop)
    noise = plan.noise("0", 50, state=tmp_path / "state", stop_at=stop)
    assert noise.end == end and noise.spent["epsilon"] == 0
    for t in range(end):
        noise.row()
        assert noise.spent["epsilon"] == plan.spent(t + 1).epsilon <= stop
    for ask in (noise.row, noise.next_step, noise.skip, lambda: noise.row(end)):
        with pytest.raises(mafalda.BudgetError):
            ask()
    noise._server._process.kill()  # a crash
    noise._server._process.wait()
    noise.close()
    shutil.copy(tmp_path / "state", tmp_path / "copy")
    for state in ("state", "copy"):
        with plan.noise("0", 50, state=tmp_path / state, new=False) as again:
            with pytest.raises(mafalda.BudgetError):
                again.row(end)
    with pytest.raises(mafalda.ServerError, match="smaller budget"):
        plan.noise("0", 50, state=tmp_path / "state", stop_at=1.99)
    with pytest.raises(TypeError, match="stop_at"):
        plan.noise("0", 50, seed=1, stop_at=1.0)


def test_a_server_that_was_left_behind_learns_the_budget(plan, tmp_path, monkeypatch):
    monkeypatch.setenv("MAFALDA", REAL)
    first = plan.noise("0", 50, state=tmp_path / "state")
    first.row()
    threading.Timer(0.5, first._server._process.stdin.close).start()  # as if its process had been killed
    stop = plan.spent(2).epsilon * 1.0001
    with plan.noise("0", 50, state=tmp_path / "state", stop_at=stop) as again:
        assert again.end < 12 and again.next == 1
        with pytest.raises(mafalda.BudgetError):
            while True:
                again.row()
        assert again.spent["epsilon"] <= stop


def test_checkpoints_say_what_is_spent(plan, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("MAFALDA", REAL)
    model = torch.nn.Linear(3, 1)
    data = torch.randn(8, 3), torch.randn(8, 1)
    sampler = plan.sampler(8, node="0", state=tmp_path / "batches")
    stop = plan.spent(2).epsilon * 1.0001
    private = plan.make_private(
        torch.optim.SGD(model.parameters(), lr=0.1), node="0", state=tmp_path / "noise", sampler=sampler, stop_at=stop
    )
    assert private.state_dict()["spent"]["steps"] == 0
    steps = 0
    with pytest.raises(mafalda.BudgetError):
        for batch in sampler:
            private.backward(model, torch.nn.functional.mse_loss, data[0][batch], data[1][batch])
            private.step()
            steps += 1
            assert private.state_dict()["spent"]["epsilon"] == plan.spent(steps).epsilon
    assert steps == private.noise.end >= 2 and os.path.exists(tmp_path / "noise")
    private.load_state_dict(private.state_dict())
    private.close()
    assert private.state_dict()["spent"] is None
