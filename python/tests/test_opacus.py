"""Opacus with the noise of an export."""

import numpy as np
import pytest
from conftest import write

import mafalda

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus import GradSampleModule  # noqa: E402
from opacus.data_loader import DPDataLoader  # noqa: E402

from mafalda.opacus import MafaldaOptimizer  # noqa: E402

cross_entropy = torch.nn.functional.cross_entropy


def made(plan, **options):
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    x, y = torch.randn(12, 5), torch.randint(3, (12,))
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, batch_sampler=plan.sampler(12, node="a"))
    wrapped = GradSampleModule(model)
    return wrapped, x, y, data, loader


def test_the_same_steps_as_without_opacus(out):
    plan = mafalda.load(out)
    wrapped, x, y, _, loader = made(plan)
    theirs = MafaldaOptimizer(
        torch.optim.SGD(wrapped.parameters(), lr=0.1), plan=plan, node="a", seed=1, max_grad_norm=0.5, loader=loader
    )
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    sampler = plan.sampler(12, node="a")
    ours = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", clip=0.5, seed=1, sampler=sampler)
    for t, (a, b) in enumerate(loader):
        theirs.zero_grad()
        cross_entropy(wrapped(a), b).backward()
        theirs.step()
        sampler.batch(t)
        ours.backward(model, cross_entropy, a, b)
        ours.step()
        assert np.allclose(mafalda.flat(wrapped), mafalda.flat(model), atol=1e-5)
    assert theirs.step_number == 12
    assert theirs.state_dict()["mafalda"]["step"] == 12


def test_poisson_loaders(tmp_path, out):
    plan = mafalda.load(out)
    wrapped, _, _, data, loader = made(plan)
    sgd = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    drawn = DPDataLoader.from_data_loader(torch.utils.data.DataLoader(data, batch_size=3))
    with pytest.raises(mafalda.ParticipationError, match="draws its own batches"):
        MafaldaOptimizer(sgd, plan=plan, node="a", seed=1, loader=drawn)
    with pytest.raises(ValueError, match="where do the batches come from"):
        MafaldaOptimizer(sgd, plan=plan, node="a", seed=1)
    privacy = {"epsilon": 2, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0}
    for groups, probability, taken in ((1, 0.25, True), (2, 0.25, False), (1, 0.2, False)):
        secret = mafalda.load(
            write(
                tmp_path / f"p{groups}{probability}",
                "identity",
                privacy=privacy,
                sampling={"scheme": "poisson", "groups": groups, "probability": probability, "rounds": 12 // groups},
            )
        )
        if taken:
            optimizer = MafaldaOptimizer(sgd, plan=secret, node="a", seed=1, loader=drawn, expected_batch_size=3)
            assert optimizer.noise_multiplier == 1
        else:
            with pytest.raises(mafalda.ParticipationError):
                MafaldaOptimizer(sgd, plan=secret, node="a", seed=1, loader=drawn, expected_batch_size=3)


def test_checkpoint_ahead(out):
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    optimizer = MafaldaOptimizer(
        torch.optim.SGD(wrapped.parameters(), lr=0.1), plan=plan, node="a", seed=1, loader=loader
    )
    checkpoint = optimizer.state_dict()
    checkpoint["mafalda"]["step"] = 3
    with pytest.raises(mafalda.StepError):
        optimizer.load_state_dict(checkpoint)


def test_batch_and_row_belong_together(out):
    """A batch that is left out, and one whose gradients were taken twice."""
    plan = mafalda.load(out)
    for fault, says in (("left out", "left out"), ("twice", "6 records")):
        wrapped, _, _, _, loader = made(plan)
        optimizer = MafaldaOptimizer(
            torch.optim.SGD(wrapped.parameters(), lr=0.1), plan=plan, node="a", seed=1, loader=loader
        )
        with pytest.raises(mafalda.ParticipationError, match=says):
            for t, (a, b) in enumerate(loader):
                if fault == "left out" and t == 1:
                    continue
                optimizer.zero_grad()
                for _ in range(2 if fault == "twice" and t == 2 else 1):
                    cross_entropy(wrapped(a), b).backward()
                optimizer.step()
        assert t == 2


def test_batches_in_parts_and_gradients_that_are_not_finite(out):
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    optimizer = MafaldaOptimizer(
        torch.optim.SGD(wrapped.parameters(), lr=0.1), plan=plan, node="a", seed=1, loader=loader
    )
    for a, b in loader:
        a[0, 0] = float("inf")
        for i in (0, 1, 2):
            optimizer.zero_grad()
            optimizer.signal_skip_step(i < 2)
            cross_entropy(wrapped(a[i : i + 1]), b[i : i + 1]).backward()
            optimizer.step()
    assert optimizer.step_number == 12 and np.isfinite(mafalda.flat(wrapped)).all()
