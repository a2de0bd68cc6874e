"""Stands in for `mafalda noise serve` where the program is not there: the same lines and bytes, rows from a seed in the state."""

import argparse
import json
import os
import secrets
import socket
import sys
import threading

import numpy as np

import mafalda
from mafalda import _durable as durable, _process as process, _protocol as protocol


class Fake:
    def __init__(self, args):
        self.plan, self.path = mafalda.load(args.dir), args.state
        self.lock = open(args.state + ".lock", "ab")
        if not process.hold(self.lock):
            sys.exit(f"mafalda: {args.state}: in use by another process")
        there = os.path.exists(args.state)
        if there == args.new:
            sys.exit(f"mafalda: {args.state}: " + ("is there" if there else "--new starts one"))
        start = {"seed": secrets.randbits(60), "dim": args.dim, "node": args.node, "done": [], "sending": None}
        self.state = durable.read_json(args.state) or start
        if self.state["dim"] != args.dim or self.state["node"] != args.node:
            sys.exit("mafalda: the state is of another model or node")
        self.noise = mafalda._noise_source.open_noise(self.plan, args.node, args.dim, None, self.state["seed"])
        for t, sent in enumerate(self.state["done"]):
            list(self.noise.blocks(t)) if sent else self.noise.skip(t)
        self.keep()

    def keep(self):
        durable.write_json(self.path, self.state)

    def place(self):
        p = self.noise.place
        return json.dumps(
            {
                "protocol": protocol.VERSION,
                "export": self.plan.hash,
                "node": self.noise.node,
                "steps": self.noise.steps,
                "dim": self.noise.dim,
                "noise_std": self.noise.std,
                "private": True,
                "next": p.next,
                "issued": p.issued,
                "sending": self.state["sending"],
                "unsent": list(p.unsent),
            }
        )

    def answer(self, words):
        """The line and the bytes of a reply."""
        t = int(words[1]) if len(words) > 1 else -1
        place, done = self.noise.place, self.state["done"]
        if words[0] == "row":
            if t == place.next < self.noise.steps:
                done.append(True)
                self.state["sending"] = None
                self.keep()
            dtype = {"float64": "<f8", "float32": "<f4"}[words[2]]
            offset, length = (int(w) for w in words[3:5]) if len(words) > 3 else (0, self.noise.dim)
            data = np.concatenate(
                [b for _, b in self.noise.blocks(t, dtype=dtype, offset=offset, length=length)]
            ).tobytes()
            return f"row {t} {words[2]} {offset} {length} {len(data)}", data
        if words[0] == "unsent":
            if t == place.issued and self.state["sending"]:
                return "error sent declared", b""
            self.noise.skip(t)
            done[t:] = [False]
            self.keep()
        elif words[0] == "sending":
            if t != place.issued:
                return f"error order row {place.next} is next", b""
            if self.state["sending"] not in (None, words[2]):
                return "error sent another message was declared: a row protects one gradient", b""
            self.state["sending"] = words[2]
            self.keep()
        elif words[0] == "state":
            return f"state {self.place()}", b""
        elif words[0] == "spent":
            return "spent null", b""
        return f"{words[0]} {t}", b""


def greet(connection, file, token=""):
    """The server's side of the proofs: frames, and whose rows the client wants; None for a client without the token."""
    first = file.readline().decode()
    second = protocol.GREETING + secrets.token_hex(32) + "\n"
    connection.sendall(second.encode())
    secret = protocol.session(token, first, second)
    if file.readline().decode() != protocol.proof(secret, protocol.CLIENT_PROOF):
        connection.sendall(b"error token that is not the token\n")
        return None
    connection.sendall(protocol.proof(secret, protocol.SERVER_PROOF).encode())
    keys = [protocol.derived(secret, p) for p in (protocol.SERVER_FRAMES, protocol.CLIENT_FRAMES)]
    wanted = json.loads(first.removeprefix(protocol.GREETING))
    return protocol.Frames(connection, file, *keys), (wanted["export"], wanted["node"], wanted["dim"])


def serve(fake, connection, lock):
    try:
        with connection, connection.makefile("rb") as file:
            frames, wanted = greet(connection, file)
            frames.send(f"hello {fake.place()}".encode())
            if wanted != (fake.plan.hash, fake.noise.node, fake.noise.dim):
                return
            while (request := frames.receive()) != b"close":
                with lock:
                    try:
                        text, data = fake.answer(request.decode().split())
                    except mafalda.StepError as e:
                        text, data = f"error order {e}", b""
                for part in [text.encode(), *(data[at : at + 1000] for at in range(0, len(data), 1000))]:
                    frames.send(part)
    except OSError:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--node")
    parser.add_argument("--dim", type=int)
    parser.add_argument("--state")
    parser.add_argument("--socket")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--lent-folder")
    args = parser.parse_args(sys.argv[3:])  # noise serve DIR …
    print("opening", args.state, file=sys.stderr, flush=True)
    fake = Fake(args)
    if args.lent_folder is not None:
        threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(1)), daemon=True).start()
    listener = socket.socket(socket.AF_UNIX)
    if os.path.exists(args.socket):
        os.unlink(args.socket)
    listener.bind(args.socket)
    listener.listen()
    print(f"listening on {args.socket}", flush=True)
    lock = threading.Lock()
    while True:
        threading.Thread(target=serve, args=(fake, listener.accept()[0], lock), daemon=True).start()


if __name__ == "__main__":
    main()
