"""Starting `mafalda noise serve` for a state; it ends with the process that started it."""

from __future__ import annotations

import os
import selectors
import socket
import struct
import subprocess
import tempfile
import time
import weakref
from typing import IO, Sequence

from .errors import ServerError
from ._keywords import words
from ._process import Owner, in_child
from ._program import find
from ._temporary import Folder

SILENCE = 60  # seconds in which a program must say something
LEAVING = 3  # seconds in which the server of a process that was killed lets go of its state
_held: "weakref.WeakSet[IO[bytes]]" = weakref.WeakSet()  # pipes whose servers end when they close


@in_child
def _let_go() -> None:
    """Closes what is the parent's in a fork, which must not outlive it."""
    for file in list(_held):
        file.close()


class Server:
    """`mafalda noise serve` on a state, at a Unix socket in a temporary folder that only the user can reach.

    One process at a time has a state's server, as the server locks the state. The server ends when that process does,
    however that ends. first are words for the start with a new state alone.
    """

    def __init__(self, program: str | None, arguments: list[str], state: str, first: Sequence[str] = ()) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise ServerError(
                "there are no Unix sockets here: start `mafalda noise serve` at a loopback address and use mafalda.noise_at"
            )
        self._folder, self._state = Folder(), state
        self.socket = self._folder.join("socket")
        self._command = [find(program), "noise", "serve", *arguments, "--state", state, "--socket", self.socket, "--lent-folder="]
        self._first = ["--new", *first]
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = Owner("the noise server")

    def connect(self, new: bool) -> socket.socket:
        """A connection; the server is started if none listens. new: with a new state."""
        sock, until = self._reach(), time.monotonic() + LEAVING
        while sock is None and (says := self._start(new)):
            if "in use by another process" not in says:
                raise ServerError(f"mafalda noise serve ended: {says}", "start")
            if time.monotonic() > until:
                raise ServerError(f"another process uses the state {self._state}: one node, one state, one process", "use")
            time.sleep(0.1)
        sock = sock or self._reach()
        if sock is None:
            raise ServerError("mafalda noise serve says that it listens, but cannot be reached")
        return sock

    def stop(self) -> None:
        """Ends the server; the state stays. A fork does not: the server is its parent's."""
        if self._owner.here and self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def _reach(self) -> socket.socket | None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(self.socket)
        except OSError:
            sock.close()
            return None
        return sock

    def _start(self, new: bool) -> str:
        """Starts the server, and returns what it says if it ends instead of listening."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        errors = tempfile.TemporaryFile()
        command = self._command + (self._first if new else [])
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        _held.add(process.stdin)
        self._process = process  # a signal handler may put another one there while this one is waited for
        with selectors.DefaultSelector() as said:
            said.register(process.stdout, selectors.EVENT_READ)
            while not (heard := said.select(SILENCE)) and os.fstat(errors.fileno()).st_size:
                pass  # it makes rows again
        if heard and os.read(process.stdout.fileno(), 4096).startswith(b"listening"):
            return ""
        process.kill()
        process.wait()
        if self._process is process:
            self._process = None
        errors.seek(0)
        says = errors.read().decode("utf-8", "replace").strip().splitlines()
        return words("noise", says[-1]) if says else f"{command[0]} said nothing"


def listener(sock: socket.socket, path: str) -> int:
    """The user of the process at the other end of a Unix socket."""
    option = getattr(socket, "SO_PEERCRED", None)
    return os.lstat(path).st_uid if option is None else struct.unpack("iII", sock.getsockopt(socket.SOL_SOCKET, option, 12))[1]
