"""The last message of a node: on disk, and declared to its noise, before it leaves. So a step has one message, also after a crash."""

from __future__ import annotations

import os
import struct

from . import _durable, _files
from .errors import MafaldaError
from ._noise import Noise, digest
from ._types import Path

HEAD = struct.Struct("<qq")  # step, bytes


class Outbox:
    """The file at path, with the message that was declared last.

    Attributes: carried, the step of a row whose message was never declared, as found by settle; None if there was none.
    """

    def __init__(self, path: Path, noise: Noise) -> None:
        self.path, self._noise = os.fspath(path), noise
        if not os.path.isdir(os.path.dirname(os.path.abspath(self.path))):
            raise MafaldaError(f"the outbox {self.path} is in no folder that is there")
        self.settle()

    def settle(self) -> int | None:
        """Decides, after a crash, on the last message: one that was declared may have left, and is the one of its step; one that was not
        never left, and goes. Returns the step whose row is carried by the next one because of that, or None."""
        new = self.path + ".new"
        if os.path.exists(new):
            written = read(new)
            if written is not None and digest(written[1]) == self._noise.resume().sending:
                os.replace(new, self.path)
            else:
                os.unlink(new)
        self.carried = self._noise.recover()
        return self.carried

    def put(self, step: int, message: bytes) -> None:
        """Writes a message, declares it if the row of its step is in it, and replaces the last one by it."""
        _durable.write(self.path + ".new", HEAD.pack(step, len(message)) + message)
        if step == self._noise.place.issued:  # otherwise nothing new is in it: it is made of messages that were sent
            self._noise.sending(step, digest(message))
        os.replace(self.path + ".new", self.path)

    @property
    def last(self) -> tuple[int, bytes] | None:
        """The step and the message that were put last."""
        return read(self.path)

    @property
    def declared(self) -> tuple[int, bytes] | None:
        """The same, if its row was the last one and it is what was declared: it may have left, and may be sent again."""
        place, kept = self._noise.place, self.last
        if kept is not None and kept[0] == place.issued and digest(kept[1]) == place.sending:
            return kept
        return None


def read(path: str) -> tuple[int, bytes] | None:
    """The step and the message in a file, if it is there."""
    try:
        with _files.open_regular(path) as f:
            content = f.read()
    except FileNotFoundError:
        return None
    if len(content) < HEAD.size:
        return None
    return HEAD.unpack(content[: HEAD.size])[0], content[HEAD.size :]
