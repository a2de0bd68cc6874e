"""Starting `mafalda noise serve` for a state; it ends with the process that started it."""

from __future__ import annotations

import contextlib
import hashlib
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
from ._process import Owner, hold, in_child
from ._program import find

SILENCE = 60  # seconds in which a program must say something
_held: "weakref.WeakSet[IO[bytes]]" = weakref.WeakSet()  # locks of states, and pipes whose servers end when they close


@in_child
def _let_go() -> None:
    """Closes what is the parent's in a fork, which must not outlive it."""
    for file in list(_held):
        file.close()


class Server:
    """`mafalda noise serve` on a state, at a Unix socket that only the user can reach.

    One process at a time has a state's server: another one is refused. The server ends when that process does, however
    that ends. first are words for the start with a new state alone.
    """

    def __init__(self, program: str | None, arguments: list[str], state: str, first: Sequence[str] = ()) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise ServerError(
                "there are no Unix sockets here: start `mafalda noise serve` at a loopback address and use mafalda.noise_at"
            )
        name = hashlib.sha256(os.fsencode(os.path.realpath(state))).hexdigest()[:24]
        folder = _folder()
        _sweep(folder)
        self.socket = os.path.join(folder, name + ".socket")
        self._command = [find(program), "noise", "serve", *arguments, "--state", state, "--socket", self.socket, "--lent-folder="]
        self._first = ["--new", *first]
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = Owner("the noise server")
        path = os.path.join(folder, name + ".lock")
        self._lock = _lock(path, state)
        self._release = weakref.finalize(self, _release, self._lock, path, self._owner)

    def connect(self, new: bool) -> socket.socket:
        """A connection; the server is started if none listens. new: with a new state."""
        sock = self._reach()
        if sock is not None and self._process is None:  # one that another process has left, started in other words
            _terminate(sock, self.socket)
            sock = self._reach()
        if sock is None:
            self._start(new)
            sock = self._reach()
        if sock is None:
            raise ServerError("mafalda noise serve says that it listens, but cannot be reached")
        return sock

    def stop(self) -> None:
        """Ends the server; the state stays. A fork does not: the server is its parent's."""
        if not self._owner.here:
            return
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None
            with contextlib.suppress(FileNotFoundError):  # it is there after a signal that nobody hears
                os.unlink(self.socket)
        self._release()

    def _reach(self) -> socket.socket | None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(self.socket)
        except OSError:
            sock.close()
            return None
        return sock

    def _start(self, new: bool) -> None:
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
        if not heard or not os.read(process.stdout.fileno(), 4096).startswith(b"listening"):
            process.kill()
            process.wait()
            if self._process is process:
                self._process = None
            errors.seek(0)
            says = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise ServerError(f"mafalda noise serve ended: {words('noise', says[-1]) if says else self._command[0] + ' said nothing'}", "start")


def _folder() -> str:
    """The folder of sockets: their paths must be short, and no other user may put any there."""
    user = os.getuid()
    folder = os.path.join(tempfile.gettempdir(), f"mafalda-{user}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if found.st_uid != user or found.st_mode & 0o077 or os.path.islink(folder):
        raise ServerError(f"{folder} is not the user's own, with mode 0700: sockets cannot be kept there")
    return folder


def _lock(path: str, state: str) -> IO[bytes]:
    until = time.monotonic() + 0.2  # one that sweeps has a lock for a moment
    while (lock := _locked(path)) is None:
        if time.monotonic() > until:
            raise ServerError(f"another process uses the state {state}: one node, one state, one process", "use")
        time.sleep(0.01)
    _held.add(lock)
    return lock


def _locked(path: str) -> IO[bytes] | None:
    """The lock at a path; None if another process has it. Whoever has one may remove it: what was opened may be no longer there."""
    while True:
        lock = open(path, "ab")
        held = hold(lock)
        if held and _is_at(lock, path):
            return lock
        lock.close()
        if not held:
            return None


def _is_at(lock: IO[bytes], path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _release(lock: IO[bytes], path: str, owner: Owner) -> None:
    """Lets go of a lock, and takes its file away: first that, as it is another process's afterwards."""
    if owner.here and not lock.closed:
        if _is_at(lock, path):
            os.unlink(path)
        lock.close()


def _sweep(folder: str) -> None:
    """Removes what killed processes have left: locks that nobody has, with their sockets, if nobody listens there."""
    for path in {os.path.join(folder, name[:24]) for name in os.listdir(folder) if name[24:] in (".lock", ".socket")}:
        with contextlib.suppress(OSError):
            _remove(path + ".lock", path + ".socket")


def _remove(path: str, address: str) -> None:
    with _locked(path) or contextlib.nullcontext() as lock, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        if lock is None or sock.connect_ex(address) == 0:  # a process has it, or has just ended
            return
        if os.path.lexists(address):
            os.unlink(address)
        _release(lock, path, Owner())


def listener(sock: socket.socket, path: str) -> tuple[int, int]:
    """The process at the other end of a Unix socket, 0 if the system does not say, and its user."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0, os.lstat(path).st_uid
    process, user, _ = struct.unpack("iII", sock.getsockopt(socket.SOL_SOCKET, option, 12))
    return process, user


def _terminate(sock: socket.socket, path: str) -> None:
    """Ends the server at the other end, where the system says which process that is."""
    process, _ = listener(sock, path)
    if process > 0:  # 0: of another container, and for kill the whole group of this one
        os.kill(process, 15)
        with contextlib.suppress(OSError):  # it hangs up, and a moment later it is gone, and has let go of its state
            sock.settimeout(10)
            sock.recv(1)
            for _ in range(100):
                os.kill(process, 0)
                time.sleep(0.01)
    sock.close()
