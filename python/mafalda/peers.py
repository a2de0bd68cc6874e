"""Gossip over TCP: in every step a node sends its model to those that average it, and waits for those that it averages.

    with Peers(plan, node, {"Medici": ("10.0.0.1", 7000), …}, "outbox", private) as peers:
        mafalda.set_flat(model, peers.restore(mafalda.flat(model)))
        for step in peers.steps():
            private.backward(…); private.step()
            plan.mix(model, peers.exchange(step, mafalda.flat(model)))

- Nodes say which export they hold, and refuse those with another one.
- A message is written to disk, then declared to the noise, then put into the outbox, then sent. A node that crashed sends a
  declared message again, as it may have left, and forgets one that was not declared, and has its row carried.
- Who is not there is not waited for; who comes back joins in the step that the others are in, and skips (carries) those between.
- Where no other node is there, at the start, in the middle, or because the others have ended, steps raises a PeersError.

Only messages with noise are sent. Without tls everybody on the way reads them, and can put models of his own into the
average: that costs no privacy, and may cost the training.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import ssl
import struct
import threading
import time
from typing import Any, Callable, Iterator, Mapping

import numpy as np

from .errors import ExportError, PeersError
from ._export import Export
from ._noise import Noise
from ._outbox import HEAD, Outbox, read
from ._process import Closing
from ._types import Array, Json, Path

RETRY = 1.0  # seconds before a neighbour that was not there is tried again, at least
CONNECT = 5.0  # seconds that a connection may take, at most, in the middle of a training


class Peers(Closing):
    """The neighbours of a node. Usable in a with statement, which closes it.

    Arguments:
        addresses  label -> (host, port), of the neighbours and of the node itself
        outbox     a file for the last message, beside the state of the noise
        noise      the node's noise, or its private optimizer
        patience   seconds that a neighbour is waited for
        tls        two ssl.SSLContexts, for connections that come and for those that go. If the first asks for certificates,
                   a node must show one of its label (as common name, or DNS name)

    Attributes: missing, how many models did not come.
    """

    def __init__(
        self,
        plan: Export,
        node: str,
        addresses: Mapping[str, tuple[str, int]],
        outbox: Path,
        noise: Any,
        patience: float = 20.0,
        tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
    ) -> None:
        self.plan, self.node, self.missing = plan, node, 0
        self._noise: Noise = getattr(noise, "noise", noise)
        self._skip_to = noise.skip_to
        self._patience, self._tls = patience, tls
        self._addresses = {label: tuple(address) for label, address in addresses.items()}
        self._inbox: dict[str, dict[int, bytes]] = {label: {} for label in plan.neighbours(node)}
        absent = {node, *self._inbox, *plan.receivers(node)} - self._addresses.keys()
        if absent:
            raise PeersError(f"addresses lacks {', '.join(repr(label) for label in sorted(absent))}")
        self._last = dict.fromkeys(self._inbox, -1)  # the newest step of each
        self._open: dict[str, int] = {}  # connections of each that are open
        self._out: dict[str, socket.socket] = {}
        self._later: dict[str, float] = {}  # when to try again one that was not there
        self._in: set[socket.socket] = set()
        self._changed = threading.Condition()
        self._outbox = Outbox(outbox, self._noise)
        if self._outbox.carried is not None:
            self.note_skipped([self._outbox.carried])
        self._listener = socket.create_server(self._addresses[node], backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    def restore(self, start: Array) -> Array:
        """The model that was sent last, or start."""
        kept = self._outbox.last
        return start if kept is None else np.frombuffer(kept[1], dtype=start.dtype).copy()

    def steps(self) -> Iterator[int]:
        """The steps to take. Those that were missed are skipped, and their rows carried by the next one that is taken.

        A PeersError if no neighbour is there for as long as patience, and an ExportError if one has another export.
        """
        fresh = self._noise.next == 0
        self._send(*(self._outbox.declared or (-1, b"")))  # what may have left, or a word that this node is there
        self._wait(lambda: all(self._open.get(label) for label in self._inbox) if fresh else self._newest() >= 0)
        while self._noise.next < self._noise.steps:
            self._check()
            step = min(max(self._noise.next, self._newest()), self._noise.steps - 1)
            self.note_skipped(self._skip_to(step))
            yield step

    def exchange(self, step: int, model: Array) -> dict[str, Array]:
        """Sends a model, and returns those that came of the same step, by label."""
        message = np.ascontiguousarray(model).tobytes()
        self._outbox.put(step, message)
        self._send(step, message)
        self._wait(lambda: not any(self._awaited(label, step) for label in self._inbox))
        with self._changed:
            found = {label: box[step] for label, box in self._inbox.items() if step in box}
            for box in self._inbox.values():
                for old in [t for t in box if t <= step]:
                    del box[old]
        self.missing += len(self._inbox) - len(found)
        return {label: np.frombuffer(data, dtype=model.dtype) for label, data in found.items()}

    def note_skipped(self, steps: list[int]) -> None:
        """Notes steps that this node missed."""
        if steps:
            with open(self._outbox.path + ".skipped", "a") as f:
                f.writelines(f"{step}\n" for step in steps)

    @property
    def skipped(self) -> list[int]:
        """The steps that were missed, also before a crash."""
        try:
            with open(self._outbox.path + ".skipped") as f:
                return [int(line) for line in f]
        except FileNotFoundError:
            return []

    def close(self) -> None:
        """Ends all connections. The outbox stays."""
        self._listener.close()
        with self._changed:
            sockets = [*self._out.values(), *self._in]
        for sock in sockets:
            _hang_up(sock)

    def _check(self) -> None:
        """Waits for another node to be there; a PeersError if none comes."""
        if not self._inbox or not self._alone():
            return
        end = time.monotonic() + self._patience
        while self._alone() and time.monotonic() < end:
            self._send(-1, b"")
            with self._changed:
                self._changed.wait_for(lambda: not self._alone(), timeout=min(RETRY, self._patience))
        if self._alone():
            names = ", ".join(repr(label) for label in self._inbox)
            before = self._noise.next > 0
            raise PeersError(
                f"nobody is there: node {self.node!r} is at step {self._noise.next} of {self._noise.steps}, and none of {names} "
                + ("answers. They have ended, or cannot be reached" if before else "has come. Are they started, and the addresses right?")
            )

    def _alone(self) -> bool:
        done = self._noise.steps - 1
        return not any(self._open.get(label) or self._last[label] >= done for label in self._inbox)

    def _awaited(self, label: str, step: int) -> bool:
        """Whether a neighbour's message will come: it is there, and was not left behind a step ago."""
        last = self._last[label]
        return bool(self._open.get(label)) and last < step and last >= step - 1

    def _newest(self) -> int:
        return max(self._last.values(), default=-1)

    def _wait(self, until: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(until, timeout=self._patience)

    def _send(self, step: int, message: bytes) -> None:
        for label in self.plan.receivers(self.node):
            try:
                if label not in self._out:
                    if time.monotonic() < self._later.get(label, 0.0):
                        continue
                    self._out[label] = self._connect(label)
                self._out[label].sendall(HEAD.pack(step, len(message)) + message)
            except OSError:  # it is not there
                if label in self._out:
                    self._out.pop(label).close()

    def _connect(self, label: str) -> socket.socket:
        """A connection to a neighbour. At the start of a training all come at the same time, but for some moments."""
        begun = time.monotonic()
        wait, timeout = (self._patience, self._patience) if self._noise.next == 0 else (0, min(CONNECT, self._patience))
        while True:
            try:
                sock = socket.create_connection(self._addresses[label], timeout=timeout)
                break
            except OSError:
                now = time.monotonic()
                if now >= begun + wait:
                    self._later[label] = now + max(RETRY, 10 * (now - begun)) if wait == 0 else now + RETRY
                    raise
                time.sleep(0.05)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock = self._tls[1].wrap_socket(sock, server_hostname=self._addresses[label][0])
            sock.settimeout(self._patience)
            sock.sendall(json.dumps({"node": self.node, "export": self.plan.hash}).encode() + b"\n")
            says = sock.makefile("rb").readline(4096).decode("utf-8", "replace").strip()
        except OSError:
            sock.close()
            raise
        if says == "ok":
            return sock
        sock.close()
        if says:
            raise ExportError(f"{label!r} {says}")
        raise ConnectionError(f"{label!r} hung up")

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._receive, args=(sock,), daemon=True).start()

    def _receive(self, sock: socket.socket) -> None:
        label = None
        try:
            sock.settimeout(self._patience)
            if self._tls is not None:
                sock = self._tls[0].wrap_socket(sock, server_side=True)
            with self._changed:
                self._in.add(sock)
            f = sock.makefile("rb")
            hello = json.loads(f.readline(4096))
            refusal = self._refuse(hello, sock)
            if refusal:
                sock.sendall(f"refuses: {refusal}\n".encode())
                return
            label = hello["node"]
            sock.sendall(b"ok\n")
            sock.settimeout(None)
            self._note(label, 1)
            while head := f.read(HEAD.size):
                step, size = HEAD.unpack(head)
                if not (0 <= size <= 8 * self._noise.dim and step < self._noise.steps):
                    return
                self._put(label, step, f.read(size), size)
        except (OSError, ValueError, KeyError, TypeError, struct.error):
            pass
        finally:
            if label is not None:
                self._note(label, -1)
            with self._changed:
                self._in.discard(sock)
            sock.close()

    def _refuse(self, hello: Json, sock: socket.socket) -> str:
        """Why a node is not listened to; empty if it is."""
        label = hello["node"]
        if hello["export"] != self.plan.hash:
            return "it has another export"
        if label not in self._inbox:
            return "it is no neighbour"
        if isinstance(sock, ssl.SSLSocket) and sock.context.verify_mode == ssl.CERT_REQUIRED and label not in _names(sock):
            return f"its certificate is not one of {label!r}"
        return ""

    def _note(self, label: str, change: int) -> None:
        with self._changed:
            self._open[label] = self._open.get(label, 0) + change
            self._changed.notify_all()

    def _put(self, label: str, step: int, message: bytes, size: int) -> None:
        if len(message) < size:  # cut off
            return
        with self._changed:
            if step > self._last[label]:  # not one that was sent again
                self._inbox[label][step] = message
                self._last[label] = step
            self._changed.notify_all()


def last_sent(outbox: Path) -> int:
    """The step of the last message in an outbox; -1 before the first."""
    kept = read(os.fspath(outbox))
    return -1 if kept is None else kept[0]


def _names(sock: ssl.SSLSocket) -> set[str]:
    """The common names and DNS names of the certificate at the other end."""
    shown = sock.getpeercert() or {}
    common = {value for part in shown.get("subject", ()) for key, value in part if key == "commonName"}
    return common | {value for kind, value in shown.get("subjectAltName", ()) if kind == "DNS"}


def _hang_up(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has hung up
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()
