"""The lines and bytes of `mafalda noise serve`, version 1 (docs/noise.md), at the end of a node."""

from __future__ import annotations

import json
import socket
from typing import Any

import numpy as np

from .errors import ServerError, StepError

VERSION = 1
LINE = 1 << 20  # bytes of a reply's line at most


class Client:
    """One connection. A broken one raises a ConnectionError; an error of the server a StepError or a ServerError."""

    def __init__(self, sock: socket.socket, token: str | None = None) -> None:
        self._sock = sock
        self._file = sock.makefile("rb")
        word, rest = self._ask(f"mafalda {VERSION}" + (f" {token}" if token else "")).split(" ", 1)
        if word != "hello":
            raise ServerError(f"no noise server: it said {word!r}", "protocol")
        self.hello: dict[str, Any] = json.loads(rest)
        if self.hello.get("protocol") != VERSION:
            raise ServerError(f"the server speaks version {self.hello.get('protocol')} of the protocol", "protocol")

    def row_to(self, into: np.ndarray, step: int, offset: int) -> None:
        """Numbers offset, … of a step's row, as many as into (contiguous, float64 or float32, little-endian) has."""
        name = {"<f8": "float64", "<f4": "float32"}[into.dtype.newbyteorder("<").str]
        answer = self._ask(f"row {step} {name} {offset} {into.size}")
        if answer != f"row {step} {name} {offset} {into.size} {into.nbytes}":
            raise ServerError(f"the server answered {answer[:80]!r} to a request for row {step}", "protocol")
        view = memoryview(into.data).cast("B")
        while len(view):
            count = self._file.readinto(view)
            if not count:
                raise ConnectionError("the noise server went away in the middle of a row")
            view = view[count:]

    def unsent(self, step: int) -> None:
        """See Noise.skip."""
        self._command(f"unsent {step}", f"unsent {step}")

    def sending(self, step: int, digest: str) -> None:
        """See Noise.sending."""
        self._command(f"sending {step} {digest}", f"sending {step}")

    def state(self) -> dict[str, Any]:
        """The place, as in hello."""
        return json.loads(self._ask("state").split(" ", 1)[1])

    def close(self) -> None:
        try:
            self._sock.sendall(b"close\n")
        except OSError:
            pass
        self._file.close()
        self._sock.close()

    def _command(self, line: str, wanted: str) -> None:
        answer = self._ask(line)
        if answer != wanted:
            raise ServerError(f"the server answered {answer[:80]!r}, not {wanted!r}", "protocol")

    def _ask(self, line: str) -> str:
        self._sock.sendall(line.encode() + b"\n")
        answer = self._file.readline(LINE)
        if not answer.endswith(b"\n"):
            raise ConnectionError("the noise server went away")
        text = answer[:-1].decode("utf-8", "replace")
        word, _, rest = text.partition(" ")
        if word == "error":
            code, _, says = rest.partition(" ")
            if code in ("order", "sent", "exhausted"):
                raise StepError(says)
            raise ServerError(says, code)
        return text
