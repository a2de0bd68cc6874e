"""Persons and their records, for exports that protect a person with all that is theirs (unit="person"
of mafalda.optimize)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any, Hashable, Iterable, Sequence

import numpy as np

from .errors import ParticipationError
from ._export import Export
from ._types import Array


class Owners:
    """Whose each record is: records of the same owners are a group, and what a group adds to a step is clipped
    together.

    Where every record has one owner, groups are persons.

    Attributes:
        groups      the number of each record's group, 0, 1, … in the order in which they come
        persons     of every group, the numbers of its owners, likewise
    """

    def __init__(self, names: Sequence[frozenset[Hashable]]) -> None:
        people: dict[Any, int] = {}
        numbers: dict[frozenset[Hashable], int] = {}
        for owners in names:
            numbers.setdefault(owners, len(numbers))
            for owner in owners:
                people.setdefault(owner, len(people))
        self.groups = np.array([numbers[owners] for owners in names], dtype=np.int64)
        self.persons = [frozenset(people[owner] for owner in owners) for owners in numbers]
        self.shared = any(len(owners) > 1 for owners in self.persons)

    def digest(self) -> str:
        """What a state keeps of them, so that it does not go on with others."""
        text = self.groups.astype("<i8").tobytes()
        if self.shared:  # groups of every person, in no order that a hash makes
            of: defaultdict[int, list[int]] = defaultdict(list)
            for g, owners in enumerate(self.persons):
                for p in owners:
                    of[p].append(g)
            text += repr(sorted(of.values())).encode()
        return hashlib.sha256(text).hexdigest()


WHOLE = (
    "the export protects a silo's whole update in every round, which is clipped as one, and not its records: use mafalda.silo.Silo with "
    "plan.noise(…), and update"
)


def owners_of(plan: Export, records: int, owners: Iterable[Any] | None) -> Owners | None:
    """Whose each record is: a name, or a list or a set of several; None for an export that protects records."""
    if plan.schema == "silo":
        raise ParticipationError(WHOLE)
    if plan.schema != "people":
        if owners is not None:
            raise ValueError(
                "owners are for exports that protect persons (unit, person); this one protects records"
            )
        return None
    if owners is None:
        raise ParticipationError(
            "whose are the records? The export protects persons: give owners, the person of each record, as "
            "plan.sampler(len(data), owners=patients, …)"
        )
    given = [_names(owner) for owner in (owners.tolist() if hasattr(owners, "tolist") else owners)]
    if len(given) != records:
        raise ValueError(f"owners has {len(given)} persons, one for each record, and there are {records} records")
    everybody = frozenset().union(*given)
    for owner in everybody:
        if isinstance(owner, tuple) and everybody & {part for part in owner if part is not None}:
            raise ValueError(
                f"{owner!r} is one name, and a part of it is another person's: for a record with several owners give a list"
            )
    return Owners(given)


def _names(owner: Any) -> frozenset[Hashable]:
    """The owners of one record: of a list or a set all that are in it, of anything else itself."""
    if hasattr(owner, "tolist"):
        owner = owner.tolist()
    names = frozenset(_plain(one) for one in (owner if isinstance(owner, (list, set, frozenset)) else [owner]))
    if not names or any(name is None or name != name for name in names):
        raise ValueError("a record has no owner (None, nan or an empty list): whose is it? Leave it out, or give it to somebody")
    return names


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


class Dealt:
    """Batches of whole persons: person p is in batch p mod b; with records in up to m batches, its j-th record is in
    batch (p + j mod m) mod b. Step t uses batch t mod b.

    Where records have several owners, groups are chosen greedily, those of the fewest owners first, then those of the
    most records: a group goes into the smallest of the batches in which none of its owners is, if each of these is in
    fewer than m so far, and is left out without such a batch. So a person has one group in a batch at most, and is in m
    batches at most.
    """

    def __init__(self, owners: Owners, b: int, m: int) -> None:
        self.records, self.batches = len(owners.groups), b
        if owners.shared:
            of = self._greedy(owners, b, m)
            self._of = of[owners.groups]
            self.groups = clipped = int((of >= 0).sum())
        else:
            self.groups = len(owners.persons)
            seen = np.zeros(self.groups, dtype=np.int64)
            self._of = np.empty(self.records, dtype=np.int64)
            for i, p in enumerate(owners.groups):
                self._of[i] = (p + seen[p] % m) % b
                seen[p] += 1
            clipped = int(np.minimum(seen, m).sum())
        self.expected = clipped / b
        self.left_out = np.flatnonzero(self._of < 0)

    @staticmethod
    def _greedy(owners: Owners, b: int, m: int) -> Array:
        """The batch of every group, -1 for those that are left out."""
        sizes = np.bincount(owners.groups)
        of, filled = np.full(len(sizes), -1, dtype=np.int64), [0] * b
        taken: defaultdict[int, set[int]] = defaultdict(set)  # batches of each person
        for g in sorted(range(len(sizes)), key=lambda g: (len(owners.persons[g]), -sizes[g], g)):
            mine = [taken[p] for p in owners.persons[g]]
            free = set(range(b)).difference(*mine)
            if free and max(map(len, mine)) < m:
                of[g] = chosen = min(free, key=lambda c: (filled[c], c))
                filled[chosen] += 1
                for batches in mine:
                    batches.add(chosen)
        return of

    def of(self, step: int) -> Array:
        return np.flatnonzero(self._of == step % self.batches)


class PersonLedger:
    """Notes in which batches of a cycle persons have been."""

    def __init__(self, plan: Export, owners: Owners) -> None:
        self._owners, self._b = owners, plan.b
        self._most = plan.manifest["participation"]["person_batches"]
        self._in: defaultdict[int, set[int]] = defaultdict(set)

    def admit(self, step: int, who: Sequence[int] | Array) -> None:
        """A ParticipationError, and nothing noted, if a person would be in more batches than the export allows, or
        twice in one."""
        batch, groups = step % self._b, np.unique(self._owners.groups[np.asarray(who, dtype=np.int64)]).tolist()
        group_of: dict[int, int] = {}
        for g in groups:
            for p in self._owners.persons[g]:
                if p in group_of:
                    raise ParticipationError(
                        f"person {p} would be in batch {batch} with records of different owners {self._records(group_of[p], g)}: "
                        "what a person adds to a step is clipped together, so take records of the same owners only"
                    )
                group_of[p] = g
                if len(self._in[p] | {batch}) > self._most:
                    raise ParticipationError(
                        f"person {p} (records {self._records(g)}…) would be in batch {batch} besides "
                        f"{sorted(self._in[p])}: the export is private for persons in at most {self._most} of {self._b} batches"
                    )
        for p in group_of:
            self._in[p].add(batch)

    def _records(self, *groups: int) -> list[int]:
        return np.flatnonzero(np.isin(self._owners.groups, groups))[:5].tolist()
