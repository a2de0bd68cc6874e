"""Gossip over TCP: every step, a node sends its model to those that average it, and waits for those that it averages.

- Nodes say which export they hold, and refuse those with another one.
- A message is written to disk, then declared to the noise server, then put into the outbox, then sent. A node that crashed sends a
  declared message again, as it may have left, and forgets one that was not declared, and has its row carried.
- Who is not there is not waited for; who comes back joins in the step that the others are in, and skips (carries) those between.
"""

import json
import os
import socket
import struct
import threading
import time
from typing import Iterator

import numpy as np

import mafalda
from mafalda import durable
from mafalda.noise import Noise, digest

HEAD = struct.Struct("<qq")  # step, bytes


class Peers:
    """The neighbours of a node. addresses: label -> (host, port), its own among them; outbox: a file.

    noise is the node's, or its private optimizer; patience is how many seconds a neighbour is waited for, pace how many a step takes
    at least. miss is the probability with which it has no gradient in a step, for experiments.
    """

    def __init__(
        self,
        plan: mafalda.Plan,
        node: str,
        addresses: dict,
        outbox: str,
        noise,
        patience: float = 20.0,
        pace: float = 0.0,
        miss: float = 0.0,
    ) -> None:
        self.plan, self.node = plan, node
        self.noise: Noise = getattr(noise, "noise", noise)
        self._skip_to = noise.skip_to
        self._addresses, self._outbox, self._patience = addresses, os.fspath(outbox), patience
        self._pace, self._miss = pace, miss
        self._random = np.random.default_rng(plan.index(node))
        self._inbox: dict[str, dict[int, bytes]] = {label: {} for label in plan.neighbours(node)}
        self._last = dict.fromkeys(self._inbox, -1)  # the newest step of each
        self._open: dict[str, int] = {}  # connections of each that are open
        self._out: dict[str, socket.socket] = {}
        self._changed = threading.Condition()
        self.missing = 0
        self._settle()
        self._listener = socket.create_server(addresses[node], backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    def restore(self, start: np.ndarray) -> np.ndarray:
        """The model that was sent last, or start."""
        kept = _read(self._outbox)
        return start if kept is None else np.frombuffer(kept[1], dtype=start.dtype).copy()

    def steps(self) -> Iterator[int]:
        """The steps to take. Those that were missed are skipped, and their rows carried by the next one that is taken."""
        self._resend()
        self._wait(
            lambda: (
                self._newest() >= 0 or not self._out
                if self.noise.next > 0
                else all(self._open.get(label) for label in self._inbox)
            )
        )
        while self.noise.next < self.noise.steps:
            step = min(max(self.noise.next, self._newest()), self.noise.steps - 1)
            self._note_skipped(self._skip_to(step))
            end = time.monotonic() + self._pace
            yield step
            time.sleep(max(0.0, end - time.monotonic()))

    def misses(self, step: int) -> bool:
        """Whether this node has no gradient in a step, in experiments with miss: its row is carried, and it goes on with gossip."""
        if step + 1 == self.noise.steps or self._random.random() >= self._miss:
            return False
        self._note_skipped(self._skip_to(step + 1))
        return True

    def exchange(self, step: int, model: np.ndarray) -> dict[str, np.ndarray]:
        """Sends a model, and returns those that came of the same step, by label."""
        message = np.ascontiguousarray(model).tobytes()
        durable.write(self._outbox + ".new", HEAD.pack(step, len(message)) + message)
        if step == self.noise.place.issued:  # otherwise nothing new is in it: it is made of messages that were sent
            self.noise.sending(step, digest(message))
        os.replace(self._outbox + ".new", self._outbox)
        self._send(step, message)
        self._wait(lambda: not any(self._awaited(label, step) for label in self._inbox))
        with self._changed:
            found = {label: box[step] for label, box in self._inbox.items() if step in box}
            for box in self._inbox.values():
                for old in [t for t in box if t <= step]:
                    del box[old]
        self.missing += len(self._inbox) - len(found)
        return {label: np.frombuffer(data, dtype=model.dtype) for label, data in found.items()}

    def close(self) -> None:
        self._listener.close()
        for sock in self._out.values():
            sock.close()

    def __enter__(self) -> "Peers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settle(self) -> None:
        """After a crash: a message that was declared may have left, and is the one of its step; one that was not never left, and goes."""
        new = self._outbox + ".new"
        if os.path.exists(new):
            if digest(_read(new)[1]) == self.noise.resume().sending:
                os.replace(new, self._outbox)
            else:
                os.unlink(new)
        carried = self.noise.recover()
        if carried is not None:
            self._note_skipped([carried])

    def _resend(self) -> None:
        """The message that may have left is sent again; without one, a word that this node is there."""
        place, kept = self.noise.place, _read(self._outbox)
        if kept is not None and kept[0] == place.issued and digest(kept[1]) == place.sending:
            self._send(*kept)
        else:
            self._send(-1, b"")

    def _note_skipped(self, steps: list[int]) -> None:
        with open(self._outbox + ".skipped", "a") as f:
            f.writelines(f"{step}\n" for step in steps)

    @property
    def skipped(self) -> list[int]:
        """The steps that were missed, also before a crash."""
        try:
            with open(self._outbox + ".skipped") as f:
                return [int(line) for line in f]
        except FileNotFoundError:
            return []

    def _awaited(self, label: str, step: int) -> bool:
        """Whether a neighbour's message will come: it is there, and was not left behind a step ago."""
        last = self._last[label]
        return bool(self._open.get(label)) and last < step and last >= step - 1

    def _newest(self) -> int:
        return max(self._last.values(), default=-1)

    def _wait(self, until) -> None:
        with self._changed:
            self._changed.wait_for(until, timeout=self._patience)

    def _send(self, step: int, message: bytes) -> None:
        for label in self.plan.receivers(self.node):
            try:
                if label not in self._out:
                    self._out[label] = self._connect(label)
                self._out[label].sendall(HEAD.pack(step, len(message)) + message)
            except OSError:  # it is not there
                gone = self._out.pop(label, None)
                if gone is not None:
                    gone.close()

    def _connect(self, label: str) -> socket.socket:
        end = time.monotonic() + (
            self._patience if self.noise.next == 0 else 0
        )  # all start at the same time, but for some moments
        while True:
            try:
                sock = socket.create_connection(self._addresses[label], timeout=self._patience)
                break
            except OSError:
                if time.monotonic() >= end:
                    raise
                time.sleep(0.05)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(json.dumps({"node": self.node, "export": self.plan.hash}).encode() + b"\n")
        says = sock.makefile("rb").readline(4096).decode().strip()
        if says and says != "ok":
            raise mafalda.ExportError(f"{label!r} {says}")
        return sock

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._receive, args=(sock,), daemon=True).start()

    def _receive(self, sock: socket.socket) -> None:
        f = sock.makefile("rb")
        label = None
        try:
            hello = json.loads(f.readline(4096))
            if hello["export"] != self.plan.hash:
                sock.sendall(b"refuses: it has another export\n")
                return
            if hello["node"] not in self._inbox:
                sock.sendall(b"refuses: it is no neighbour\n")
                return
            label = hello["node"]
            sock.sendall(b"ok\n")
            self._note(label, 1)
            while head := f.read(HEAD.size):
                step, size = HEAD.unpack(head)
                self._put(label, step, f.read(size), size)
        except (OSError, ValueError, KeyError, struct.error):
            pass
        finally:
            if label is not None:
                self._note(label, -1)
            sock.close()

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


def _read(path: str) -> tuple[int, bytes] | None:
    """The step and the message in a file, if it is there."""
    try:
        with open(path, "rb") as f:
            content = f.read()
    except FileNotFoundError:
        return None
    return HEAD.unpack(content[: HEAD.size])[0], content[HEAD.size :]
