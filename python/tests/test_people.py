"""Persons with many records: whole persons are dealt to batches, and what they add to a step is clipped together."""

import numpy as np
import pytest
from conftest import write

import mafalda
from mafalda.errors import ExportError, ParticipationError

OWNERS = ["ada", "bob", "ada", "eve", "bob", "ada", "dan", "fay", "gus", "ada", "bob", "hal"]


def people(folder, m=1):
    participation = {"schema": "people", "k": 3, "b": 4, "person_batches": m}
    return mafalda.load(write(folder, participation=participation))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_person_is_in_few_batches(tmp_path, m):
    plan = people(tmp_path / "out", m)
    sampler = plan.sampler(len(OWNERS), node="a", owners=OWNERS)
    batches, taken = list(sampler), []
    for person in set(OWNERS):
        mine = {i for i, owner in enumerate(OWNERS) if owner == person}
        classes = {t % 4 for t, batch in enumerate(batches) if mine & set(batch)}
        taken.append(len(classes))
        assert 1 <= len(classes) <= m
    assert sampler.expected == sum(taken) / 4
    assert sorted(i for batch in batches for i in batch) == sorted(3 * list(range(len(OWNERS))))  # each record in every cycle
    ledger = plan.ledger(len(OWNERS), OWNERS)
    for t, batch in enumerate(batches):
        ledger.admit(t, batch)


def test_owners_are_asked_for_and_kept(tmp_path):
    plan, state = people(tmp_path / "out"), tmp_path / "batches"
    with pytest.raises(ParticipationError, match="whose are the records"):
        plan.sampler(12, node="a")
    with pytest.raises(ValueError, match="12 records"):
        plan.sampler(12, node="a", owners=OWNERS[1:])
    for nobody in (None, float("nan"), [], ["ada", None]):
        with pytest.raises(ValueError, match="no owner"):
            plan.sampler(12, node="a", owners=[*OWNERS[1:], nobody])
    with pytest.raises(ParticipationError, match="3 persons cannot be dealt to 4"):
        plan.sampler(12, node="a", owners=[0, 1, 2] * 4)
    with pytest.raises(ValueError, match="protects records"):
        mafalda.load(write(tmp_path / "records")).sampler(12, node="a", owners=OWNERS)
    whole = list(plan.sampler(12, node="a", owners=OWNERS))
    first = plan.sampler(12, node="a", state=state, owners=np.array(OWNERS))
    assert [first.batch(t).tolist() for t in range(5)] == whole[:5]
    first.close()
    with pytest.raises(ExportError, match="other owners"):
        plan.sampler(12, node="a", state=state, owners=OWNERS[::-1])
    again = plan.sampler(12, node="a", state=state, owners=OWNERS)
    assert [batch.tolist() for _, batch in again.items()] == whole[4:]


class Patient:
    """What a data set may make anew for every record."""


class Tensor:
    """As torch's: equal to nothing by its hash."""

    def __init__(self, number):
        self.number = number

    def tolist(self):
        return self.number


def test_owners_are_the_same_in_every_record(tmp_path):
    """A tensor a record has another hash in each: taken as it is, a person with five records would be five persons."""
    plan, numbers = people(tmp_path / "out"), [0, 1, 0, 2, 3, 0]
    for named in (
        np.array(numbers),
        [np.array(i) for i in numbers],
        [Tensor(i) for i in numbers],
        [Tensor([i]) for i in numbers],
        [("site", Tensor(i)) for i in numbers],
    ):
        assert plan.sampler(6, node="a", owners=named).owners.tolist() == numbers
    for nobody in (Patient, lambda: [Patient()]):
        with pytest.raises(TypeError, match="name persons by numbers or strings"):
            plan.sampler(6, node="a", owners=[nobody() for _ in numbers])
        with pytest.raises(TypeError, match="Patient"):
            plan.ledger(6, [nobody() for _ in numbers])


@pytest.mark.parametrize("m", [1, 2])
def test_records_with_several_owners(tmp_path, m):
    """Nobody is in more batches than the export allows, nor with other records in one, whoever else owns these."""
    plan, random = people(tmp_path / "out", m), np.random.default_rng(m)
    owners = [set(random.choice(20, 1 + i % 3, replace=False).tolist()) for i in range(60)] + [[0]] * 3
    sampler = plan.sampler(len(owners), node="a", owners=owners)
    batches, ledger = list(sampler), plan.ledger(len(owners), owners)
    for p in range(20):
        mine = [{tuple(sorted(owners[i])) for i in batch if p in owners[i]} for batch in batches[:4]]
        assert max(map(len, mine)) <= 1 and sum(map(len, mine)) <= m
    for t, batch in enumerate(batches):
        ledger.admit(t, batch)
    left = set(range(len(owners))) - {i for batch in batches for i in batch}
    assert 0 < len(left) < len(owners) - 20 and sampler.left_out.tolist() == sorted(left)
    assert sampler.expected == sum(len({tuple(sorted(owners[i])) for i in batch}) for batch in batches[:4]) / 4
    for i in sorted(left)[:10]:  # none of them has room
        with pytest.raises(ParticipationError):
            full = plan.ledger(len(owners), owners)
            for t, batch in enumerate(batches[:4]):
                full.admit(t, [*batch, i])
    again = plan.ledger(4, [["a", "b"], ["b", "c"], ["a", "b"], "d"])
    again.admit(0, [0, 2, 3])
    with pytest.raises(ParticipationError, match="records of different owners"):
        again.admit(4, [0, 1])
    with pytest.raises(ValueError, match="for a record with several owners give a list"):
        plan.ledger(2, [("a", "b"), "a"])


def test_several_owners_are_kept(tmp_path):
    plan, state = people(tmp_path / "out"), tmp_path / "batches"
    owners = [["a", "b"], ["b", "a"], "c", "d", "e", ["f", "c"]]
    plan.sampler(6, node="a", state=state, owners=owners).close()
    plan.sampler(6, node="a", state=state, owners=[["b", "a"], *owners[1:]]).close()
    names = str.maketrans("abcdef", "xyzuvw")  # as strings are hashed otherwise in another process
    plan.sampler(6, node="a", state=state, owners=[[o.translate(names) for o in owner] for owner in owners]).close()
    with pytest.raises(ExportError, match="other owners"):
        plan.sampler(6, node="a", state=state, owners=[*owners[:5], ["f", "d"]])


def test_a_person_in_another_batch_is_refused(tmp_path):
    plan = people(tmp_path / "out")
    ledger = plan.ledger(12, OWNERS)
    ledger.admit(0, [0, 2])  # two records of ada
    with pytest.raises(ParticipationError, match="at most 1 of 4 batches"):
        ledger.admit(1, [1, 5])
    ledger.admit(4, [0, 5, 9])


def test_what_a_person_adds_is_clipped_together(tmp_path):
    torch = pytest.importorskip("torch")
    plan, loss = people(tmp_path / "out"), torch.nn.functional.cross_entropy
    torch.manual_seed(0)
    x, y = torch.randn(12, 5) * 10, torch.randint(3, (12,))

    def fresh():
        torch.manual_seed(1)
        return torch.nn.Linear(5, 3)

    for chunk in (1, 2, 64):
        model = fresh()
        sampler = plan.sampler(12, node="a", owners=OWNERS)
        sgd = torch.optim.SGD(model.parameters(), lr=1.0)
        private = plan.make_private(sgd, node="a", seed=1, sampler=sampler, chunk=chunk)
        batch = next(iter(sampler))
        total = 0
        for person in {OWNERS[i] for i in batch}:
            mine = [i for i in batch if OWNERS[i] == person]
            twin = fresh()
            found = torch.autograd.grad(loss(twin(x[mine]), y[mine]), list(twin.parameters()))
            flat = torch.cat([g.reshape(-1) for g in found])
            total = total + flat * min(1.0, 1.0 / flat.norm().item())
        batch = batch[::-1]  # as a loader may sort it
        private.backward(model, loss, x[batch], y[batch], numbers=batch)
        got = torch.cat([s.reshape(-1) for s in private._taken.sums]).float()
        assert torch.allclose(got, total, atol=1e-4)
        with pytest.raises(ParticipationError, match="came twice"):
            private.backward(model, loss, x[batch], y[batch], numbers=batch)
        with pytest.raises(ParticipationError, match="not whole"):
            private.backward(model, loss, x[batch][1:], y[batch][1:], numbers=batch[1:])
        with pytest.raises(ParticipationError, match="not whole"):
            private.backward(model, loss, x[:0], y[:0], numbers=[])
        with pytest.raises(ParticipationError, match="not by its place"):
            private.backward(model, loss, x[batch], y[batch])
        private.backward(model, loss, x[batch], y[batch], numbers=batch)
        private.step()
        private.close()


def test_persons_have_no_canaries(tmp_path):
    plan = people(tmp_path / "out")
    sampler = plan.sampler(12, node="a", owners=OWNERS)
    with pytest.raises(ParticipationError, match="protects persons"):
        plan.canaries(3, 10, tmp_path / "coins.json", sampler=sampler)


def test_batches_of_others_know_no_persons(tmp_path):
    torch = pytest.importorskip("torch")
    plan, model = people(tmp_path / "out"), torch.nn.Linear(2, 2)
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    with pytest.raises(ParticipationError, match="owners="):
        plan.make_private(sgd, node="a", seed=1, size=3, participation="mine")
