"""Real noise: the rows of `mafalda noise serve`."""

from __future__ import annotations

import os
import socket
import time
import weakref
from typing import Any, Callable, Iterator, TypeVar

import numpy as np

from . import _begun
from .errors import ExportError, ServerError, StepError
from ._export import Export
from ._inputs import plain
from ._noise import BLOCK, Noise, Place, check_part, digest
from ._protocol import Client
from ._server import Server, listener
from ._types import Array, Json, Path

T = TypeVar("T")


class RemoteNoise(Noise):
    """The noise of a server that was started elsewhere: made by noise_at. All clients of a server share its place."""

    private = True

    def __init__(self, plan: Export, node: str, dim: int, std: float, connect: Callable[[], Client]) -> None:
        super().__init__(plan, node, dim, std)
        self._connect = connect
        self._client: Client | None = None
        self._note(self._try(lambda c: c.hello))

    @property
    def place(self) -> Place:
        return self._place

    @property
    def spent(self) -> Json | None:
        with self._turn():
            return self._try(lambda c: c.spent())

    def resume(self) -> Place:
        """Asks the server; see Noise.resume."""
        with self._turn():
            self._note(self._try(lambda c: c.state()))
            return self._place

    def _note(self, state: Json) -> None:
        self._place = Place(state["next"], state["issued"], state["sending"], tuple(state["unsent"]))
        self.end = state.get("end", self.steps)

    def blocks(
        self, step: int, size: int = BLOCK, dtype: Any = np.float64, offset: int = 0, length: int | None = None
    ) -> Iterator[tuple[int, Array]]:
        dtype = np.dtype(dtype).newbyteorder("<")
        if dtype.str not in ("<f8", "<f4"):
            raise ValueError(f"rows come as float64 or float32, not as {dtype}")
        if not 0 <= step <= self.steps:
            raise StepError(f"there are {self.steps} steps, and no row {step}")
        end = offset + check_part(step, self.dim, offset, length)
        self._begin()
        for at in range(offset, end, size):
            part = np.empty(min(size, end - at), dtype=dtype)
            with self._turn():
                self._try(lambda c: c.row_to(part, step, at))
                if step == self._place.next:
                    self._place = Place(step + 1, step, None, ())
            yield at, part

    def _begin(self) -> None:
        """Is called before there is a row."""

    def skip(self, step: int | None = None) -> None:
        self._begin()
        with self._turn():
            missed = self.next if step is None else step
            self._try(lambda c: c.unsent(missed))
            self.resume()

    def sending(self, step: int, message: Any) -> str:
        said = digest(message)
        with self._turn():
            self._try(lambda c: c.sending(step, said))
            self._place = Place(self._place.next, self._place.issued, said, self._place.unsent)
            return said

    def close(self) -> None:
        if self._owner.here:  # in a fork the connection is the parent's
            with self._lock:
                self._drop()

    def _drop(self) -> None:
        """Ends the connection; the next request makes another one."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _try(self, ask: Callable[[Client], T]) -> T:
        """Asks, and again over a new connection if this one breaks: requests name their step, so that nothing is done twice."""
        for pause in (0.0, 0.05, 0.2):  # a server that was killed may still take connections for a moment
            time.sleep(pause)
            try:
                return self._once(ask)
            except (ConnectionError, TimeoutError) as e:
                broken = e
        raise ServerError(f"the noise server went away: {broken}. The row is safe: ask again", "gone") from broken

    def _once(self, ask: Callable[[Client], T]) -> T:
        """Asks; an answer that was not read to its end, as after Ctrl-C, must not be taken for the next request's."""
        client = self._reach()
        client.check_idle()  # a signal handler leaves the connection to those whom it has interrupted
        try:
            return ask(client)
        except BaseException as e:
            if not (isinstance(e, StepError) and client.idle):
                self._drop()
            raise

    def _reach(self) -> Client:
        if self._client is None:
            client = self._connect()
            try:
                self._check(client.hello)
            except BaseException:
                client.close()
                raise
            self._client = client
        return self._client

    def _check(self, hello: Json) -> None:
        if hello["export"] != self.plan.hash:
            raise ExportError(f"the noise server has another export: {hello['export']}, not {self.plan.hash}")
        if hello["node"] != self.node:
            raise ExportError(f"the noise server is that of {hello['node']!r}, not of {self.node!r}")
        if hello["dim"] != self.dim:
            raise ExportError(
                f"the noise server draws {hello['dim']} numbers a row, the model has {self.dim} parameters: has it changed its size?"
            )
        if not hello["private"]:
            raise ExportError(
                "the noise server has rows of a seed, or of a check: they protect nothing (for simulations: plan.noise(seed=…))"
            )
        if not hello["noise_std"] >= self.std:
            raise ExportError(f"the noise server has a noise level of {hello['noise_std']}, not {self.std}")


class ServedNoise(RemoteNoise):
    """The noise of a state, with a server of its own: made by Plan.noise.

    The server ends with close, with a with statement, or with this process. Attributes: address, of the server, for
    mafalda.noise_at in other processes.
    """

    def __init__(
        self,
        plan: Export,
        node: str,
        dim: int,
        std: float,
        state: str,
        *,
        given_std: float | None = None,
        binary: str | None = None,
        new: bool | None = None,
        counter: Path | None = None,
        stop_at: float | None = None,
        stop_delta: float | None = None,
        key: Path | None = None,
        peers: Path | None = None,
        runs: Path | None = None,
    ) -> None:
        state = os.path.abspath(state)  # a change of folder meanwhile changes nothing
        there = os.path.exists(state)
        _begun.check_new(state, new, there)
        if new is None and not there:
            _begun.check(plan, node, state)
        self._new, self._state, self._noted = not there, state, False
        self._limit = {k: float(v) for k, v in (("epsilon", stop_at), ("delta", stop_delta)) if v is not None}
        arguments = plain({"node": node or None, "dim": dim, "noise-std": given_std, "stop-at": stop_at, "counter": counter})
        arguments += [] if stop_delta is None else [f"--stop-at=delta={float(stop_delta)!r}"]
        first = plain({"key": key, "peers": peers, "runs": runs})  # a state has the keys of its run
        self._server = Server(binary, [plan.directory, *arguments], state, first)
        self.address = self._server.socket
        self._end = weakref.finalize(self, self._server.stop)
        try:
            super().__init__(plan, node, dim, std, self._dial)
        except BaseException:
            self._end()
            raise

    def _check(self, hello: Json) -> None:
        super()._check(hello)
        if self._limit and hello.get("limit") != self._limit:
            raise ServerError(
                f"the noise server that runs has the budget {hello.get('limit')}, not {self._limit}: end it (mafalda noise serve)", "use"
            )

    def _begin(self) -> None:
        """Says, before there is a row, that the run has begun: see begun."""
        with self._turn():
            if not self._noted:
                _begun.note(self.plan, self.node, self._state)
                self._noted = True

    def _dial(self) -> Client:
        if not self._end.alive:
            raise ServerError("this noise was closed: plan.noise(…, state=…) goes on with its state", "closed")
        client = Client(self._server.connect(self._new), self.plan.hash, self.node, self.dim)
        self._new = False
        return client

    def close(self) -> None:
        """Ends the connection and the server; the state stays, and Plan.noise goes on with it."""
        super().close()
        self._end()  # in a fork it does nothing


def noise_at(
    plan: Export,
    node: str,
    dim: int,
    address: str | tuple[str, int],
    token: str | None = None,
    timeout: float | None = 600.0,
) -> RemoteNoise:
    """The noise of a server that is running: address is the path of a Unix socket, or (host, port) with its token.

    For the ranks of a sharded model, which all take blocks of one row, and for systems without Unix sockets. Over TCP both
    sides prove the token, and host must be this machine: rows are not encrypted. A ServerError with the code `token` says
    that the program that listens there does not know it. A token may have the end of its line, as its file has.
    """
    token = token.strip() if token else token

    def dial() -> Client:
        for attempt in range(1, 6):
            try:
                return Client(connect(), plan.hash, node, dim, token)
            except TimeoutError as e:
                raise ServerError(f"no noise server at {address}: it proves nothing in time") from e
            except ConnectionError as e:  # a server that is full of others, who have not proven the token, may hang up
                if attempt == 5:
                    raise ServerError(f"no noise server at {address}: {e}") from e
            time.sleep(0.05 * attempt)
        raise AssertionError

    def connect() -> socket.socket:
        try:
            if not isinstance(address, str):
                return socket.create_connection(address, timeout)
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            sock.settimeout(timeout)
            sock.connect(address)
        except OSError as e:
            raise ServerError(f"no noise server at {address}: {e}") from e
        user = listener(sock, address)
        if user not in (os.geteuid(), 0):
            sock.close()
            raise ServerError(
                f"at {address} a process of user {user} listens, and this is user {os.geteuid()}: it is not this user's noise "
                "server. Keep sockets in a folder that nobody else may write to",
                "token",
            )
        return sock

    plan.check_node(node)
    return RemoteNoise(plan, node, dim, plan.level(node).noise_std or 0.0, dial)
