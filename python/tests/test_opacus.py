"""Opacus with the noise of an export."""

import copy
import pickle

import numpy as np
import pytest
from conftest import interrupt, write
from test_sampler import truncated

import mafalda

torch = pytest.importorskip("torch")
pytest.importorskip("opacus")

from opacus import GradSampleModule  # noqa: E402
from opacus.data_loader import DPDataLoader  # noqa: E402
from opacus.schedulers import ExponentialGradClip  # noqa: E402
from opacus.utils.batch_memory_manager import BatchMemoryManager  # noqa: E402

from mafalda import _clipping as clipping  # noqa: E402
from mafalda.opacus import MafaldaOptimizer  # noqa: E402

cross_entropy = torch.nn.functional.cross_entropy


def made(plan):
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    x, y = torch.randn(12, 5), torch.randint(3, (12,))
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, batch_sampler=plan.sampler(12, node="a"))
    wrapped = GradSampleModule(model)
    return wrapped, x, y, data, loader


def private(plan, wrapped, loader, lr=0.1, **options):
    sgd = torch.optim.SGD(wrapped.parameters(), lr=lr)
    return MafaldaOptimizer(sgd, module=wrapped, plan=plan, node="a", **{"seed": 1, "loader": loader, **options})


def test_the_same_steps_as_without_opacus(out):
    plan = mafalda.load(out)
    wrapped, x, y, _, loader = made(plan)
    theirs = private(plan, wrapped, loader, max_grad_norm=0.5)
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


def test_the_clip_and_the_loss_stay_what_the_noise_is_for(tmp_path, out):
    plan = mafalda.load(out)
    wrapped, x, y, _, loader = made(plan)
    optimizer = private(plan, wrapped, loader)
    schedule = ExponentialGradClip(optimizer, gamma=2.0)
    for t, (a, b) in enumerate(loader):
        cross_entropy(wrapped(a), b).backward()
        if t:
            with pytest.raises(mafalda.ExportError, match="max_grad_norm is 2.0 now, and the noise is for gradients of norm 1"):
                optimizer.step()
            break
        optimizer.step()
        schedule.step()
    assert optimizer.step_number == 1
    summed = GradSampleModule(torch.nn.Linear(5, 3), loss_reduction="sum")
    with pytest.raises(mafalda.ExportError, match="loss_reduction is 'mean' here, and 'sum' in the GradSampleModule"):
        private(plan, summed, loader)
    plan = mafalda.load(truncated(tmp_path / "truncated"))
    with pytest.raises(mafalda.ParticipationError, match="tell rows of padding from records"):
        private(plan, wrapped, None, sampler=plan.sampler(12, node="a", seed=3, pad=True))


class HasARate(torch.utils.data.Sampler):
    """Fixed batches, with the attribute of a Poisson sampler."""

    sample_rate = 0.25

    def __iter__(self):
        return iter([[0, 1, 2]] * 12)

    def __len__(self):
        return 12


def test_poisson_loaders(tmp_path):
    """Batches of Poisson exports are drawn by the package: torch's generators are no secret, and a rate is an attribute."""
    privacy = {"epsilon": 2, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0}
    sampling = {"scheme": "poisson", "groups": 1, "probability": 0.25, "rounds": 12}
    plan = mafalda.load(write(tmp_path / "out", "identity", privacy=privacy, sampling=sampling))
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    data = torch.utils.data.TensorDataset(torch.randn(12, 5), torch.randint(3, (12,)))
    wrapped = GradSampleModule(model)
    known = torch.Generator().manual_seed(1)
    for generator in (None, known):
        drawn = DPDataLoader.from_data_loader(torch.utils.data.DataLoader(data, batch_size=3), generator=generator)
        with pytest.raises(mafalda.ParticipationError, match="draws its own batches .UniformWithReplacementSampler"):
            private(plan, wrapped, drawn, expected_batch_size=3)
    rated = torch.utils.data.DataLoader(data, batch_sampler=HasARate(None))
    with pytest.raises(mafalda.ParticipationError, match="draws its own batches .HasARate"):
        private(plan, wrapped, rated, expected_batch_size=3)
    with pytest.raises(mafalda.ParticipationError, match="where do the batches come from"):
        private(plan, wrapped, None, expected_batch_size=3)
    sampler = plan.sampler(12, node="a", seed=1)
    optimizer = private(plan, wrapped, None, sampler=sampler)
    for t, batch in sampler.items():
        optimizer.zero_grad()
        a, b = (x[batch] for x in data.tensors)
        (cross_entropy(wrapped(a), b, reduction="sum") / max(len(batch), 1)).backward()
        optimizer.step()
        assert optimizer.step_number == t + 1
    assert t == 11


def test_checkpoint_ahead(out):
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    optimizer = private(plan, wrapped, loader)
    checkpoint = optimizer.state_dict()
    checkpoint["mafalda"]["step"] = 3
    with pytest.raises(mafalda.StepError):
        optimizer.load_state_dict(checkpoint)


def test_batch_and_row_belong_together(out):
    """A batch that is left out, and one whose gradients were taken twice."""
    plan = mafalda.load(out)
    for fault, says in (("left out", "left out"), ("twice", "6 records")):
        wrapped, _, _, _, loader = made(plan)
        optimizer = private(plan, wrapped, loader)
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
    optimizer = private(plan, wrapped, loader)
    for a, b in loader:
        a[0, 0] = float("inf")
        for i in (0, 1, 2):
            optimizer.zero_grad()
            optimizer.signal_skip_step(i < 2)
            cross_entropy(wrapped(a[i : i + 1]), b[i : i + 1]).backward()
            optimizer.step()
    assert optimizer.step_number == 12 and np.isfinite(mafalda.flat(wrapped)).all()


def test_the_wrapped_optimizer_makes_no_step_of_its_own(out, monkeypatch):
    """A checkpoint of the inner optimizer, its step, a closure, a scaler: what goes around the noise is refused."""
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    optimizer = private(plan, wrapped, loader)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # older scalers are for CUDA alone
    new = hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler")
    scaler = torch.amp.GradScaler("cpu") if new else torch.cuda.amp.GradScaler()
    a, b = next(iter(loader))
    before = mafalda.flat(wrapped)
    scaler._lazy_init_scale_growth_tracker(torch.device("cpu"))
    loss = cross_entropy(wrapped(a), b)
    (scaler.scale(loss) if new else loss).backward()
    for attempt, says in (
        (optimizer.original_optimizer.step, "without clipping and noise"),
        (lambda: scaler.step(optimizer), "GradScaler skips steps"),
        (lambda: optimizer.load_state_dict(optimizer.original_optimizer.state_dict()), "no checkpoint of a private"),
    ):
        with pytest.raises(mafalda.MafaldaError, match=says):
            attempt()
    with pytest.raises(ValueError, match="closures"):
        optimizer.step(lambda: 0.0)
    assert (mafalda.flat(wrapped) == before).all() and optimizer.step_number == 0


@pytest.mark.parametrize("how", ["accumulated", "virtual steps", "with workers"])
def test_several_batches_under_one_row(out, how):
    """An export for ε = 4 gave 9.3 to 22.8 this way."""
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    if how == "with workers":
        loader = torch.utils.data.DataLoader(loader.dataset, batch_sampler=loader.batch_sampler, num_workers=1)
    optimizer = private(plan, wrapped, loader)
    optimizer.zero_grad()
    with pytest.raises(mafalda.ParticipationError, match="several batches|6 records"):
        for i, (a, b) in enumerate(loader):
            cross_entropy(wrapped(a), b).backward()
            if how == "virtual steps":
                optimizer.signal_skip_step(i % 2 == 0)
                optimizer.step()
                optimizer.zero_grad()
            elif i % 2:
                optimizer.step()
    assert i == 1 and optimizer.step_number == 0
    assert all(p.grad is None and p.summed_grad is None for p in wrapped.parameters())


def with_layer(plan, layer):
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), layer, torch.nn.Linear(4, 3))
    data = torch.utils.data.TensorDataset(torch.randn(12, 5), torch.randint(3, (12,)))
    loader = torch.utils.data.DataLoader(data, batch_sampler=plan.sampler(12, node="a"))
    return GradSampleModule(model), loader


def test_gradients_that_depend_on_other_records(out):
    """Batch normalization without running statistics passes Opacus's own check of the model."""
    plan = mafalda.load(out)
    layer = torch.nn.BatchNorm1d(4, affine=False, track_running_stats=False)
    wrapped, loader = with_layer(plan, layer)
    with pytest.raises(mafalda.ExportError, match="'_module.1' normalizes over a batch"):
        private(plan, wrapped, loader)
    layer.eval()  # without statistics it normalizes over the batch in eval mode, too
    with pytest.raises(mafalda.ExportError, match="'_module.1' normalizes over a batch"):
        private(plan, wrapped, loader)
    private(plan, *with_layer(plan, torch.nn.GroupNorm(2, 4)))


def test_what_is_trained_stays(out):
    """A part that is frozen and another one that is thawed in its place would have a gradient without noise."""
    plan = mafalda.load(out)
    wrapped, x, y, _, loader = made(plan)
    optimizer = private(plan, wrapped, loader)
    a, b = next(iter(loader))
    weight = next(wrapped.parameters())
    cross_entropy(wrapped(a), b).backward()
    weight.requires_grad_(False)
    before = weight.clone()
    with pytest.raises(mafalda.ExportError, match="frozen or thawed"):
        optimizer.step()
    assert torch.equal(weight, before) and optimizer.step_number == 0


def test_a_raw_step_before_the_first_private_one(out):
    """Parameters are watched from the first forward pass on."""
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    optimizer = private(plan, wrapped, loader)
    other = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    a, b = next(iter(loader))
    cross_entropy(wrapped(a), b).backward()
    other.step()
    with pytest.raises(mafalda.MafaldaError, match="was changed, and not by a private step"):
        optimizer.step()


def test_no_copies(out):
    """A copy that was refused half-way broke the steps of every other optimizer of the class."""
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)
    optimizer = private(plan, wrapped, loader)
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(mafalda.ProcessError):
            copied(optimizer)
    a, b = next(iter(loader))
    cross_entropy(wrapped(a), b).backward()
    optimizer.step()
    assert optimizer.step_number == 1


@pytest.mark.parametrize("clear", ["before", "after"])
def test_batches_cut_by_opacus(out, clear):
    """BatchMemoryManager cuts one batch into several: the same steps as without."""
    plan = mafalda.load(out)
    whole, _, _, _, loader = made(plan)
    optimizer = private(plan, whole, loader)
    for a, b in loader:
        optimizer.zero_grad()
        cross_entropy(whole(a), b).backward()
        optimizer.step()
    wrapped, _, _, _, loader = made(plan)
    cut = private(plan, wrapped, loader)
    with BatchMemoryManager(data_loader=loader, max_physical_batch_size=2, optimizer=cut) as parts:
        for i, (a, b) in enumerate(parts):
            assert len(a) <= 2
            if clear == "before":
                cut.zero_grad()
            cross_entropy(wrapped(a), b).backward()
            cut.step()
            if clear == "after":
                cut.zero_grad()
    assert i == 23 and cut.step_number == 12
    assert np.allclose(mafalda.flat(whole), mafalda.flat(wrapped), atol=1e-5)


def test_a_part_that_another_optimizer_trains(out):
    plan = mafalda.load(out)
    torch.manual_seed(0)
    wrapped = GradSampleModule(torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)))
    x, y = torch.randn(12, 5), torch.randint(3, (12,))
    body, head = list(wrapped.parameters())[:2], list(wrapped.parameters())[2:]
    with pytest.raises(mafalda.ExportError, match=r"without noise \('_module.2.weight'"):
        MafaldaOptimizer(
            torch.optim.SGD(body, lr=0.1), module=wrapped, plan=plan, node="a", seed=1, sampler=plan.sampler(12, node="a")
        )
    sampler = plan.sampler(12, node="a")
    optimizer = private(plan, wrapped, None, sampler=sampler)
    other = torch.optim.SGD(head, lr=0.1)
    with pytest.raises(mafalda.MafaldaError, match="was changed, and not by a private step"):
        for t, batch in sampler.items():
            optimizer.zero_grad()
            cross_entropy(wrapped(x[batch]), y[batch]).backward()
            optimizer.step()
            plan.mix(wrapped, {}, node="a")
            if t == 2:
                cross_entropy(wrapped(x[batch]), y[batch]).backward()
                other.step()
    assert t == 3


def test_replicas(out):
    plan = mafalda.load(out)
    wrapped, _, _, _, loader = made(plan)

    class DistributedDataParallel(torch.nn.Module):  # torch's needs a group of processes
        def __init__(self, module):
            super().__init__()
            self.module = module

    with pytest.raises(mafalda.MafaldaError, match="every replica"):
        private(plan, DistributedDataParallel(wrapped), loader)


def test_going_on(tmp_path, out, program):
    """close, skip_to, and a checkpoint that is older than the noise, as with the native optimizer."""
    plan = mafalda.load(out)

    def opened():
        wrapped, x, y, _, _ = made(plan)
        sampler = plan.sampler(12, node="a", state=tmp_path / "batches")
        return wrapped, x, y, private(plan, wrapped, None, sampler=sampler, seed=None, state=tmp_path / "noise", binary=program)

    def steps(wrapped, x, y, optimizer, count):
        for t in range(optimizer.step_number, optimizer.step_number + count):
            batch = optimizer.sampler.batch(t)
            optimizer.zero_grad()
            cross_entropy(wrapped(x[batch]), y[batch]).backward()
            optimizer.step()
        return optimizer

    first = steps(*opened(), 2)
    checkpoint = first.state_dict()
    said = {"step": 2, "export": plan.hash, "node": "a", "participation": "sampler", "spent": first.noise.spent}
    assert checkpoint["mafalda"] == said
    steps(first.module, *(torch.zeros(12, 5), torch.zeros(12, dtype=torch.int64)), first, 1)
    first.close()
    wrapped, x, y, again = opened()
    with pytest.warns(UserWarning, match="in between are spent"):
        again.load_state_dict(checkpoint)
    assert again.step_number == 3 and again.skip_to(5) == [3, 4]
    steps(wrapped, x, y, again, 7)
    with pytest.raises(mafalda.StepError, match="all 12 steps are done"):
        again.step()
    with pytest.raises(mafalda.StepError, match="beyond the last"):
        again.skip_to(13)
    again.close()


def test_an_interruption_anywhere(monkeypatch, out):
    """Each step is its own batch's gradient with its own row alone, also where a batch comes in parts."""
    monkeypatch.setattr("mafalda.torch.add_row.__defaults__", (8,))
    plan = mafalda.load(out)
    rows = [row for _, row in plan.noise("a", 18, seed=1)]
    at, refused, reached = 0, 0, False
    while not reached:
        wrapped, x, y, _, loader = made(plan)
        sampler, optimizer = loader.batch_sampler, private(plan, wrapped, loader, lr=1.0)

        def change(t):
            batch = sampler.batch(t)
            plain = torch.nn.Linear(5, 3)
            mafalda.set_flat(plain, mafalda.flat(wrapped))
            sums, _ = clipping.clipped_sum(plain, list(plain.parameters()), cross_entropy, x[batch], y[batch], 1.0)
            return batch, -(torch.cat([s.reshape(-1) for s in sums]).numpy() + rows[t]) / 3

        def parts(batch, last=lambda: optimizer.step()):
            for i, part in enumerate((batch[:1], batch[1:])):
                optimizer.zero_grad()
                optimizer.signal_skip_step(i == 0)
                cross_entropy(wrapped(x[part]), y[part]).backward()
                last() if i else optimizer.step()

        batch, want = change(0)
        before = mafalda.flat(wrapped)
        try:
            parts(batch, last=lambda: interrupt(optimizer.step, at))
            reached = True
        except KeyboardInterrupt:
            now = mafalda.flat(wrapped) - before
            assert not now.any() or np.allclose(now, want, atol=1e-5)
            optimizer._step_skip_queue.clear()
            for t in range(optimizer.step_number, 2):
                batch, want = change(t)
                before = mafalda.flat(wrapped)
                try:
                    parts(batch)
                except (mafalda.MafaldaError, ValueError):
                    refused += 1
                    optimizer._step_skip_queue.clear()
                    optimizer.accept_changes()
                    parts(batch)
                assert np.allclose(mafalda.flat(wrapped) - before, want, atol=1e-5)
        at += 1
    assert at > 100 and refused < at / 4
