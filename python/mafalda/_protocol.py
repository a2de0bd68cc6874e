"""The lines and frames of `mafalda noise serve`, version 2 (docs/noise.md), at the end of a node.

Both sides prove that they know the token, which is not sent, and every frame after that has a code of the session's key, its
direction and its place. Without a token the codes tell damaged frames, and frames of two programs on one connection, from
good ones.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import secrets
import socket
import time
from typing import IO


from .errors import BudgetError, ServerError, StepError
from ._types import Array, Json

VERSION = 2
GREETING = f"mafalda {VERSION} "
LINE = 4096  # bytes of a line or a request, at most
FRAME = 1 << 20  # bytes that a frame may carry
CLIENT_PROOF, SERVER_PROOF, CLIENT_FRAMES, SERVER_FRAMES = "client proof", "server proof", "client frames", "server frames"
HANDSHAKE = 30.0  # seconds that a server has to prove the token


def session(token: str, client: str, server: str) -> bytes:
    """The secret of a session: of the token, and of the first line of each side with its line feed."""
    return hmac.digest(token.encode(), (client + server).encode(), "sha256")


def derived(secret: bytes, purpose: str) -> bytes:
    """What a session has for a purpose: a proof, or a direction's key."""
    return hmac.digest(secret, purpose.encode(), "sha256")


def proof(secret: bytes, purpose: str) -> str:
    """The line, with its line feed, that proves the token."""
    return f"proof {derived(secret, purpose).hex()}\n"


class Frames:
    """What follows the proofs, in both directions.

    A frame is the length of what it carries, 4 bytes, little-endian; what it carries; and the HMAC-SHA256 of its number in
    its direction (8 bytes, from 0), its length and what it carries.
    """

    def __init__(self, sock: socket.socket, file: IO[bytes], sends: bytes, receives: bytes) -> None:
        self._sock, self._file = sock, file
        self._sends, self._receives = hmac.new(sends, digestmod="sha256"), hmac.new(receives, digestmod="sha256")
        self._sent = self._received = 0
        self._room = memoryview(bytearray(FRAME))

    def send(self, content: bytes) -> None:
        """One frame."""
        head = len(content).to_bytes(4, "little")
        code = self._code(self._sends, self._sent, head, content)
        self._sent += 1
        self._sock.sendall(head + content + code)

    def receive(self) -> bytes:
        """What the next frame carries.

        A frame that the other side has not made for this place is a ServerError, an end a ConnectionError.
        """
        return bytes(self._room[: self.receive_into(self._room)])

    def receive_into(self, view: memoryview) -> int:
        """The same, at the start of view; returns how many bytes. A frame with more than fit is a ServerError."""
        head = self._exactly(4)
        length = int.from_bytes(head, "little")
        if not 0 < length <= min(FRAME, len(view)):
            raise _changed()
        part = view = view[:length]
        while len(part):
            count = self._file.readinto(part)  # type: ignore[attr-defined]
            if not count:
                raise ConnectionError("the noise server went away")
            part = part[count:]
        code = self._exactly(32)
        if not hmac.compare_digest(code, self._code(self._receives, self._received, head, view)):
            raise _changed()
        self._received += 1
        return length

    def _exactly(self, count: int) -> bytes:
        found = self._file.read(count)
        if len(found) < count:
            raise ConnectionError("the noise server went away")
        return found

    @staticmethod
    def _code(of: hmac.HMAC, number: int, head: bytes, content: bytes | memoryview) -> bytes:
        code = of.copy()
        code.update(number.to_bytes(8, "little") + head)
        code.update(content)
        return code.digest()


def _changed() -> ServerError:
    return ServerError(
        "what came is not the next frame of the noise server: something has changed, repeated or left out bytes. None of it was "
        "used; ask again",
        "frame",
    )


class Client:
    """One connection, for the rows of one export, node and dimension.

    A broken one raises a ConnectionError; an error of the server a StepError or a ServerError; a server that does not prove
    the token a ServerError with the code `token`. Between a request and the end of its answer, idle is False: after an
    exception the connection is then of no use.
    """

    def __init__(self, sock: socket.socket, export: str, node: str, dim: int, token: str | None = None) -> None:
        self._sock = sock
        self._file = sock.makefile("rb")
        self.idle = False
        timeout = sock.gettimeout()
        self._until = time.monotonic() + (HANDSHAKE if timeout is None else min(timeout, HANDSHAKE))
        try:
            self._frames = self._greet(export, node, dim, token or "")
            sock.settimeout(timeout)
            word, _, rest = self._answer().partition(" ")
            self.hello: Json = json.loads(rest) if word == "hello" else {}
            if self.hello.get("protocol") != VERSION:
                raise ServerError(f"no noise server: it said {word[:80]!r}", "protocol")
        except BaseException:
            self._end()
            raise

    def _greet(self, export: str, node: str, dim: int, token: str) -> Frames:
        """The proofs of both sides."""
        opening = {
            "export": export,
            "node": node,
            "dim": int(dim),
            "address": self._address(token),
            "nonce": secrets.token_hex(32),
            "token": bool(token),
        }
        first = GREETING + json.dumps(opening) + "\n"
        second = self._line(first)
        if not second.startswith(GREETING) or len(second) != len(GREETING) + 65:
            raise ServerError(f"no noise server: it said {second[:80]!r}", "protocol")
        secret = session(token, first, second)
        if not hmac.compare_digest(self._line(proof(secret, CLIENT_PROOF)).encode(), proof(secret, SERVER_PROOF).encode()):
            raise ServerError(
                "whoever listens there does not prove the token: it may be another program in the place of the noise server. "
                "It has not learned the token, and nothing it said was used",
                "token",
            )
        return Frames(self._sock, self._file, derived(secret, CLIENT_FRAMES), derived(secret, SERVER_FRAMES))

    def _address(self, token: str) -> str:
        """Where this has connected to: a relay has another address than the server."""
        if self._sock.family not in (socket.AF_INET, socket.AF_INET6):
            return ""
        host, port = self._sock.getpeername()[:2]
        if not ipaddress.ip_address(host).is_loopback:
            raise ServerError(
                f"{host} is not a loopback address: rows are not encrypted, and whoever reads them can subtract them. For "
                "another machine tunnel a Unix socket by ssh",
                "address",
            )
        if not token:
            raise ServerError(
                f"every user of the machine can listen at {host}:{port}: give the token that `mafalda noise serve` keeps in its token-file",
                "token",
            )
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def row_to(self, into: Array, step: int, offset: int) -> None:
        """Numbers offset, … of a step's row, as many as into (contiguous, float64 or float32, little-endian) has."""
        name = {"<f8": "float64", "<f4": "float32"}[into.dtype.newbyteorder("<").str]
        request = f"row {step} {name} {offset} {into.size}"
        self._ask(request, f"{request} {into.nbytes}", more=True)
        view = memoryview(into.data).cast("B")
        while len(view):
            view = view[self._frames.receive_into(view) :]
        self.idle = True

    def unsent(self, step: int) -> None:
        """See Noise.skip."""
        self._ask(f"unsent {step}", f"unsent {step}")

    def sending(self, step: int, digest: str) -> None:
        """See Noise.sending."""
        self._ask(f"sending {step} {digest}", f"sending {step}")

    def state(self) -> Json:
        """The place, as in hello."""
        return json.loads(self._ask("state").partition(" ")[2])

    def spent(self) -> Json | None:
        """See Noise.spent."""
        return json.loads(self._ask("spent").partition(" ")[2])

    def check_idle(self) -> None:
        """A ServerError with the code `busy` between a request and the end of its answer."""
        if not self.idle:
            raise ServerError("the noise was asked for while an answer was awaited, as in a signal handler: ask later", "busy")

    def close(self) -> None:
        """Ends the connection, also from a signal handler while an answer is read: the reading then fails."""
        try:
            if self.idle:
                self._frames.send(b"close")
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._end()

    def _end(self) -> None:
        """Lets go of the connection without a word."""
        try:
            self._file.close()
        except RuntimeError:  # it is being read, and the connection ends with the reader
            pass
        self._sock.close()

    def _ask(self, request: str, wanted: str | None = None, more: bool = False) -> str:
        """The answer to a request; more: frames follow it, unless it refuses."""
        self.check_idle()
        self.idle = False
        self._frames.send(request.encode())
        answer = self._answer(more)
        if wanted is not None and answer != wanted:
            self.idle = False
            raise ServerError(f"the server answered {answer[:80]!r}, not {wanted!r}", "protocol")
        return answer

    def _answer(self, more: bool = False) -> str:
        answer = self._frames.receive().decode("utf-8", "replace")
        refused = _refusal(answer)
        self.idle = not more or refused is not None
        if refused is None:
            return answer
        if refused.code == "budget":
            raise BudgetError(str(refused))
        if refused.code in ("order", "sent", "exhausted"):
            raise StepError(str(refused))
        raise refused

    def _line(self, line: str) -> str:
        """What a server says to a line, before it has proven anything, in time however slowly it speaks."""
        answer = b""
        self._wait()
        self._sock.sendall(line.encode())
        while not answer.endswith(b"\n") and len(answer) < LINE:
            self._wait()
            byte = self._file.read1(1)  # type: ignore[attr-defined]
            if not byte:
                break
            answer += byte
        if not answer.endswith(b"\n"):
            raise ConnectionError("the noise server hung up")
        text = answer.decode("utf-8", "replace")
        refused = _refusal(text[:-1])
        if refused is not None:
            raise ServerError(f"the noise server refuses: {refused}", refused.code)
        return text

    def _wait(self) -> None:
        """Waits until a server must have proven the token, and no longer: a TimeoutError then."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"the noise server has not proven the token within {HANDSHAKE:g} seconds")
        self._sock.settimeout(left)


def _refusal(answer: str) -> ServerError | None:
    """The error that an answer refuses with, safe for terminals to print."""
    word, _, rest = answer.partition(" ")
    if word != "error":
        return None
    code, _, says = "".join(c if c.isprintable() else "?" for c in rest).partition(" ")
    return ServerError(says, code)
