"""Whoever answers proves the token, and every byte of a row is the server's."""

import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import threading

import numpy as np
import pytest
from conftest import PROGRAMS, program_of
from fake_mafalda import greet

import mafalda
from mafalda import _protocol as protocol, _served as served

TOKEN = "0123456789abcdef"


def by_definition(key, text):
    """HMAC-SHA256 (RFC 2104) of SHA-256 alone."""
    key = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in key) + text).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in key) + inner).digest()


def test_vector():
    """session.json, which the Go tests read, too."""
    with open(os.path.join(os.path.dirname(__file__), "session.json"), encoding="utf-8") as f:
        v = json.load(f)
    secret = by_definition(v["token"].encode(), (v["client_line"] + v["server_line"]).encode())
    assert secret.hex() == v["secret"] == protocol.session(v["token"], v["client_line"], v["server_line"]).hex()
    assert set(v["keys"]) == {"client proof", "server proof", "client frames", "server frames"}
    for purpose, key in v["keys"].items():
        assert by_definition(secret, purpose.encode()).hex() == key == protocol.derived(secret, purpose).hex()
    for side, other in (("client", "server"), ("server", "client")):
        key, wanted = bytes.fromhex(v["keys"][f"{side} frames"]), b""
        near, far = socket.socketpair()
        with near, far, far.makefile("rb") as file:
            sends = protocol.Frames(near, near.makefile("rb"), key, b"")
            for number, frame in enumerate(v[f"{side}_frames"]):
                payload = bytes.fromhex(frame["payload"])
                head = number.to_bytes(8, "little") + len(payload).to_bytes(4, "little") + payload
                assert head[8:] + by_definition(key, head) == bytes.fromhex(frame["frame"])
                wanted += bytes.fromhex(frame["frame"])
                sends.send(payload)
            assert far.recv(10000) == wanted
            near.sendall(wanted)
            receives = protocol.Frames(far, file, b"", key)
            for frame in v[f"{side}_frames"]:
                assert receives.receive().hex() == frame["payload"]


def connected(serve, token=TOKEN, dim=4):
    """A client of a server that serve(connection, file) plays; its exception, if it has one."""
    near, far = socket.socketpair()
    near.settimeout(20)

    def play():
        with far, far.makefile("rb") as file:
            try:
                serve(far, file)
            except (OSError, ConnectionError):
                pass

    threading.Thread(target=play, daemon=True).start()
    return protocol.Client(near, "00" * 32, "a", dim, token)


HELLO = json.dumps({"protocol": protocol.VERSION}).encode()


def after(play):
    """A server that proves the token, says hello and waits for a request; then play(connection, frames)."""

    def serve(connection, file):
        frames, _ = greet(connection, file, TOKEN)
        frames.send(b"hello " + HELLO)
        frames.receive()
        play(connection, frames)
        file.read(1)  # until the client hangs up

    return serve


ANSWER, ROW = b"row 0 float64 0 4 32", struct.pack("<4d", 1, 2, 3, 4)


def made(frames, *contents):
    """The bytes of the next frames."""
    kept, sent = frames._sock, []
    frames._sock = type("Tape", (), {"sendall": lambda self, data: sent.append(data)})()
    for content in contents:
        frames.send(content)
    frames._sock = kept
    return sent


def changed(frame, at):
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


BAD = {
    "swapped": lambda a, b: b + a,
    "repeated": lambda a, b: a + a,
    "a number changed": lambda a, b: a + changed(b, 10),
    "a code changed": lambda a, b: a + changed(b, -1),
    "a word changed": lambda a, b: changed(a, 8) + b,
    "a length of 2^32-1": lambda a, b: a + b"\xff" * 100,
    "a length of 0": lambda a, b: a + bytes(100),
    "longer than the row": lambda a, b: a + (33).to_bytes(4, "little") + b[4:] + b"x",
    "zeros without a code": lambda a, b: a + b[:4] + bytes(64),
}


@pytest.mark.parametrize("name", BAD)
def test_frames_that_are_not_the_servers(name):
    client = connected(after(lambda connection, frames: connection.sendall(BAD[name](*made(frames, ANSWER, ROW)))))
    with pytest.raises(mafalda.ServerError) as said:
        client.row_to(np.empty(4), 0, 0)
    assert said.value.code == "frame" and not client.idle
    with pytest.raises(mafalda.ServerError, match="awaited"):
        client.state()


def test_the_row_of_the_server_is_taken():
    row = np.empty(4)
    parts = (ANSWER, ROW[:8], ROW[8:])
    client = connected(after(lambda connection, frames: connection.sendall(b"".join(made(frames, *parts)))))
    client.row_to(row, 0, 0)
    assert row.tolist() == [1, 2, 3, 4] and client.idle


@pytest.mark.parametrize("cut", [3, 20, 55, 60, 80, -1])
def test_a_frame_that_is_cut(cut):
    def play(connection, frames):
        connection.sendall(b"".join(made(frames, ANSWER, ROW))[:cut])
        connection.shutdown(socket.SHUT_RDWR)

    client = connected(after(play))
    with pytest.raises(ConnectionError):
        client.row_to(np.empty(4), 0, 0)
    assert not client.idle


def line(file):
    return file.readline().decode()


STRANGERS = {
    "zeros": lambda said: b"hello " + HELLO + b"\n" + bytes(4096),
    "a proof of zeros": lambda said: b"proof " + b"0" * 64 + b"\n",
    "the client's proof": lambda said: said[1].encode(),
    "a proof of the empty token": lambda said: protocol.proof(
        protocol.session("", said[0], NONCE), protocol.SERVER_PROOF
    ).encode(),
    "the proof of another session": lambda said: protocol.proof(
        protocol.session(TOKEN, said[0], NONCE.replace("1", "2")), protocol.SERVER_PROOF
    ).encode(),
    "the proof for another dimension": lambda said: protocol.proof(
        protocol.session(TOKEN, said[0].replace('"dim": 4', '"dim": 5'), NONCE), protocol.SERVER_PROOF
    ).encode(),
    "the proof for another node": lambda said: protocol.proof(
        protocol.session(TOKEN, said[0].replace('"node": "a"', '"node": "b"'), NONCE), protocol.SERVER_PROOF
    ).encode(),
    "another node's token": lambda said: protocol.proof(
        protocol.session("another-token-of-many-letters", said[0], NONCE), protocol.SERVER_PROOF
    ).encode(),
}
NONCE = protocol.GREETING + "1" * 64 + "\n"


@pytest.mark.parametrize("name", STRANGERS)
def test_a_server_that_does_not_prove_the_token(name):
    """Whoever takes the port after a crash is not believed, and does not learn the token."""
    said = []

    def serve(connection, file):
        said.append(line(file))
        connection.sendall(NONCE.encode())
        said.append(line(file))
        connection.sendall(STRANGERS[name](said))
        file.read(1)

    with pytest.raises(mafalda.ServerError, match="does not prove the token") as refused:
        connected(serve)
    assert refused.value.code == "token" and len(said) == 2 and TOKEN not in "".join(said)


@pytest.mark.parametrize(
    "says, match",
    [
        (b'error protocol version 1 is spoken here, not "2"\n', "version 1 is spoken here"),
        (b"error order \x1b]0;owned\x07\n", "\\?\\]0;owned\\?"),
        (b"hello {}\n", "no noise server"),
        (protocol.GREETING.encode() + b"1" * 5000, "hung up"),
        (b"", "hung up"),
    ],
)
def test_what_answers_is_no_server(says, match):
    """One line, that a terminal can print, and never a StepError of somebody unknown."""

    def serve(connection, file):
        line(file)
        connection.sendall(says)

    with pytest.raises((mafalda.ServerError, ConnectionError), match=match):
        connected(serve)


def test_a_stranger_who_speaks_slowly_keeps_nobody_waiting(monkeypatch):
    """The time is that of all lines: a byte now and then once kept a client for days."""
    monkeypatch.setattr(protocol, "HANDSHAKE", 0.5)
    ended = threading.Event()

    def serve(connection, file):
        while not ended.wait(0.05):
            connection.sendall(b"m")

    def connect():
        try:
            connected(serve)
        except TimeoutError:
            ended.set()

    threading.Thread(target=connect, daemon=True).start()
    try:
        assert ended.wait(20)
    finally:
        ended.set()


def test_a_nonce_is_fresh():
    said = []

    def serve(connection, file):
        said.append(line(file))

    for _ in range(3):
        with pytest.raises(ConnectionError):
            connected(serve)
    nonces = [json.loads(s.removeprefix(protocol.GREETING))["nonce"] for s in said]
    assert len(set(nonces)) == 3 and all(len(n) == 64 for n in nonces)


def test_addresses_of_other_machines(out, monkeypatch):
    """Rows are not encrypted: over TCP a client takes them from its own machine alone, and with a token."""
    plan = mafalda.load(out)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with pytest.raises(mafalda.ServerError, match="give the token"):
            mafalda.noise_at(plan, "a", 4, address)
        near = socket.create_connection(address)
    far = type("Far", (), {"__getattr__": lambda self, name: getattr(near, name), "getpeername": lambda self: ("192.0.2.1", 7)})
    with pytest.raises(mafalda.ServerError, match="not a loopback address"):
        protocol.Client(far(), "", "a", 4, TOKEN)


def test_a_socket_of_another_user(out, tmp_path, program, monkeypatch):
    """In a folder that others may write to, another user can listen where the server did."""
    plan, user = mafalda.load(out), os.geteuid()
    with plan.noise("a", 30, state=tmp_path / "state", binary=program) as noise:
        assert mafalda.noise_at(plan, "a", 30, noise._server.socket).next == 0
        if user == 0:
            monkeypatch.setattr(served, "listener", lambda *_: (1, 1001))
        else:
            monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        with pytest.raises(mafalda.ServerError, match="is not this user's noise server") as refused:
            mafalda.noise_at(plan, "a", 30, noise._server.socket)
        assert refused.value.code == "token"


REAL = ["real"] if "real" in PROGRAMS else []


def listening(program, out, folder, port=0, new=True, node="a", dim="100"):
    """A server at a loopback address."""
    arguments = ["noise", "serve", out, "--node", node, "--dim", dim, "--state", folder / f"state-{node}-{dim}"]
    arguments += ["--new"] * new + ["--listen", f"127.0.0.1:{port}", "--listen", f"token-file={folder / 'token'}"]
    server = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = server.stdout.readline().decode()
    assert said.startswith("listening on "), said
    return server, int(said.rsplit(":", 1)[1])


@pytest.mark.parametrize("way", REAL)
def test_the_port_after_a_crash(out, tmp_path, way):
    """Once zeros were taken for noise: the server is killed, somebody else listens at its port, and gets the token."""
    plan, program = mafalda.load(out), program_of(way, tmp_path)
    server, port = listening(program, out, tmp_path)
    token = (tmp_path / "token").read_text().strip()
    heard = []
    with mafalda.noise_at(plan, "a", 100, ("127.0.0.1", port), token) as noise:
        first = noise.row(0)
        server.send_signal(signal.SIGKILL)
        server.wait()
        noise._client._sock.shutdown(socket.SHUT_RDWR)
        with socket.create_server(("127.0.0.1", port), reuse_port=False) as stranger:

            def answer():
                try:
                    while True:
                        connection, _ = stranger.accept()
                        with connection, connection.makefile("rb") as file:
                            heard.append(line(file))
                            connection.sendall(NONCE.encode())
                            heard.append(line(file))
                            connection.sendall(heard[-1].encode() + bytes(10000))
                except OSError:
                    pass

            threading.Thread(target=answer, daemon=True).start()
            with pytest.raises(mafalda.ServerError, match="does not prove the token"):
                noise.row(1)
            stranger.shutdown(socket.SHUT_RDWR)
        assert heard and token not in "".join(heard)
        server, _ = listening(program, out, tmp_path, port, new=False)
        try:
            assert (noise.row(0) == first).all() and not (noise.row(1) == first).any()
        finally:
            server.terminate()
            server.wait()


@pytest.mark.parametrize("way", REAL)
def test_another_node_s_server_with_the_same_token(out, tmp_path, way):
    plan, program = mafalda.load(out), program_of(way, tmp_path)
    server, port = listening(program, out, tmp_path)
    try:
        token = (tmp_path / "token").read_text().strip()
        for node, dim, says in (("b", 100, "not of 'b'"), ("a", 99, "changed its size")):
            with pytest.raises(mafalda.ExportError, match=says):
                mafalda.noise_at(plan, node, dim, ("127.0.0.1", port), token)
        for read in (token, token + "\n", token + "\r\n"):
            assert mafalda.noise_at(plan, "a", 100, ("127.0.0.1", port), read).next == 0
    finally:
        server.terminate()
        server.wait()


@pytest.mark.parametrize("way", REAL)
def test_a_relay_reads_no_row(out, tmp_path, way):
    """Somebody at another address of the machine who passes everything on: nothing is drawn for him."""
    plan, program = mafalda.load(out), program_of(way, tmp_path)
    server, port = listening(program, out, tmp_path)

    def pump(a, b):
        try:
            while data := a.recv(1 << 16):
                b.sendall(data)
        except OSError:
            pass

    def relay(listener):
        try:
            while True:
                near, far = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
                threading.Thread(target=pump, args=(near, far), daemon=True).start()
                threading.Thread(target=pump, args=(far, near), daemon=True).start()
        except OSError:
            pass

    try:
        token = (tmp_path / "token").read_text().strip()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=relay, args=(listener,), daemon=True).start()
            with pytest.raises(mafalda.ServerError, match="what is between them could read rows"):
                mafalda.noise_at(plan, "a", 100, listener.getsockname(), token)
            listener.shutdown(socket.SHUT_RDWR)
        assert mafalda.noise_at(plan, "a", 100, ("127.0.0.1", port), token).next == 0
    finally:
        server.terminate()
        server.wait()


@pytest.mark.parametrize("way", REAL)
def test_strangers_keep_nobody_out(out, tmp_path, way):
    """300 connections that say nothing once kept the owner out."""
    plan, program = mafalda.load(out), program_of(way, tmp_path)
    server, port = listening(program, out, tmp_path)
    silent = []
    try:
        token = (tmp_path / "token").read_text().strip()
        for _ in range(600):
            silent.append(socket.create_connection(("127.0.0.1", port)))
        with mafalda.noise_at(plan, "a", 100, ("127.0.0.1", port), token) as noise:
            assert noise.row(0).shape == (100,)
    finally:
        for s in silent:
            s.close()
        server.terminate()
        server.wait()
