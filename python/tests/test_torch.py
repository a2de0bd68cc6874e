"""The private optimizer, against its definition: clip every record's gradient alone, add up, add row t, divide."""

import gc
import sys
import threading

import numpy as np
import pytest
from conftest import interrupt, program_of, write
from test_sampler import truncated

import mafalda

torch = pytest.importorskip("torch")

from mafalda import _clipping as clipping  # noqa: E402
from mafalda.torch import add_row  # noqa: E402

cross_entropy = torch.nn.functional.cross_entropy


def made(seed=0, records=12):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
    return model, torch.randn(records, 5), torch.randint(3, (records,))


def own_batches(plan, model, lr=0.1, **options):
    """A private optimizer whose batches are the caller's."""
    sgd = torch.optim.SGD(model.parameters(), lr=lr)
    with pytest.warns(UserWarning, match="the batches are yours"):
        return plan.make_private(sgd, node="a", seed=1, size=3, participation="mine", **options)


def one_by_one(model, x, y, clip):
    """The definition, in float64."""
    total = 0
    for i in range(len(x)):
        gradients = torch.autograd.grad(cross_entropy(model(x[i : i + 1]), y[i : i + 1]), list(model.parameters()))
        flat = torch.cat([g.reshape(-1) for g in gradients]).double()
        total = total + flat * min(1.0, clip / flat.norm().item())
    return total


@pytest.mark.parametrize("clip, chunk", [(0.05, 64), (0.6, 5), (100.0, 1)])
@pytest.mark.parametrize("way", ["vectorized", "one by one"])
def test_clipped_sum(monkeypatch, clip, chunk, way):
    if way == "one by one":
        monkeypatch.setattr(clipping, "vectorized", lambda: False)
    model, x, y = made()
    sums, losses = clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, clip, chunk)
    assert torch.allclose(losses, cross_entropy(model(x), y, reduction="none"), atol=1e-6)
    got = torch.cat([s.reshape(-1) for s in sums]).double()
    assert torch.allclose(got, one_by_one(model, x, y, clip), atol=1e-5 * len(x) * min(clip, 10) + 1e-6)
    single, _ = clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x[:1], y[:1], clip, chunk)
    assert torch.cat([s.reshape(-1) for s in single]).double().norm() <= clip


def test_gradients_that_are_not_finite_move_nothing():
    for bad in (float("nan"), float("inf"), -float("inf")):
        g = torch.ones(3, 4)
        g[1, 2] = bad
        (total,) = clipping.clip_and_sum([g], 1.0)
        assert torch.isfinite(total).all() and total.norm() <= 2
    for dtype in (torch.float32, torch.float64):
        for size in torch.logspace(-40, 38, 200, dtype=torch.float64):
            (total,) = clipping.clip_and_sum([torch.full((1, 3), size.item(), dtype=dtype)], 1e-3)
            assert total.double().norm() <= 1e-3
    (total,) = clipping.clip_and_sum([torch.zeros(3, 4)], 1.0)
    assert (total == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_clips_a_part_of_the_columns_at_a_time_are_clips_of_all(monkeypatch, dtype):
    """Parts that a processor keeps in its cache have all the norms and sums, and no gradient is changed."""
    torch.manual_seed(3)
    gradients = [torch.randn(6, 5, 4).to(dtype), torch.randn(6, 0).to(dtype), (9 * torch.randn(6, 7)).to(dtype)]
    kept = [g.clone() for g in gradients]
    rows = torch.cat([g.reshape(6, -1).double() for g in gradients], dim=1)
    want = (rows * torch.clamp(2 / rows.norm(dim=1), max=1)[:, None]).sum(dim=0)
    for cached in (1, 12, 50, 1 << 16):
        monkeypatch.setattr(clipping, "CACHED", cached)
        sums = clipping.clip_and_sum(gradients, 2.0)
        assert [s.shape for s in sums] == [g.shape[1:] for g in gradients]
        assert torch.allclose(torch.cat([s.reshape(-1) for s in sums]).double(), want, atol=2e-4)
    assert all(torch.equal(g, k) for g, k in zip(gradients, kept))


def test_steps_are_the_definition(out):
    plan = mafalda.load(out)
    model, x, y = made()
    reference = [p.detach().clone().double() for p in model.parameters()]
    rows = plan.noise("a", 39, seed=1)
    sampler = plan.sampler(12, node="a")
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_sampler=sampler)
    private = plan.make_private(
        torch.optim.SGD(model.parameters(), lr=0.1), node="a", clip=0.5, seed=1, sampler=sampler, loader=loader
    )
    for t, (a, b) in enumerate(loader):
        assert private.step_number == t and torch.equal(a, x[t % 4 :: 4])
        update = (one_by_one(model, a, b, 0.5).numpy() + rows.row(t)) / 3
        private.backward(model, cross_entropy, a[:1], b[:1])  # in parts
        private.backward(model, cross_entropy, a[1:], b[1:])
        assert private.step() == t
        want = np.concatenate([p.numpy().reshape(-1) for p in reference]) - 0.1 * update
        got = mafalda.flat(model)
        assert np.allclose(got, want, atol=2e-6)
        reference = [p.detach().clone().double() for p in model.parameters()]
    assert t == 11
    with pytest.raises(mafalda.StepError, match="all 12 steps"):
        private.step()


def test_padded_steps_are_those_without_padding(tmp_path):
    """Rows that pad a batch add nothing to its step, in parts or whole; batches without a record are steps, too."""
    plan = mafalda.load(truncated(tmp_path / "out"))
    models, sizes = [], set()
    for pad in (False, True):
        model, x, y = made()
        x[0] = float("nan")  # what pads a batch may be anything
        sampler = plan.sampler(12, node="a", seed=3, pad=pad)
        private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler, chunk=3)
        for step, batch in enumerate(sampler):
            sizes.add((pad, len(batch)))
            if pad and step % 2:
                private.backward(model, cross_entropy, x[batch[:1]], y[batch[:1]], batch[:1])
                private.backward(model, cross_entropy, x[batch[1:]], y[batch[1:]], batch[1:])
            elif batch:
                numbers = torch.tensor(batch)[torch.randperm(len(batch))]  # as a loader may sort it
                private.backward(model, cross_entropy, x[numbers], y[numbers], numbers=numbers)
            private.step()
        models.append(mafalda.flat(model))
    assert np.allclose(*models, atol=1e-6) and {size for pad, size in sizes if pad} == {5}
    assert len(sizes) > 2
    for pad, numbers, says in (
        (True, None, "told by its record, not by its place"),
        (True, [0] * 4, "4 numbers came with 5 records"),
        (True, [1] * 5, "record 1 is not in batch 0, or came twice"),
        (False, [0] * 5, "record 0 is not in batch 0, or came twice"),
    ):
        sampler = plan.sampler(12, node="a", seed=3, pad=pad)
        private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler)
        with pytest.raises(mafalda.ParticipationError, match=says):
            private.backward(model, cross_entropy, x[:5], y[:5], numbers=numbers)


class Kept(torch.optim.SGD):
    """Keeps the gradients that it is given."""

    def step(self, closure=None):
        self.given.append(self.param_groups[0]["params"][0].grad.clone())


def test_threads_of_one_optimizer_never_share_a_row(out):
    plan, model = mafalda.load(out), torch.nn.Linear(40, 25, bias=False)
    sgd = Kept(model.parameters(), lr=0.1)
    sgd.given = []
    with pytest.warns(UserWarning, match="the batches are yours.* uses batch t mod 4"):
        private = plan.make_private(sgd, node="a", seed=1, size=1, participation="mine")

    def train():
        for _ in range(3):
            private.backward(model, lambda output, _: output.sum() * 0, torch.randn(2, 40))
            private.step()

    threads = [threading.Thread(target=train) for _ in range(4)]
    every = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(every)
    rows = [row for _, row in plan.noise("a", 1000, seed=1)]
    assert len(sgd.given) == 12 and np.allclose([g.numpy().ravel() for g in sgd.given], rows, atol=1e-6)


def test_a_private_optimizer_ends_its_noise_and_says_what_is_spent(tmp_path, out, program):
    plan, model = mafalda.load(out), torch.nn.Linear(1, 1)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    state = tmp_path / "noise"
    with plan.make_private(sgd, node="a", state=state, participation="mine", size=4, binary=program) as private:
        private.step()
        assert private.spent is None if program.endswith("fake") else private.spent["steps"] == 1  # the stand-in counts nothing
        assert "SGD" in repr(private)
    with pytest.raises(mafalda.ServerError, match="closed"):
        private.spent


def test_the_clip_stays_what_the_noise_is_for(out):
    model, _, _ = made()
    private = own_batches(mafalda.load(out), model)
    with pytest.raises(AttributeError):
        private.clip = 100
    assert private.clip == 1


@pytest.mark.parametrize("kind", [lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), torch.optim.Adam])
def test_momentum_of_raw_gradients_is_refused(out, kind):
    plan, (model, x, y) = mafalda.load(out), made()
    raw = kind(model.parameters())
    cross_entropy(model(x), y).backward()
    raw.step()
    with pytest.raises(mafalda.MafaldaError, match="may hold gradients without noise"):
        plan.make_private(raw, node="a", seed=1, sampler=plan.sampler(12, node="a"))
    raw.state.clear()
    with pytest.warns(UserWarning, match="best"):
        plan.make_private(raw, node="a", seed=1, sampler=plan.sampler(12, node="a"))
    with pytest.warns(UserWarning, match="Adagrad is not"):  # has a state from the start
        plan.make_private(torch.optim.Adagrad(model.parameters()), node="a", seed=1, sampler=plan.sampler(12, node="a"))


def test_momentum_of_raw_gradients_is_refused_when_it_is_loaded_later(out):
    plan, (model, x, y) = mafalda.load(out), made()
    raw = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    cross_entropy(model(x), y).backward()
    raw.step()
    sgd, sampler = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), plan.sampler(12, node="a")
    with pytest.warns(UserWarning, match="momentum"):
        private = plan.make_private(sgd, node="a", seed=1, sampler=sampler)
    batches = iter(sampler)

    def take(batch):
        private.backward(model, cross_entropy, x[batch], y[batch])
        private.step()

    take(next(batches))
    private.load_state_dict(private.state_dict())
    take(next(batches))
    sgd.load_state_dict(raw.state_dict())
    with pytest.raises(mafalda.MafaldaError, match="may hold gradients without noise"):
        take(next(batches))
    assert private.step_number == 2  # no row was spent
    sgd.state.clear()
    sampler.follow(2)
    take(next(iter(sampler)))


def test_what_is_refused(tmp_path, out):
    plan = mafalda.load(out)
    model, x, y = made()
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(x, y)
    shuffling = torch.utils.data.DataLoader(data, batch_size=3, shuffle=True)
    with pytest.raises(mafalda.ParticipationError, match="RandomSampler"):
        plan.make_private(sgd, node="a", seed=1, size=3, loader=shuffling)
    with pytest.raises(mafalda.ExportError, match="norm 1.0"):
        plan.make_private(sgd, node="a", clip=2, seed=1, sampler=plan.sampler(12, node="a"))
    with pytest.raises(ValueError, match="exactly one"):
        plan.make_private(sgd, node="a", sampler=plan.sampler(12, node="a"))
    with pytest.raises(mafalda.ExportError, match="node 'b'"):
        plan.make_private(sgd, node="a", seed=1, sampler=plan.sampler(12, node="b"))
    secret = mafalda.load(
        write(
            tmp_path / "poisson",
            "identity",
            privacy={"epsilon": 2, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0},
            sampling={"scheme": "poisson", "groups": 1, "probability": 0.25, "rounds": 12},
        )
    )
    with pytest.raises(mafalda.ParticipationError, match="in secret"):
        secret.make_private(sgd, node="a", seed=1, size=3, participation="mine")
    private = plan.make_private(sgd, node="a", seed=1, sampler=plan.sampler(12, node="a"))
    with pytest.raises(mafalda.ParticipationError, match="not of the sampler's batch"):
        private.backward(model, cross_entropy, x[:3], y[:3])
        private.step()
    private.zero_grad()
    private.sampler.batch(0)
    with pytest.raises(mafalda.ParticipationError, match="2 records"):
        private.backward(model, cross_entropy, x[:2], y[:2])
        private.step()
    with pytest.raises(mafalda.ExportError, match="some would go out without noise"):
        private.backward(torch.nn.Linear(5, 3), cross_entropy, x[:2], y[:2])
    with pytest.raises(ValueError, match="closures"):
        private.step(lambda: 0.0)
    with pytest.raises(mafalda.ExportError, match="changed its size"):
        add_row(private.noise, 0, [torch.zeros(38)])


def test_checkpoints(tmp_path, out, program):
    plan = mafalda.load(out)

    def opened(state="noise", **options):
        model, _, _ = made()
        sampler = plan.sampler(12, node="a", state=tmp_path / f"{state}.batches", new=state == "fresh" or None)
        return plan.make_private(
            torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
            node="a",
            state=tmp_path / state,
            binary=program,
            sampler=sampler,
            **options,
        )

    private = opened()
    private.step(), private.step()
    checkpoint = private.state_dict()
    assert checkpoint["step"] == 2
    private.step()
    private.close()
    again = opened()
    assert again.step_number == again.sampler.next == 3
    with pytest.warns(UserWarning, match="in between are spent"):
        again.load_state_dict(checkpoint)
    assert again.step() == 3 and again.skip_to(6) == [4, 5] and again.step() == 6
    again.close()
    fresh = opened("fresh", new=True)
    with pytest.raises(mafalda.StepError, match="used twice"):
        fresh.load_state_dict(checkpoint)
    fresh.close()
    (tmp_path / "noise").unlink()  # it is lost: a new key must not begin in the middle
    with pytest.raises(mafalda.ExportError, match="has begun its noise"):
        opened()
    with pytest.raises(mafalda.ParticipationError, match="another state"):  # the batches are not
        opened(new=True)


def test_rows_go_to_the_parameters_in_blocks(out):
    plan = mafalda.load(out)
    tensors = [torch.zeros(3, 4), torch.zeros(()), torch.zeros(7), torch.zeros(5, 1)]
    add_row(plan.noise("a", 25, seed=2), 0, tensors, block=6)
    want = plan.noise("a", 25, seed=2).row(0, dtype=np.float32)
    assert (torch.cat([t.reshape(-1) for t in tensors]).numpy() == want).all()


def test_mix_changes_a_module(out):
    plan = mafalda.load(out)
    model, _, _ = made()
    before, other = mafalda.flat(model), np.ones(39, dtype=np.float32)
    assert plan.mix(model, {"b": other, "d": other.tobytes()}, node="a") is model
    assert np.allclose(mafalda.flat(model), (before + 2 * other) / 3, atol=1e-6)


def test_no_precision_exceeds_the_clip(monkeypatch):
    """Half precision, autocast and TF32 would round norms up by 0.1 to 0.4 percent."""
    x, y = torch.randn(40, 5), torch.randint(3, (40,))
    for way in {clipping.vectorized(), False}:
        monkeypatch.setattr(clipping, "vectorized", lambda: way)
        for dtype in (torch.bfloat16, torch.float32):
            model = torch.nn.Linear(5, 3).to(dtype)
            for i in range(len(x)):
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.float32):
                    sums, _ = clipping.clipped_sum(
                        model, list(model.parameters()), cross_entropy, x[i : i + 1].to(dtype), y[i : i + 1], 0.1
                    )
                assert all(s.dtype == torch.float64 for s in sums)
                assert torch.cat([s.reshape(-1) for s in sums]).double().norm() <= 0.1


class Scaled(torch.nn.Module):
    """A parameter of no dimensions, and one whose numbers are not in a row."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))
        self.conv = torch.nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last)

    def forward(self, x):
        return self.scale * self.conv(x).flatten(1)


def test_parameters_of_any_shape(out):
    torch.manual_seed(0)
    model, x, y = Scaled(), torch.randn(3, 2, 2, 2), torch.randint(3, (3,))
    private = own_batches(mafalda.load(out), model, lr=1.0)
    before, total = mafalda.flat(model), one_by_one(model, x, y, 1.0).numpy()
    private.backward(model, cross_entropy, x, y)
    private.step()
    row = mafalda.load(out).noise("a", before.size, seed=1).row(0)
    assert np.allclose(mafalda.flat(model), before - (total + row) / 3, atol=1e-5)


@pytest.mark.parametrize("way", ["vectorized", "one by one"])
def test_a_model_that_keeps_what_it_sees(monkeypatch, way):
    if way == "one by one":
        monkeypatch.setattr(clipping, "vectorized", lambda: False)
    x, y = torch.randn(4, 2, 3), torch.randint(2, (4,))
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Flatten(), torch.nn.Linear(6, 2))
    with pytest.raises(mafalda.ExportError, match="'0' when it sees a record"):
        clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, 1.0)
    words = torch.nn.Sequential(torch.nn.Embedding(3, 2, max_norm=0.1), torch.nn.Flatten(), torch.nn.Linear(4, 2))
    with pytest.raises((mafalda.ExportError, RuntimeError), match="0.weight|embedding_renorm"):  # torch.func's own error
        clipping.clipped_sum(words, list(words.parameters()), cross_entropy, torch.tensor([[0, 1]]), y[:1], 1.0)
    model.eval()
    clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, 1.0)


def test_gradients_that_are_not_clipped(out):
    """loss.backward() in the place of private.backward is found out, and what was there before goes nowhere."""
    model, x, y = made()
    cross_entropy(model(x), y).backward()
    for p in model[2].parameters():
        p.requires_grad_(False)
    private = own_batches(mafalda.load(out), model, lr=1.0)
    kept = mafalda.flat(model)[-15:]
    private.step()
    assert (mafalda.flat(model)[-15:] == kept).all()
    cross_entropy(model(x), y).backward()
    with pytest.raises(mafalda.MafaldaError, match="does not clip"):
        private.step()


class Loader:
    """As a DataLoader with a worker: it asks the sampler for two batches more than the one in use."""

    num_workers, prefetch_factor = 1, 2

    def __init__(self, sampler):
        self.batch_sampler = sampler

    def __iter__(self):
        batches, ready = iter(self.batch_sampler), []
        for batch in batches:
            ready.append(batch)
            if len(ready) == 3:
                yield ready.pop(0)
        yield from ready


def test_a_batch_that_is_left_out_with_workers(out):
    plan = mafalda.load(out)
    model, x, y = made()
    sampler = plan.sampler(12, node="a")
    loader = Loader(sampler)
    private = plan.make_private(
        torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler, loader=loader
    )
    with pytest.raises(mafalda.ParticipationError, match="left out"):
        for i, batch in enumerate(loader):
            if i != 4:
                private.backward(model, cross_entropy, x[batch], y[batch])
                assert private.step() == i
    assert i == 5


def test_a_loader_brings_its_sampler(out):
    plan = mafalda.load(out)
    model, x, y = made()
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, batch_sampler=plan.sampler(12, node="a"))
    private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, loader=loader)
    assert private.sampler is loader.batch_sampler and private.size == 3
    private.skip_to(2)
    for a, b in loader:
        assert torch.equal(a, x[private.step_number % 4 :: 4])
        private.backward(model, cross_entropy, a, b)
        private.step()
    assert private.step_number == 12


def test_real_noise_wants_secret_batches(tmp_path):
    """Draws of a seed are for simulations: everybody knows them."""
    secret = mafalda.load(
        write(
            tmp_path / "poisson",
            "identity",
            privacy={"epsilon": 2, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0},
            sampling={"scheme": "poisson", "groups": 1, "probability": 0.25, "rounds": 12},
        )
    )
    model, _, _ = made()
    program = program_of("fake", tmp_path)

    def opened(sampler):
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        return secret.make_private(sgd, node="a", state=tmp_path / "noise", binary=program, sampler=sampler)

    with pytest.raises(mafalda.ParticipationError, match="from a seed"):
        opened(secret.sampler(12, node="a", seed=1))
    opened(secret.sampler(12, node="a", state=tmp_path / "batches")).close()  # the noise was let go of


def test_going_on_after_an_interruption(monkeypatch, out):
    """Ctrl-C when a part of the row was added: that gradient is forgotten, and the next batch goes with the next row."""
    plan = mafalda.load(out)
    model, x, y = made()
    sampler = plan.sampler(12, node="a")
    private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler)

    def interrupted(noise, step, tensors):
        noise.row(step)
        raise KeyboardInterrupt

    before = mafalda.flat(model)
    with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
        m.setattr("mafalda.torch.add_row", interrupted)
        private.backward(model, cross_entropy, *(a[sampler.batch(0)] for a in (x, y)))
        private.step()
    assert (mafalda.flat(model) == before).all()
    for step, batch in sampler.items():
        private.backward(model, cross_entropy, x[batch], y[batch])
        assert private.step() == step >= 1
    assert step == 11


def trained(out, **options):
    """A model, its data, the sampler, torch's optimizer, and the private one."""
    plan = mafalda.load(out)
    model, x, y = made()
    sampler = plan.sampler(12, node="a")
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, x, y, sampler, sgd, plan.make_private(sgd, node="a", seed=1, sampler=sampler, **options)


@pytest.fixture(params=["hook", "replaced"])
def any_torch(request, monkeypatch):
    """With torch's hooks, and without, as before torch 2."""
    if request.param == "replaced" and hasattr(torch.optim.Optimizer, "register_step_pre_hook"):
        monkeypatch.delattr(torch.optim.Optimizer, "register_step_pre_hook")
    return request.param


@pytest.mark.parametrize("scheduler", ["none", "before", "after"])
def test_the_wrapped_optimizer_makes_no_step_of_its_own(any_torch, scheduler, out):
    """loss.backward() and sgd.step() would train on raw gradients; schedulers work, whenever they were made."""
    plan = mafalda.load(out)
    model, x, y = made()
    sgd, sampler = torch.optim.SGD(model.parameters(), lr=0.1), plan.sampler(12, node="a")
    schedule = torch.optim.lr_scheduler.ExponentialLR(sgd, 0.5) if scheduler == "before" else None
    private = plan.make_private(sgd, node="a", seed=1, sampler=sampler)
    plan.make_private(sgd, node="a", seed=1, sampler=plan.sampler(12, node="a"))  # as when a cell of a notebook runs twice
    if scheduler == "after":
        schedule = torch.optim.lr_scheduler.ExponentialLR(sgd, 0.5)
    for step, batch in sampler.items():
        private.backward(model, cross_entropy, x[batch], y[batch])
        private.step()
        if schedule is not None:
            schedule.step()
            assert sgd.param_groups[0]["lr"] == 0.1 * 0.5 ** (step + 1)
        before = mafalda.flat(model)
        cross_entropy(model(x), y).backward()
        for options in ({}, {"closure": lambda: cross_entropy(model(x), y)}):
            with pytest.raises(mafalda.MafaldaError, match="without clipping and noise"):
                sgd.step(**options)
        assert (mafalda.flat(model) == before).all()
        private.zero_grad()
    assert step == 11


def test_a_scaler_of_gradients_is_refused(monkeypatch, out):
    """GradScaler asked for private steps, and for those of the wrapped optimizer."""
    model, x, y, sampler, sgd, private = trained(out)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # older ones are for CUDA alone
    new = hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler")
    scaler = torch.amp.GradScaler("cpu") if new else torch.cuda.amp.GradScaler()
    scaler._lazy_init_scale_growth_tracker(torch.device("cpu"))
    sampler.batch(0)
    private.backward(model, cross_entropy, x[::4], y[::4])
    with pytest.raises(mafalda.MafaldaError, match="GradScaler skips steps"):
        scaler.step(private)
    assert private.step() == 0
    if new:
        scaler.scale(cross_entropy(model(x), y)).backward()
        before = mafalda.flat(model)
        with pytest.raises(mafalda.MafaldaError, match="without clipping and noise"):
            scaler.step(sgd)
        assert (mafalda.flat(model) == before).all()
    off = type(scaler)(enabled=False)
    private.zero_grad()
    sampler.batch(1)
    private.backward(model, cross_entropy, x[1::4], y[1::4])
    assert off.step(private) == 1


def test_a_part_that_another_optimizer_trains(out):
    """A head with a plain optimizer: not among the private parameters, or changed between steps. Averages may change all."""
    model, x, y, sampler, sgd, private = trained(out)
    plan, head = private.plan, model[2]
    with pytest.raises(mafalda.ExportError, match=r"without noise \('2.weight'"):
        body = torch.optim.SGD(model[0].parameters(), lr=0.1)
        half = plan.make_private(body, node="a", seed=1, sampler=plan.sampler(12, node="a"))
        half.backward(model, cross_entropy, x[::4], y[::4])
    mafalda.set_flat(model, mafalda.flat(model))  # a start
    for step, batch in sampler.items():
        private.backward(model, cross_entropy, x[batch], y[batch])
        private.step()
        plan.mix(model, {"b": np.ones(39, dtype=np.float32)}, node="a")
        if step == 2:
            break
    other = torch.optim.SGD(head.parameters(), lr=0.1)

    def train_head():
        gradients = torch.autograd.grad(cross_entropy(model(x), y), list(head.parameters()))
        for p, g in zip(head.parameters(), gradients):
            p.grad = g
        other.step()
        other.zero_grad(set_to_none=True)

    train_head()
    for message in (lambda: plan.mix(model, {}, node="a"), lambda: mafalda.flat(model)):  # nor does it go out
        with pytest.raises(mafalda.MafaldaError, match="'2.weight' was changed"):
            message()
    sampler.batch(3)
    with pytest.raises(mafalda.MafaldaError, match="'2.weight' was changed"):
        private.backward(model, cross_entropy, x[3::4], y[3::4])
    private.accept_changes()
    private.backward(model, cross_entropy, x[3::4], y[3::4])
    train_head()
    with pytest.raises(mafalda.MafaldaError, match="'2.weight' was changed"):
        private.step()
    private.accept_changes()
    with pytest.raises(mafalda.ParticipationError, match="no gradient of it came since"):
        private.step()
    private.backward(model, cross_entropy, x[3::4], y[3::4])
    assert private.step() == 3
    for p in head.parameters():
        p.requires_grad_(False)
    with pytest.raises(mafalda.ExportError, match="it has others"):
        private.backward(model, cross_entropy, x[::4], y[::4])


class Averaged(torch.nn.Module):
    """Has a buffer that a pass in training mode changes outside of backward: the mean of what it saw."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(5, 3)
        self.register_buffer("mean", torch.zeros(5))

    def forward(self, x):
        return self.line(x - self.mean)


def raw_gradients(model, x, y):
    return torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters()))


def by_data(model, x, y):
    for p, g in zip(model.parameters(), raw_gradients(model, x, y)):
        p.data.sub_(g)


def by_vector(model, x, y):
    moved = [(p - g).reshape(-1) for p, g in zip(model.parameters(), raw_gradients(model, x, y))]
    torch.nn.utils.vector_to_parameters(torch.cat(moved).detach(), model.parameters())


def by_a_fused_optimizer(model, x, y):
    other = torch.optim.Adam(model.parameters(), lr=0.1, **({"fused": True} if clipping.vectorized() else {}))
    for p, g in zip(model.parameters(), raw_gradients(model, x, y)):
        p.grad = g
    other.step()
    other.zero_grad(set_to_none=True)


def by_statistics(model, x, y):
    model.mean.mul_(0.9).add_(0.1 * x.mean(0))


@pytest.mark.parametrize("change", [by_data, by_vector, by_a_fused_optimizer, by_statistics])
def test_no_change_without_noise_is_overlooked(out, change):
    """torch does not count changes by p.data and by fused optimizers. A change that is taken back is none."""
    plan, (_, x, y) = mafalda.load(out), made()
    model, sampler = Averaged(), plan.sampler(12, node="a")
    private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler)

    def step(t):
        batch = sampler.batch(t)
        private.backward(model, cross_entropy, x[batch], y[batch])
        return private.step()

    step(0)
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    change(model, x, y)
    model.load_state_dict(kept)
    assert step(1) == 1
    change(model, x, y)
    with pytest.raises(mafalda.MafaldaError, match="was changed, and not by a private step"):
        step(2)
    private.accept_changes()
    assert step(2) == 2


def test_no_message_of_a_model_that_something_else_has_changed(out):
    """Raw gradients after a private step are found before the message, not in the next step."""
    model, x, y, sampler, _, private = trained(out)
    batch = sampler.batch(0)
    private.backward(model, cross_entropy, x[batch], y[batch])
    private.step()
    mafalda.flat(model)
    by_data(model, x, y)
    for message in (lambda: mafalda.flat(model), lambda: private.plan.mix(model, {}, node="a")):
        with pytest.raises(mafalda.MafaldaError, match="was changed, and not by a private step"):
            message()
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    again = private.plan.make_private(sgd, node="a", seed=1, sampler=private.plan.sampler(12, node="a"))
    assert len(mafalda.flat(model)) == again.noise.dim  # another run begins with the model as it is


class Remembers(torch.nn.Module):
    """A layer with a state that it carries from one pass to the next, as recurrent models often have."""

    def __init__(self, place):
        super().__init__()
        self.line = torch.nn.Linear(5, 3)
        if place == "buffer":
            self.register_buffer("state", torch.zeros(5))
        else:
            self.state = torch.zeros(5)

    def forward(self, x):
        self.state = 0.9 * self.state + x.mean(0)
        return self.line(x + self.state)


@pytest.mark.parametrize("place", ["buffer", "attribute"])
@pytest.mark.parametrize("way", ["vectorized", "one by one"])
def test_no_layer_remembers_another_record(monkeypatch, way, place):
    """A record's gradient is that of the record alone, in any chunk, after any other."""
    if way == "one by one":
        monkeypatch.setattr(clipping, "vectorized", lambda: False)
    _, x, y = made()
    model = Remembers(place)
    parameters = list(model.parameters())

    def taken(at, chunk):
        sums, losses = clipping.clipped_sum(model, parameters, cross_entropy, x[at], y[at], 1.0, chunk)
        return sums, losses

    alone = [taken(slice(i, i + 1), 1) for i in range(5)]
    for chunk in (1, 2, 64):
        sums, losses = taken(slice(0, 5), chunk)
        assert torch.allclose(losses, torch.cat([part for _, part in alone]), atol=1e-6)
        for total, parts in zip(sums, zip(*(part for part, _ in alone))):
            assert torch.allclose(total, sum(parts), atol=1e-5)
    assert not model.state.any()


@pytest.mark.parametrize("way", ["vectorized", "one by one"])
def test_losses_may_use_parameters(monkeypatch, way):
    """A proximal term counts, as in the gradient of one record after the other."""
    if way == "one by one":
        monkeypatch.setattr(clipping, "vectorized", lambda: False)
    model, x, y = made()
    start = [p.detach() + 1 for p in model.parameters()]

    def loss(output, target):
        return cross_entropy(output, target) + sum((p - q).square().sum() for p, q in zip(model.parameters(), start))

    sums, losses = clipping.clipped_sum(model, list(model.parameters()), loss, x, y, 100.0)
    want = torch.autograd.grad(sum(loss(model(x[i : i + 1]), y[i : i + 1]) for i in range(12)), list(model.parameters()))
    for total, g in zip(sums, want):
        assert torch.allclose(total, g.double(), atol=1e-4)


class Recurrent(torch.nn.Module):
    """A model that torch.func cannot take the gradients of several records of."""

    def __init__(self):
        super().__init__()
        self.cells, self.line = torch.nn.GRU(1, 4, batch_first=True), torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.line(self.cells(x[..., None])[0][:, -1])


def test_models_that_torch_func_does_not_know(out):
    """One record after the other is a way out, and the error says so."""
    _, x, y = made()
    plan, model = mafalda.load(out), Recurrent()
    if clipping.vectorized():
        with pytest.raises(RuntimeError, match="chunk=1"):
            clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, 1.0)
    sampler = plan.sampler(12, node="a")
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    private = plan.make_private(sgd, node="a", seed=1, sampler=sampler, chunk=1)
    batch = sampler.batch(0)
    want = one_by_one(model, x[batch], y[batch], 1.0)
    private.backward(model, cross_entropy, x[batch], y[batch])
    assert torch.allclose(torch.cat([s.reshape(-1) for s in private._taken.sums]).double(), want, atol=1e-5)
    assert private.step() == 0
    with pytest.raises(mafalda.ExportError, match="private already"):
        plan.make_private(private, node="a", seed=1, sampler=sampler)


def test_chunks_have_records():
    """chunk=-1 took no gradient at all, and said nothing."""
    model, x, y = made()
    for chunk in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="chunk is how many"):
            clipping.clipped_sum(model, list(model.parameters()), cross_entropy, x, y, 1.0, chunk)


def test_batches_of_ones_own_are_declared(tmp_path, out):
    """make_private(size=…) is no consent to a loader that shuffles."""
    plan = mafalda.load(out)
    model, x, y = made()
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    for options in ({}, {"size": 3}, {"size": 3, "participation": "sampler"}):
        with pytest.raises(mafalda.ParticipationError, match=r"where do the batches come from.*sampler=plan.sampler"):
            plan.make_private(sgd, node="a", seed=1, **options)
    with pytest.raises(ValueError, match="leave sampler and loader out"):
        plan.make_private(sgd, node="a", seed=1, sampler=plan.sampler(12, node="a"), participation="mine")
    with pytest.raises(ValueError, match="public size"):
        plan.make_private(sgd, node="a", seed=1, participation="mine")
    with pytest.raises(ValueError, match="'yours'"):
        plan.make_private(sgd, node="a", seed=1, size=3, participation="yours")
    private = own_batches(plan, model)
    private.backward(model, cross_entropy, x[:3], y[:3])
    assert private.step() == 0
    checkpoint = private.state_dict()
    assert checkpoint["participation"] == "mine"
    _, _, _, _, _, drawn = trained(out)
    assert drawn.state_dict()["participation"] == "sampler"
    drawn.skip_to(1)
    with pytest.warns(UserWarning, match="no sampler of the package drew"):
        drawn.load_state_dict(checkpoint)
    assert drawn.state_dict()["participation"] == "mine"  # from now on


@pytest.mark.parametrize("phase", ["backward", "step"])
def test_an_interruption_anywhere(monkeypatch, out, phase):
    """Whichever line of the package Ctrl-C comes before, each step is its own batch's gradient with its own row alone."""
    monkeypatch.setattr("mafalda.torch.add_row.__defaults__", (16,))  # a row in three parts
    monkeypatch.setattr(clipping, "vectorized", lambda: False)
    rows = [row for _, row in mafalda.load(out).noise("a", 39, seed=1)]

    def go_on():
        """A step as a loop over step_number makes it; what is refused is forgotten, and made again."""
        nonlocal refused
        t = private.step_number
        batch, before = sampler.batch(t), mafalda.flat(model)
        change = -0.1 * (one_by_one(model, x[batch], y[batch], 1.0).numpy() + rows[t]) / 3
        try:
            private.backward(model, cross_entropy, x[batch], y[batch])
            private.step()
        except mafalda.MafaldaError:
            refused += 1
            private.zero_grad()
            private.accept_changes()
            private.backward(model, cross_entropy, x[batch], y[batch])
            private.step()
        assert np.allclose(mafalda.flat(model) - before, change, atol=1e-5)

    at, refused, reached = 0, 0, False
    while not reached:
        model, x, y, sampler, _, private = trained(out)
        batch, before = sampler.batch(0), mafalda.flat(model)
        change = -0.1 * (one_by_one(model, x[batch], y[batch], 1.0).numpy() + rows[0]) / 3
        private.backward(model, cross_entropy, x[batch[:1]], y[batch[:1]])
        if phase == "step":
            private.backward(model, cross_entropy, x[batch[1:]], y[batch[1:]])
        try:
            if phase == "step":
                interrupt(private.step, at)
            else:
                interrupt(lambda: private.backward(model, cross_entropy, x[batch[1:]], y[batch[1:]]), at)
            reached = True  # the end, without an interruption
        except KeyboardInterrupt:
            now = mafalda.flat(model) - before
            assert not now.any() or np.allclose(now, change, atol=1e-5)
            go_on()
        at += 1
    assert at > 100 and refused < at / 4  # refused: interrupted in the cleaning up


class Scored(torch.nn.Module):
    """Two inputs of other shapes, and an option."""

    def __init__(self):
        super().__init__()
        self.words, self.line = torch.nn.Embedding(7, 3), torch.nn.Linear(5, 3)

    def forward(self, x, words, mask=None, scale=1.0):
        found = self.words(words)
        return {"scores": self.line(x) + scale * (found if mask is None else found * mask[..., None]).sum(dim=1)}


@pytest.mark.parametrize("way", ["vectorized", "one by one"])
def test_models_with_several_inputs(monkeypatch, way):
    """Tuples are arguments, mappings named ones; the gradients are those of the records one by one."""
    if way == "one by one":
        monkeypatch.setattr(clipping, "vectorized", lambda: False)
    torch.manual_seed(0)
    model, clip = Scored(), 0.5
    x, words, mask = torch.randn(9, 5), torch.randint(7, (9, 4)), torch.randint(2, (9, 4)).float()
    y = torch.randint(3, (9,))

    def loss(output, targets):
        return cross_entropy(output["scores"], targets if torch.is_tensor(targets) else targets["y"])

    for inputs, targets, call in (
        ((x, words), y, lambda i: model(x[i : i + 1], words[i : i + 1])),
        ([x, words, None, 1.0][:3], {"y": y}, lambda i: model(x[i : i + 1], words[i : i + 1])),
        (
            {"words": words, "x": x, "mask": mask, "scale": 2.0},
            y,
            lambda i: model(x[i : i + 1], words[i : i + 1], mask[i : i + 1], 2.0),
        ),
    ):
        total, each = 0, []
        for i in range(9):
            value = cross_entropy(call(i)["scores"], y[i : i + 1])
            each.append(value.item())
            flat = torch.cat([g.reshape(-1) for g in torch.autograd.grad(value, list(model.parameters()))]).double()
            total = total + flat * min(1.0, clip / flat.norm().item())
        sums, losses = clipping.clipped_sum(model, list(model.parameters()), loss, inputs, targets, clip, chunk=4)
        assert torch.allclose(torch.cat([s.reshape(-1) for s in sums]).double(), total, atol=1e-5)
        assert np.allclose(losses, each, atol=1e-6)


def test_what_is_the_same_for_all_records_is_no_batch():
    """A list of labels, or an array, would tell every record's gradient about the others."""
    model, x, y = made()
    p = list(model.parameters())
    for inputs, targets, error, says in (
        (x, y.tolist(), TypeError, "a batch has a int"),
        (x, y.numpy(), TypeError, "a batch has a ndarray"),
        ({"input": x, "names": ["a"] * 12}, y, TypeError, "a batch has a str"),
        (x, y[:5], ValueError, r"as many rows as the others, not \(12, 5\), \(5,\)"),
        (x, torch.tensor(1), ValueError, "as many rows"),
        (None, None, ValueError, "none at all"),
    ):
        with pytest.raises(error, match=says):
            clipping.clipped_sum(model, p, cross_entropy, inputs, targets, 1.0)


def test_backward_returns_the_mean_loss(out):
    model, x, y, sampler, _, private = trained(out)
    sampler.batch(0)
    got = private.backward(model, cross_entropy, x[::4], y[::4])
    assert not got.requires_grad and torch.allclose(got, cross_entropy(model(x[::4]), y[::4]))
    assert torch.isnan(private.backward(model, cross_entropy, x[:0], y[:0]))
    assert private.step() == 0


class Wide(torch.nn.Linear):
    """Parameters of half precision, products of single precision: older torch has no others for float16."""

    def forward(self, x):
        return torch.nn.functional.linear(x.float(), self.weight.float(), self.bias.float())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(out, dtype):
    """A whole training with averages: models go between nodes as float32, and sums are in single precision."""
    _, x, y = made()
    model = torch.nn.Sequential(Wide(5, 4), torch.nn.Tanh(), Wide(4, 3))
    model, plan = model.to(dtype), mafalda.load(out)
    sampler = plan.sampler(12, node="a")
    private = plan.make_private(torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler)

    for step, batch in sampler.items():
        before = mafalda.flat(model)
        assert before.dtype == np.float32
        private.backward(model, cross_entropy, x[batch].to(dtype), y[batch])
        private.step()
        after = mafalda.flat(model)
        assert not np.array_equal(before, after)
        plan.mix(model, {"b": after, "d": after.tobytes()}, node="a")
        assert np.array_equal(mafalda.flat(model), after)
    assert step == 11


def test_what_would_fail_after_the_row_fails_before(out):
    """Optimizers that need more than gradients, numbers that are not real, parameters that were moved meanwhile."""
    plan = mafalda.load(out)
    model, x, y = made()
    complex_layer = torch.nn.Linear(2, 2, dtype=torch.complex64)
    for optimizer, says in (
        (torch.optim.LBFGS(model.parameters()), "several times a step"),
        (torch.optim.SparseAdam(list(model.parameters())), "sparse"),
        (torch.optim.SGD(complex_layer.parameters(), lr=0.1), "real numbers"),
        (torch.optim.SGD(torch.nn.Linear(2, 2, device="meta").parameters(), lr=0.1), "have memory"),
    ):
        with pytest.raises(mafalda.ExportError, match=says):
            plan.make_private(optimizer, node="a", seed=1, sampler=plan.sampler(12, node="a"))
        assert "_mafalda_guard" not in vars(optimizer)
    model, x, y, sampler, _, private = trained(out)
    sampler.batch(0)
    private.backward(model, cross_entropy, x[::4], y[::4])
    first = model[0].weight
    first.data = first.data.t().contiguous()
    with pytest.raises(mafalda.MafaldaError, match="changed"):
        private.step()
    assert private.step_number == 0


def test_what_the_export_does_not_know_is_said(tmp_path, out, recwarn):
    """Momentum, weight decay, Adam and a smaller clip are private, and not what C was optimized for."""
    plan = mafalda.load(out)
    heavy = mafalda.load(write(tmp_path / "heavy", workload_spec={"kind": "model", "momentum": 0.9, "nesterov": True}))

    def opened(plan, kind, **options):
        recwarn.clear()
        model, _, _ = made()
        clip = options.pop("clip", None)
        optimizer = kind(model.parameters(), lr=0.1, **options)
        plan.make_private(optimizer, node="a", seed=1, sampler=plan.sampler(12, node="a"), clip=clip)
        return [str(w.message) for w in recwarn]

    sgd = torch.optim.SGD
    assert opened(plan, sgd) == [] == opened(heavy, sgd, momentum=0.9, nesterov=True)
    for plan_, kind, options, says in (
        (plan, sgd, {"momentum": 0.9}, ["has momentum 0.9, the export was optimized for 0"]),
        (plan, sgd, {"weight_decay": 0.01}, ["has weight_decay 0.01, the export was optimized for 0"]),
        (heavy, sgd, {}, ["has momentum 0, the export was optimized for 0.9", "has nesterov 0"]),
        (plan, torch.optim.Adam, {}, ["Adam is not gradient descent"]),
        (plan, sgd, {"clip": 0.25}, ["clip=0.25, where the noise of the export is for 1 and stays as large: private, with 4"]),
    ):
        said = opened(plan_, kind, **options)
        assert len(said) == len(says) and all(part in whole for part, whole in zip(says, said))


def test_a_finished_training_says_so(tmp_path, out, program):
    plan = mafalda.load(out)
    model, x, y = made()
    sampler = plan.sampler(12, node="a", state=tmp_path / "batches")
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    private = plan.make_private(sgd, node="a", state=tmp_path / "noise", binary=program, sampler=sampler)
    assert private.skip_to(12) == list(range(12))
    for attempt in (
        lambda: private.backward(model, cross_entropy, x[:3], y[:3]),
        private.step,
        private.noise.row,
    ):
        with pytest.raises(mafalda.StepError, match="^all 12 steps are done: the training is finished") as error:
            attempt()
        assert len(error.traceback) <= 5
    with pytest.raises(mafalda.StepError, match="step 13 is beyond the last"):
        private.skip_to(13)
    private.close()


def test_an_export_without_a_privacy_level(tmp_path):
    plan = mafalda.load(write(tmp_path / "out", privacy=None))
    model, _, _ = made()
    sgd, sampler = torch.optim.SGD(model.parameters(), lr=0.1), plan.sampler(12, node="a")
    with pytest.raises(mafalda.ExportError, match="no noise level: it was made without epsilon or mu"):
        plan.make_private(sgd, node="a", seed=1, sampler=sampler)
    with pytest.raises(ValueError, match="give clip"):
        plan.make_private(sgd, node="a", seed=1, sampler=sampler, noise_std=2.0)
    assert plan.make_private(sgd, node="a", seed=1, sampler=sampler, noise_std=2.0, clip=1.0).noise.std == 2


def test_another_optimizers_checkpoint(out):
    """That of the inner optimizer, of Opacus's one, and none at all."""
    _, _, _, _, sgd, private = trained(out)
    for state in (sgd.state_dict(), {**sgd.state_dict(), "mafalda": private.state_dict()}, None, []):
        with pytest.raises(mafalda.MafaldaError, match="Save the private optimizer's state_dict"):
            private.load_state_dict(state)


def test_replicas_are_refused(out):
    model, x, y, sampler, _, private = trained(out)

    class DistributedDataParallel(torch.nn.Module):  # torch's needs a group of processes
        def __init__(self, module):
            super().__init__()
            self.module = module

    sampler.batch(0)
    with pytest.raises(mafalda.MafaldaError, match="every replica"):
        private.backward(DistributedDataParallel(model), cross_entropy, x[::4], y[::4])


class Labelled(torch.nn.Module):
    """As models of Hugging Face: a batch is a mapping with the labels in it, the output has the loss."""

    def __init__(self):
        super().__init__()
        self.words, self.line = torch.nn.Embedding(7, 4), torch.nn.Linear(4, 3)

    def forward(self, input_ids, attention_mask, labels=None):
        x = self.words(input_ids) * attention_mask[..., None]
        logits = self.line(x.sum(dim=1) / attention_mask.sum(dim=1, keepdim=True))
        return {"loss": cross_entropy(logits, labels), "logits": logits}


@pytest.mark.parametrize("chunk", [4, 1])
def test_batches_that_are_mappings(out, chunk):
    torch.manual_seed(0)
    model = Labelled()
    batch = {"input_ids": torch.randint(7, (3, 5)), "attention_mask": torch.ones(3, 5), "labels": torch.randint(3, (3,))}
    private = own_batches(mafalda.load(out), model, chunk=chunk)
    got = private.backward(model, lambda output, _: output["loss"], batch)
    each = [model(**{name: x[i : i + 1] for name, x in batch.items()})["loss"].item() for i in range(3)]
    assert got.item() == pytest.approx(np.mean(each), rel=1e-5)
    assert private.step() == 0


def test_most_of_a_model_is_frozen(out):
    """Noise, messages and averages are of the trained parameters alone."""
    plan = mafalda.load(out)
    model, x, y = made()
    model[0].requires_grad_(False)
    frozen = mafalda.flat(list(model[0].parameters()))
    private = own_batches(plan, model)
    assert private.parameters == list(model[2].parameters()) and private.noise.dim == 15
    private.backward(model, cross_entropy, x[:3], y[:3])
    private.step()
    message = mafalda.flat(private.parameters)
    assert message.shape == (15,)
    assert plan.mix(private.parameters, {"b": message + 1, "d": message}, node="a") is private.parameters
    np.testing.assert_allclose(mafalda.flat(private.parameters), message + plan.neighbours("a")["b"], rtol=1e-5)
    assert np.array_equal(mafalda.flat(list(model[0].parameters())), frozen)
    private.backward(model, cross_entropy, x[3:6], y[3:6])  # the average was no change that is refused
    assert private.step() == 1


def test_distributed_data_parallel_of_torch_is_refused(out, tmp_path):
    model, x, y, sampler, _, private = trained(out)
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        sampler.batch(0)
        with pytest.raises(mafalda.MafaldaError, match="the model is a DistributedDataParallel: every replica") as caught:
            private.backward(torch.nn.parallel.DistributedDataParallel(model), cross_entropy, x[::4], y[::4])
        assert "\n" not in str(caught.value)
        del caught  # its traceback holds the group
    finally:
        torch.distributed.destroy_process_group()
        gc.collect()  # the group's threads end here, and not in a worker of a later test, which has none of them


@pytest.mark.parametrize("missed", [1, 2, 3, 6])
def test_after_skip_to_inside_the_loop_no_batch_of_a_missed_step_comes_under_a_later_row(out, missed):
    """Workers hold batches of missed steps: a step with one of them is refused, and the loop comes to the right ones."""
    plan = mafalda.load(out)
    model, x, y = made()
    data = torch.utils.data.TensorDataset(torch.arange(12))
    sampler = plan.sampler(12, node="a")
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler, num_workers=1)
    private = plan.make_private(
        torch.optim.SGD(model.parameters(), lr=0.1), node="a", seed=1, sampler=sampler, loader=loader
    )
    rows, refused = {}, 0
    for i, (batch,) in enumerate(loader):
        if i == 2:
            private.skip_to(2 + missed)
        step = private.step_number
        private.backward(model, cross_entropy, x[batch], y[batch])
        try:
            rows[private.step()] = batch.tolist()
        except mafalda.ParticipationError:
            refused += 1
            assert private.step_number == step
    assert refused == min(missed, 3)  # the one in hand, and two of the workers
    assert sorted(rows) == [0, 1, *range(2 + missed, plan.steps)]
    assert all(rows[t] == sampler.numbers(t).tolist() for t in rows)


def test_one_record_less_moves_a_large_sum_by_no_more_than_the_clip():
    """Whatever the others round to: what the noise hides is one clip. Single precision would add 0.1 percent."""
    torch.manual_seed(5)
    rows = 1 + torch.rand(64, 5000)  # all in one direction: the sum is large
    chunk = clipping.clip_and_sum([rows], 1.0)[0]

    def summed(first):
        (total,) = clipping.zeros([torch.zeros(5000)])
        for part in [clipping.clip_and_sum([first], 1.0)[0]] + [chunk] * 940:  # 60,000 records
            total.add_(part)
        return total.double()

    moved = (summed(rows) - summed(rows[1:])).norm().item()
    assert 0.99 < moved <= 1
