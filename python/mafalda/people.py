"""Persons and their records, for exports that protect a person with all that is theirs (`mafalda optimize --unit person`)."""

from __future__ import annotations

import hashlib
from typing import Any, Hashable, Iterable, Sequence

import numpy as np

from .errors import ParticipationError
from .export import Export


def owners_of(plan: Export, records: int, owners: Iterable[Hashable] | None) -> np.ndarray | None:
    """The number of each record's person, 0, 1, … in the order in which they come; None for an export that protects records."""
    if plan.schema != "people":
        if owners is not None:
            raise ValueError(
                "owners are for exports that protect persons (mafalda optimize --unit person); this one protects records"
            )
        return None
    if owners is None:
        raise ParticipationError(
            "whose are the records? The export protects persons: give owners, the person of each record, as "
            "plan.sampler(len(data), owners=patients, …)"
        )
    given = [_plain(owner) for owner in (owners.tolist() if hasattr(owners, "tolist") else owners)]
    if len(given) != records:
        raise ValueError(f"owners has {len(given)} persons, one for each record, and there are {records} records")
    numbers: dict[Any, int] = {}
    for owner in given:
        if owner is None or owner != owner:
            raise ValueError("a record has no owner (None or nan): whose is it? Leave it out, or give it to somebody")
        numbers.setdefault(owner, len(numbers))
    return np.array([numbers[owner] for owner in given], dtype=np.int64)


def _plain(owner: Any) -> Hashable:
    """An owner that is equal to itself in another record: a tensor or array of one number is that number.

    A TypeError for what has no name to be known by again: each record would be a person of its own.
    """
    if hasattr(owner, "tolist"):  # numbers of numpy and torch are equal as Python's
        owner = owner.tolist()
        while isinstance(owner, list) and len(owner) == 1:
            owner = owner[0]
    if isinstance(owner, tuple):
        return tuple(_plain(part) for part in owner)
    if owner is not None and type(owner).__hash__ in (None, object.__hash__):
        raise TypeError(
            f"an owner is a {type(owner).__name__}, which is equal to nothing but itself, or has no hash: name persons by "
            "numbers or strings, the same for all records of a person"
        )
    return owner


def digest_of(owners: np.ndarray) -> str:
    """What a state keeps of them, so that it does not go on with others."""
    return hashlib.sha256(owners.astype("<i8").tobytes()).hexdigest()


class Dealt:
    """Batches of whole persons: person p is in batch p mod b; with records in up to m batches, its j-th record is in batch
    (p + j mod m) mod b. Step t uses batch t mod b."""

    def __init__(self, owners: np.ndarray, b: int, m: int) -> None:
        self.records, self.batches, self.persons = len(owners), b, int(owners.max()) + 1
        seen = np.zeros(self.persons, dtype=np.int64)
        self._of = np.empty(len(owners), dtype=np.int64)
        for i, p in enumerate(owners):
            self._of[i] = (p + seen[p] % m) % b
            seen[p] += 1
        self.expected = float(np.minimum(seen, m).sum()) / b

    def of(self, step: int) -> np.ndarray:
        return np.flatnonzero(self._of == step % self.batches)


class PersonLedger:
    """In which batches of a cycle persons have been."""

    def __init__(self, plan: Export, owners: np.ndarray) -> None:
        self._owners, self._b = owners, plan.b
        self._most = plan.manifest["participation"]["person_batches"]
        self._in: dict[int, set[int]] = {}

    def admit(self, step: int, who: Sequence[int] | np.ndarray) -> None:
        """A ParticipationError, and nothing noted, if a person would be in more batches than the export allows."""
        batch, persons = step % self._b, set(self._owners[np.asarray(who, dtype=np.int64)].tolist())
        for p in persons:
            if len(self._in.get(p, set()) | {batch}) > self._most:
                raise ParticipationError(
                    f"person {p} (records {np.flatnonzero(self._owners == p)[:5].tolist()}…) would be in batch {batch} besides "
                    f"{sorted(self._in[p])}: the export is private for persons in at most {self._most} of {self._b} batches"
                )
        for p in persons:
            self._in.setdefault(p, set()).add(batch)
