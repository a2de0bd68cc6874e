"""Canaries: records that are made up to find out what a training that really happens gives away.

    sampler = plan.sampler(len(data) + 1000, node=node, state="batches")
    canaries = plan.canaries(1000, dim, "coins.json", sampler=sampler)      # the last 1,000 records of the sampler
    private = plan.make_private(sgd, node=node, state="noise", sampler=sampler, canaries=canaries, record="run")
    ...
    plan.audit("run", "coins.json")

The clipped gradient of canary i is clip·c, c a random direction of norm 1, and its number is in batches as any record's is. A
secret coin says whether it contributes: what the messages tell of the coins they tell of records. Who has the file of coins can
tell canaries from noise: it is for the auditor.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from typing import Any, Sequence

import numpy as np

from . import durable
from .errors import ExportError, MafaldaError, ParticipationError
from .export import Export
from .sampler import Sampler

FORMAT, RUN_FORMAT = "mafalda canaries 1", "mafalda run 1"
LOUD = 10.0  # gradients of canaries are so many times the clip: a clip that is not applied, or not to all layers, is seen


class Canaries:
    """Made by Plan.canaries.

    Attributes:
        records   how many records of the sampler are real: canary i is record number records + i
        count     how many canaries there are
        steps     of each canary, the steps in which it is to take part
        included  the coins: whether each contributes. Secret
    """

    def __init__(self, sampler: Sampler, dim: int, count: int, clip: float, key: bytes) -> None:
        self.sampler, self.dim, self.count, self.clip = sampler, dim, count, clip
        self.records = sampler.records - count
        self._key = key
        self.steps: list[list[int]] = [[] for _ in range(count)]
        for t in range(sampler.steps):
            for number in sampler.numbers(t).tolist():
                if number >= self.records:
                    self.steps[number - self.records].append(t)
        bits = np.frombuffer(self._stream(0, (count + 7) // 8), dtype=np.uint8)
        self.included = np.unpackbits(bits, bitorder="little")[:count].astype(bool)

    def direction(self, i: int) -> np.ndarray:
        """The direction of canary i: dim numbers ±1/√dim, float32."""
        bits = np.frombuffer(self._stream(i + 1, (self.dim + 7) // 8), dtype=np.uint8)
        signs = np.unpackbits(bits, bitorder="little")[: self.dim].astype(np.float32)
        return (signs * 2 - 1) / np.float32(np.sqrt(self.dim))

    def contributing(self, numbers: Sequence[int]) -> list[int]:
        """The numbers of canaries among those of a batch whose coin has them contribute."""
        return [int(i) for i in numbers if i >= self.records and self.included[int(i) - self.records]]

    def gradients(self, numbers: Sequence[int]) -> np.ndarray:
        """The gradients, before the clip, of the canaries among numbers that contribute: a row each, float32."""
        rows = [self.direction(i - self.records) * np.float32(LOUD * self.clip) for i in self.contributing(numbers)]
        return np.stack(rows) if rows else np.zeros((0, self.dim), dtype=np.float32)

    def said(self) -> dict[str, Any]:
        """What the file of coins has."""
        sampler = self.sampler
        found = {"format": FORMAT, "export": sampler.plan.hash, "node": sampler.node, "dim": self.dim, "clip": self.clip}
        return {**found, "key": self._key.hex(), "first": self.records, "steps": self.steps}

    def _stream(self, number: int, length: int) -> bytes:
        return hashlib.shake_128(FORMAT.encode() + self._key + number.to_bytes(8, "little")).digest(length)


def make(plan: Export, count: int, dim: int, path: Any, sampler: Sampler, seed: int | None, clip: float | None) -> Canaries:
    """See Plan.canaries."""
    if not isinstance(sampler, Sampler) or sampler.plan.hash != plan.hash:
        raise ParticipationError(f"canaries are records of a node: give sampler=plan.sampler(len(data) + {count}, …) of this plan")
    if sampler.owners is not None:
        raise ParticipationError("canaries are records of their own, and the export protects persons: they audit plans for records")
    for name, value, least in (("count", count, 2), ("dim", dim, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(f"{name} is a whole number, at least {least}, not {value!r}")
    if count >= sampler.records:
        raise ParticipationError(
            f"{count} canaries among {sampler.records} records leave no real one: make the sampler with len(data) + {count}"
        )
    clip = plan.level(sampler.node or None).clip if clip is None else clip
    if clip is None or not 0 < clip < float("inf"):
        raise ValueError(f"clip is the norm of every record's gradient, above 0, not {clip!r}")
    path = os.fspath(path)
    kept = durable.read_json(path)
    if kept is not None:  # a run that goes on
        made = Canaries(sampler, int(dim), int(count), float(clip), bytes.fromhex(str(kept.get("key", ""))))
        if kept != made.said():
            raise MafaldaError(f"{path} has the coins of another run: give another name")
        return made
    key = secrets.token_bytes(32)
    if seed is not None:
        key = hashlib.sha256(b"mafalda canaries seed 1" + int(seed).to_bytes(8, "little")).digest()
    made = Canaries(sampler, int(dim), int(count), float(clip), key)
    durable.write_json(path, made.said())
    return made


class Recorder:
    """Writes down how the message of every step changed the model that the node held: what everybody knows who has all messages.

    It makes a folder, or goes on with the one of this run: run.json, and updates.f32 with a row of dim numbers for each step, NaN
    where no message left. layers are the parameters of each layer, size is what sums are divided by, momentum that of the optimizer.
    """

    def __init__(
        self, plan: Export, node: str, folder: str | os.PathLike[str], layers: Sequence[int], size: float, momentum: float = 0.0
    ) -> None:
        self._shape = (plan.steps, sum(layers))
        folder = os.fspath(folder)
        said = {"format": RUN_FORMAT, "export": plan.hash, "node": node, "dim": self._shape[1], "steps": plan.steps}
        said |= {"size": float(size), "momentum": float(momentum), "layers": [int(n) for n in layers]}
        name, path = os.path.join(folder, "run.json"), os.path.join(folder, "updates.f32")
        if os.path.lexists(folder):
            if not os.path.isdir(folder) or durable.read_json(name) != said:
                raise MafaldaError(f"{folder} is there already, and is not the record of this run: give another name")
            self._updates = np.memmap(path, dtype="<f4", mode="r+", shape=self._shape)
            return
        os.makedirs(folder)
        self._updates = np.memmap(path, dtype="<f4", mode="w+", shape=self._shape)
        for row in self._updates:
            row[:] = np.nan
        self._updates.flush()
        durable.write_json(name, said)  # last: with it the folder is a record

    def missed(self, steps: Sequence[int]) -> None:
        """Steps whose message did not leave after all: the next row of noise carries theirs (noise.place.unsent says which)."""
        for step in steps:
            self._updates[step] = np.nan

    def add(self, step: int, before: np.ndarray, message: np.ndarray, rate: float) -> None:
        """The message of a step, the model that the node held before, and the learning rate in between."""
        steps, dim = self._shape
        if not 0 <= step < steps or len(before) != dim or len(message) != dim or not rate > 0:
            raise ExportError(f"step {step} of {steps}, models of {len(before)} and {len(message)} numbers (not {dim}), rate {rate}")
        self._updates[step] = (np.asarray(before, dtype=np.float64) - np.asarray(message, dtype=np.float64)) / rate
        self._updates.flush()
