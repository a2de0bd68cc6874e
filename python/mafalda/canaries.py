"""Canaries: records that are made up to find out what a training that really happens gives away.

    sampler = plan.sampler(len(data) + 1000, node=node, state="batches")
    canaries = plan.canaries(1000, dim, "coins.json", sampler=sampler)      # the last 1,000 records of the sampler
    private = plan.make_private(sgd, node=node, state="noise", sampler=sampler, canaries=canaries, record="run")
    ...
    plan.audit("run", "coins.json")

The clipped gradient of canary i is clip·c, c a random direction of norm 1, and its number is in batches as any record's
is. A secret coin says whether it contributes; in exports for records that are replaced (replace-one), whether it does
or its opposite, -clip·c: what the messages tell of the coins they tell of records. Who has the file of coins can
tell canaries from noise: it is for the auditor.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
import re
import secrets
from typing import Any, Mapping, Sequence

import numpy as np

from . import _durable, _files
from .errors import ExportError, MafaldaError, ParticipationError, ProcessError
from ._export import Export
from ._sampler import Sampler
from ._types import Array, Json, Path, is_positive, is_whole

FORMAT, RUN_FORMAT, VIEW_FORMAT = "mafalda canaries 1", "mafalda run 1", "mafalda view 1"
RECORD_FORMAT = "mafalda record 1"
LARGEST = 1 << 30  # bytes of a file of coins
QUIET = 1e-3  # times the clip is what senders contribute who do not take part
# Gradients of canaries are so many times the clip: a clip that is not applied, or not to all layers, is seen.
LOUD = 10.0


class _Coins:
    """Directions and coins, made of a key: canaries are the records from number records on."""

    def __init__(self, records: int, dim: int, count: int, clip: float, key: bytes, replaced: bool) -> None:
        self.records, self.dim, self.count, self.clip = records, dim, count, clip
        self.replaced, self._key = replaced, key
        bits = np.frombuffer(self._stream(0, (count + 7) // 8), dtype=np.uint8)
        self.included = np.unpackbits(bits, bitorder="little")[:count].astype(bool)

    def direction(self, i: int) -> Array:
        """The direction of canary i: dim numbers ±1/√dim, float32."""
        bits = np.frombuffer(self._stream(i + 1, (self.dim + 7) // 8), dtype=np.uint8)
        value = np.float32(1) / np.float32(np.sqrt(self.dim))
        signs = np.unpackbits(bits, bitorder="little")[: self.dim].astype(np.float32)
        signs *= 2 * value  # 0 or twice the value, of which the value is taken, exactly
        signs -= value
        return signs

    def contributing(self, numbers: Sequence[int]) -> list[int]:
        """The numbers of canaries among those of a batch that contribute: by their coins or, with replaced, all."""
        taken = [int(i) for i in numbers if i >= self.records]
        return [i for i in taken if self.replaced or self.included[i - self.records]]

    def gradients(self, numbers: Sequence[int]) -> Array:
        """The gradients, before the clip, of the canaries among numbers that contribute: a row each, float32."""
        taken = self.contributing(numbers)
        rows = np.empty((len(taken), self.dim), dtype=np.float32)
        for row, i in zip(rows, taken):
            sign = 1 if self.included[i - self.records] else -1
            np.multiply(self.direction(i - self.records), np.float32(sign * LOUD * self.clip), out=row)
        return rows

    def _stream(self, number: int, length: int) -> bytes:
        return hashlib.shake_128(FORMAT.encode() + self._key + number.to_bytes(8, "little")).digest(length)

    def _text(self, export: str, node: str, steps: list[list[int]]) -> Json:
        """What the file of coins has."""
        found = {"format": FORMAT, "export": export, "node": node, "dim": self.dim, "clip": self.clip}
        found |= {"replaced": True} if self.replaced else {}
        return {**found, "key": self._key.hex(), "first": self.records, "steps": steps}


class Canaries(_Coins):
    """Made by Plan.canaries.

    Attributes:
        records   how many records of the sampler are real: canary i is record number records + i
        count     how many canaries there are
        steps     of each canary, the steps in which it is to take part
        included  the coins: whether each contributes. Secret
        replaced  whether the opposites of all others do, as where one record replaces another; else nothing does
    """

    def __init__(self, sampler: Sampler, dim: int, count: int, clip: float, key: bytes, replaced: bool = False) -> None:
        super().__init__(sampler.records - count, dim, count, clip, key, replaced)
        self.sampler = sampler
        self.kept: dict[tuple[int, ...], list[Any]] = {}  # by numbers, their clipped sum, of batches that come again
        self.steps: list[list[int]] = [[] for _ in range(count)]
        for t in range(sampler.steps):
            for number in sampler.numbers(t).tolist():
                if number >= self.records:
                    self.steps[number - self.records].append(t)

    def said(self) -> Json:
        """What the file of coins has."""
        return self._text(self.sampler.plan.hash, self.sampler.node, self.steps)


def make_canaries(
    plan: Export,
    count: int,
    dim: int,
    path: Path,
    *,
    sampler: Sampler,
    seed: int | None = None,
    clip: float | None = None,
) -> Canaries:
    """Records that are made up for an audit of a training: the last count ones of sampler, for a model of dim
    parameters.

    path is the file for their coins, which is for the auditor alone; if it is there, the run goes on
    with it. make_private takes them. They cost accuracy: their gradients go into the sums as all others. seed: for
    simulations.
    """
    if not isinstance(sampler, Sampler) or sampler.plan.hash != plan.hash:
        raise ParticipationError(
            f"canaries are records of a node: give sampler=plan.sampler(len(data) + {count}, …) of this plan"
        )
    if sampler.owners is not None:
        raise ParticipationError(
            "canaries are records of their own, and the export protects persons: they audit plans for records"
        )
    for name, value, least in (("count", count, 2), ("dim", dim, 1)):
        if not is_whole(value, least):
            raise ValueError(f"{name} is a whole number, at least {least}, not {value!r}")
    if count >= sampler.records:
        raise ParticipationError(
            f"{count} canaries among {sampler.records} records leave no real one: "
            f"make the sampler with len(data) + {count}"
        )
    clip = plan.level(sampler.node or None).clip if clip is None else clip
    if clip is None or not is_positive(clip):
        raise ValueError(f"clip is the norm of every record's gradient, above 0, not {clip!r}")
    path = os.fspath(path)
    kept = _read(path)
    if kept is None:
        key, replaced = _new_key(seed), plan.manifest.get("privacy", {}).get("adjacency") == "replace-one"
    else:  # a run that goes on
        key, replaced = bytes.fromhex(str(kept.get("key", ""))), kept.get("replaced") is True
    made = Canaries(sampler, int(dim), int(count), float(clip), key, replaced)
    if kept is None:
        _write_sealed(path, made.said())
    elif kept != made.said():
        raise MafaldaError(f"{path} has the coins of another run: give another name")
    return made


def _new_key(seed: int | None) -> bytes:
    if seed is None:
        return secrets.token_bytes(32)
    return hashlib.sha256(b"mafalda canaries seed 1" + int(seed).to_bytes(8, "little")).digest()


class Recorder:
    """Writes down how the message of every step changed the model that the node held: what everybody knows who has all
    messages.

    It makes a folder, or goes on with the one of this run: run.json, and updates.f32 with a row of dim numbers for each
    step, NaN where no message left. layers are the parameters of each layer, size is what sums are divided by, momentum
    that of SGD; None for another optimizer, which nobody undoes: then the gradients that it is given are recorded
    (add_gradients).
    """

    def __init__(
        self,
        plan: Export,
        node: str,
        folder: Path,
        layers: Sequence[int],
        size: float,
        momentum: float | None = 0.0,
    ) -> None:
        self.gradients = momentum is None
        said = _run(RUN_FORMAT, plan, node, size, momentum or 0, layers)
        said |= {"gradients": True} if self.gradients else {}
        self._updates = _Rows(folder, said, "updates.f32", (plan.steps, said["dim"]))

    def missed(self, steps: Sequence[int]) -> None:
        """Steps whose message did not leave after all: the next row of noise carries theirs (noise.place.unsent says
        which)."""
        for step in steps:
            self._updates.write(step, np.nan)

    def add(self, step: int, before: Array, message: Array, rate: float) -> None:
        """The message of a step, the model that the node held before, and the learning rate in between."""
        steps, dim = self._updates.shape
        if not 0 <= step < steps or len(before) != dim or len(message) != dim or not rate > 0:
            models = f"models of {len(before)} and {len(message)} numbers (not {dim})"
            raise ExportError(f"step {step} of {steps}, {models}, rate {rate}")
        self._updates.write(step, (np.asarray(before, dtype=np.float64) - np.asarray(message, dtype=np.float64)) / rate)

    def add_gradients(self, step: int, gradients: Array) -> None:
        """The gradients with their noise, divided by the size, that an optimizer was given in a step."""
        self._updates.write(step, gradients)


def _run(format: str, plan: Export, node: str, size: float, momentum: float, layers: Sequence[int]) -> Json:
    """What run.json says of every run."""
    said = {"format": format, "export": plan.hash, "node": node, "dim": int(sum(layers)), "steps": plan.steps}
    return said | {"size": float(size), "momentum": float(momentum), "layers": [int(n) for n in layers]}


class View:
    """Writes down what a node received, for an audit of what it learns of another one (plan.audit with attacker=node).

    start is the model that all nodes begin with, sizes says what each node divides its sums by, by label, and rates are
    the learning rates: one number, or one a step. It makes a folder, or goes on with the one of this run.
    """

    def __init__(
        self,
        plan: Export,
        node: str,
        folder: Path,
        start: Array,
        *,
        sizes: Mapping[str, float],
        rates: float | Sequence[float],
        momentum: float = 0.0,
        layers: Sequence[int] | None = None,
    ) -> None:
        self._seen = list(plan.neighbours(plan.check_node(node, needed=True)))
        rates = np.broadcast_to(np.asarray(rates, dtype=np.float64), plan.steps).tolist()
        said = _run(VIEW_FORMAT, plan, node, 0, momentum, layers or [len(start)])
        said |= {"dim": len(start), "seen": self._seen}
        said |= {"sizes": {label: float(sizes[label]) for label in plan.nodes if label != node}, "rates": rates}
        shape = (1 + plan.steps * (1 + len(self._seen)), len(start))
        self._messages = _Rows(folder, said, "messages.f32", shape, [start])
        if not np.array_equal(self._messages[0], np.asarray(start, dtype=np.float32)):
            raise MafaldaError(f"{folder} is there already, and is not the record of this run: give another name")

    def add(self, step: int, own: Array, received: Mapping[str, Array]) -> None:
        """The messages of a step: the node's own, and those that it received, by label."""
        if set(received) != set(self._seen):
            raise ExportError(f"step {step} has messages of {sorted(received)}, and the node hears {self._seen}")
        first = 1 + step * (1 + len(self._seen))
        self._messages.write(first, own, *(received[label] for label in self._seen))


class Record(_Coins):
    """Writes down what any program releases, without a plan: mafalda.audit(run=folder) then says whether it is as
    claimed.

        record = mafalda.canaries.Record("record", model, count=40, clip=1.0, claim="run.toml")
        for t in range(rounds):
            for i in range(40):                                         # canary i is all that sender i contributes
                record.add(t, private_update(record.update(i)), sender=i)
        record.close()

    or, for canaries beside real contributions in one sum, record.gradients(drawn), in rows, and
    record.add(t, noisy_sum).

    like is a state dict, a list of arrays, an array, or a number of parameters: what is released has this shape, all
    with noise. clip is what the program clips a contribution to, size what it divides sums by, claim the description
    that mafalda spent reads, noising the T×T matrix by which the noise of a sender's rounds is claimed to be
    correlated. The folder has the coins: it is secret.
    """

    def __init__(
        self,
        folder: Path,
        like: Any,
        count: int,
        clip: float,
        *,
        size: float = 1.0,
        claim: Path | None = None,
        noising: Array | None = None,
        seed: int | None = None,
    ) -> None:
        like = np.zeros(like, np.float32) if isinstance(like, (int, np.integer)) else like
        self._like = [np.asarray(part) for part in _parts(like)]
        self._keys = list(like) if isinstance(like, Mapping) else None
        self._single = not isinstance(like, (Mapping, list, tuple))
        dim, count = sum(part.size for part in self._like), operator.index(count)
        noising = None if noising is None else np.asarray(noising, dtype=np.float64)
        if count < 2 or dim < 1 or not (is_positive(clip) and is_positive(size)):
            positive = f"parameters ({dim}), clip {clip} and size {size}"
            raise ValueError(f"count {count} must be at least 2, and {positive} above 0")
        super().__init__(0, dim, int(count), float(clip), _new_key(seed), False)
        self._folder, self._size, self._owner = os.path.abspath(os.fspath(folder)), float(size), os.getpid()
        self._rounds: list[Json] = []
        self._rows: list[Array] = []
        self._senders: list[int | None] = []
        self._drawn: list[int] | None = None
        self._noising: str | None = None
        text = None if claim is None else _files.read(claim)
        try:
            os.makedirs(self._folder, 0o700)
        except FileExistsError:
            whose = "and goes on, or was interrupted: no record goes on later"
            if os.path.exists(self._at("record.json")):
                whose = "of another run"
            raise MafaldaError(f"{self._folder} is there already, {whose}: give another name") from None
        _write_sealed(self._at("coins.json"), self._text("", "", [[] for _ in range(count)]))
        self._matrices = {}
        if text is not None:
            _durable.write(self._at("run.toml"), text)
            for path in re.findall(r"""^\s*matrix\s*=\s*["'](.+?)["']""", text.decode(errors="replace"), re.MULTILINE):
                file = os.path.join(path, "manifest.json") if os.path.isdir(path) else path
                if os.path.exists(file):
                    self._matrices[path] = _files.sha256(file)
        if noising is not None:
            np.save(self._at("noising.npy"), noising)
            self._noising = _files.sha256(self._at("noising.npy"))

    def update(self, i: int) -> Any:
        """What canary i contributes, before the clip, in the shape of like: by its coin, next to nothing, as some
        divide by its norm."""
        flat = self.direction(i) * np.float32(self.clip * (LOUD if self.included[i] else QUIET))
        ends = np.cumsum([part.size for part in self._like])[:-1]
        parts = [piece.reshape(part.shape) for piece, part in zip(np.split(flat, ends), self._like)]
        return parts[0] if self._single else parts if self._keys is None else dict(zip(self._keys, parts))

    def add(
        self,
        round: int,
        released: Any,
        sender: int | None = None,
        *,
        before: Any = None,
        drawn: Sequence[int] | None = None,
    ) -> None:
        """What was released in a round: noise and all, less before, which was known (the model that an update is added
        to).

        Rounds are 0, 1, 2, …, one after the other. sender is the number of the canary that the sender's whole
        contribution is; None where canaries are contributions beside others, of which drawn says which had their turn,
        whatever their coins (all). What several recipients get for the same data is added several times.
        """
        self._check_process("bring what was released")
        next_round = len(self._rounds) + bool(self._rows)
        if round == next_round and self._rows:
            self._end_round()
        elif round != len(self._rounds):
            raise MafaldaError(f"round {round} does not follow: round {len(self._rounds)} is being recorded")
        sender = None if sender is None else self._canary("sender", sender)
        wanted = None if drawn is None else sorted({self._canary("drawn", i) for i in drawn})
        if sender is not None and wanted is not None:
            raise MafaldaError("drawn is of canaries beside others: a sender that was not drawn releases nothing")
        if self._rows and wanted != self._drawn:
            raise MafaldaError(f"drawn is one set of canaries in round {round}, and was another one before")
        if self._senders and (self._senders[0] is None) != (sender is None):
            raise MafaldaError("either every release has a sender, or none")
        row = self._flat(released)
        if before is not None:
            row = row - self._flat(before)
        row = (row * self._size).astype(np.float32)
        if not np.isfinite(row).all():
            raise MafaldaError(f"what was released in round {round} has a number that is not finite")
        self._drawn = wanted
        self._rows.append(row)
        self._senders.append(sender)

    def close(self) -> None:
        """Writes what the files are. A record that was not closed is neither audited nor taken up later."""
        self._check_process("close it")
        if self._rows:
            self._end_round()
        coins = _files.sha256(self._at("coins.json"))
        said = {"format": RECORD_FORMAT, "coins": coins, "rounds": self._rounds}
        said |= {"noising": self._noising} if self._noising else {}
        _write_sealed(self._at("record.json"), said | ({"matrices": self._matrices} if self._matrices else {}))

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()

    def _check_process(self, advice: str) -> None:
        if os.getpid() != self._owner:
            raise ProcessError(f"{self._folder} is written by process {self._owner}: {advice} there")

    def _canary(self, what: str, number: Any) -> int:
        if not is_whole(number, 0, self.count):
            raise MafaldaError(f"{what} {number!r} is none of {self.count} canaries, 0 to {self.count - 1}")
        return int(number)

    def _end_round(self) -> None:
        path = self._at(f"round-{len(self._rounds):04d}.npy")
        try:
            with open(path, "xb") as f:
                np.save(f, np.asarray(self._rows, dtype="<f4"))
        except FileExistsError:
            raise MafaldaError(f"{path} is there already: another process writes to this folder") from None
        said = {"sha256": _files.sha256(path), "rows": len(self._rows)}
        said |= {"senders": self._senders} if self._senders[0] is not None else {}
        self._rounds.append(said | ({"drawn": self._drawn} if self._drawn is not None else {}))
        self._rows, self._senders = [], []

    def _flat(self, values: Any) -> Array:
        parts = _parts([values[key] for key in self._keys] if self._keys is not None else values)
        if [part.shape for part in parts] != [part.shape for part in self._like]:
            found, wanted = ([part.shape for part in of] for of in (parts, self._like))
            raise MafaldaError(f"what is released has shapes {found}, not {wanted}")
        return np.concatenate([part.ravel() for part in parts])

    def _at(self, name: str) -> str:
        return os.path.join(self._folder, name)


def _parts(values: Any) -> list[Array]:
    """Arrays and tensors, of a state dict, a list, or one, as float64."""
    if hasattr(values, "state_dict"):
        kind = type(values).__name__
        raise MafaldaError(f"numbers are wanted, and not a {kind}: give what it sends, its state_dict() for example")
    found = list(values.values()) if isinstance(values, Mapping) else values
    found = found if isinstance(found, (list, tuple)) else [found]
    parts = [np.asarray(v.detach().cpu().double() if hasattr(v, "detach") else v) for v in found]
    for part in parts:
        if part.dtype.kind not in "fiu":
            raise MafaldaError(f"numbers are wanted, and an array has type {part.dtype}")
    return [part.astype(np.float64) for part in parts]


class _Rows:
    """The rows of a record: a folder with run.json, and a file of float32 numbers, NaN where none was written.

    All room is taken when it is made, or an OSError says that there is none; run.json comes last, and what a crash
    leaves before is made anew. first are rows that it begins with.
    """

    def __init__(self, folder: Any, said: Json, name: str, shape: tuple[int, int], first: Any = ()) -> None:
        folder = os.path.abspath(os.fspath(folder))
        run, self._path, self.shape = os.path.join(folder, "run.json"), os.path.join(folder, name), shape
        size, entries = 4 * shape[0] * shape[1], os.listdir(folder) if os.path.isdir(folder) else []
        kept = _durable.read_json(run) if "run.json" in entries else None
        begun = all(entry == name or entry.startswith(_durable.TEMPORARY) for entry in entries)
        if kept != said and (not begun or os.path.lexists(folder) and not os.path.isdir(folder)):
            raise MafaldaError(f"{folder} is there already, and is not the record of this run: give another name")
        if kept is None:
            os.makedirs(folder, exist_ok=True)
            try:
                with open(self._path, "wb") as f:
                    for row in range(shape[0]):
                        f.write(self._bytes(first[row] if row < len(first) else np.nan))
                    os.fsync(f.fileno())
                _durable.write_json(run, said)
            except OSError as e:
                _durable.remove(self._path)
                raise OSError(e.errno, f"{e.strerror}: a record of this run takes {size} bytes", self._path) from e
        self._whole()

    def write(self, row: int, *rows: Any) -> None:
        """Writes rows from a number on."""
        if not 0 <= row <= self.shape[0] - len(rows):
            raise ExportError(f"the record has {self.shape[0]} rows, and not row {row} and {len(rows) - 1} more")
        self._whole()
        with open(self._path, "r+b") as f:
            f.seek(4 * row * self.shape[1])
            for numbers in rows:
                f.write(self._bytes(numbers))
            f.flush()
            os.fsync(f.fileno())

    def _whole(self) -> None:
        size, has = 4 * self.shape[0] * self.shape[1], os.path.getsize(self._path)
        if has != size:
            raise ExportError(f"{self._path} has {has} bytes, not {size}: it was cut, and cannot go on")

    def __getitem__(self, row: int) -> Array:
        return np.fromfile(self._path, "<f4", self.shape[1], offset=4 * row * self.shape[1])

    def _bytes(self, numbers: Any) -> bytes:
        return np.broadcast_to(np.asarray(numbers, dtype="<f4"), self.shape[1]).tobytes()


SEAL = ', "sha256": "'


def _seal(text: str) -> str:
    """What ends a file of coins: the checksum of all that is before."""
    return f'{SEAL}{hashlib.sha256(text.encode()).hexdigest()}"}}\n'


def _write_sealed(path: str, said: Json) -> None:
    text = json.dumps(said)[:-1]
    _durable.write(path, (text + _seal(text)).encode())


def _read(path: str) -> Json | None:
    """What a file of coins has; None if it is not there."""
    try:
        content = _files.read(path, LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    text = content.rpartition(SEAL)[0]
    if content != text + _seal(text):
        why = "its checksum is not that of its content"
        raise ExportError(f"{path} is damaged, or no file of coins of this version: {why}")
    return json.loads(text + "}")
