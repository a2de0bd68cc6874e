"""Gossip over TCP: with kills, with nobody there, and with strangers."""

import json
import os
import pathlib
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import NODES, REAL, write

import mafalda
from mafalda.peers import Peers, last_sent

HERE = pathlib.Path(__file__).parent
KILLS = int(os.environ.get("MAFALDA_KILLS", "2"))


def free(labels):
    sockets = {label: socket.create_server(("127.0.0.1", 0)) for label in labels}
    addresses = {label: s.getsockname() for label, s in sockets.items()}
    for s in sockets.values():
        s.close()
    return addresses


def train(plan, node, addresses, tmp_path, results, patience=5.0, tls=None):
    try:
        noise = plan.noise(node, 5, seed=1)
        with Peers(plan, node, addresses, tmp_path / f"outbox-{node}", noise, patience, tls) as peers:
            model = peers.restore(np.zeros(5))
            for step in peers.steps():
                model = plan.mix(model + noise.row(step), peers.exchange(step, model + noise.row(step)), node=node)
            results[node] = model, peers.missing
    except Exception as e:
        results[node] = e


def together(plan, nodes, tmp_path, addresses=None, **options):
    addresses, results = addresses or free(plan.nodes), {}
    threads = [threading.Thread(target=train, args=(plan, n, addresses, tmp_path, results), kwargs=options) for n in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_network_computes_the_definition(out, tmp_path):
    plan = mafalda.load(out)
    results = together(plan, NODES, tmp_path)
    models = np.zeros((4, 5))
    rows = [plan.noise(node, 5, seed=1) for node in NODES]
    for t in range(plan.steps):
        models = plan.W @ (models + np.array([noise.row(t) for noise in rows]))
    for i, node in enumerate(NODES):
        model, missing = results[node]
        assert missing == 0
        np.testing.assert_allclose(model, models[i], rtol=1e-12)
        assert last_sent(tmp_path / f"outbox-{node}") == plan.steps - 1


def test_nobody_is_there(out, tmp_path):
    plan = mafalda.load(out)
    error = together(plan, ["a"], tmp_path, patience=0.2)["a"]
    assert isinstance(error, mafalda.PeersError)
    assert str(error).startswith("nobody is there: node 'a' is at step 0 of 12, and none of 'b', 'd' has come")


def test_a_node_that_comes_back_after_the_others_ended_says_so(out, tmp_path):
    plan = mafalda.load(out)
    noise = plan.noise("a", 5, seed=1)
    noise.row(0)
    with Peers(plan, "a", free(plan.nodes), tmp_path / "outbox", noise, patience=0.2) as peers:
        with pytest.raises(mafalda.PeersError, match="at step 1 of 12, and none of 'b', 'd' answers. They have ended"):
            list(peers.steps())


def test_addresses_are_complete(out, tmp_path):
    plan = mafalda.load(out)
    with pytest.raises(mafalda.PeersError, match="addresses lacks 'd'"):
        Peers(plan, "a", free(["a", "b"]), tmp_path / "outbox", plan.noise("a", 5, seed=1))


def test_another_export_is_refused(out, tmp_path):
    plan, other = mafalda.load(out), mafalda.load(write(tmp_path / "other", k=2, steps=8))
    addresses = free(plan.nodes)
    with Peers(other, "b", addresses, tmp_path / "b", other.noise("b", 5, seed=1)):
        with Peers(plan, "a", addresses, tmp_path / "a", plan.noise("a", 5, seed=1), patience=0.5) as peers:
            with pytest.raises(mafalda.ExportError, match="'b' refuses: it has another export"):
                next(peers.steps())


def contexts(node):
    """Contexts with a node's certificate, which trust those of a and b."""
    pair = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in pair:
        context.load_cert_chain(HERE / f"node-{node}.pem")
        for one in "ab":
            context.load_verify_locations(HERE / f"node-{one}.pem")
        context.verify_mode = ssl.CERT_REQUIRED
    return pair


def test_tls_says_who_a_node_is(tmp_path):
    pairs = {"nodes": ["a", "b"], "w": np.full((2, 2), 0.5)}
    plan = mafalda.load(write(tmp_path / "out", **pairs))
    addresses, results = free(plan.nodes), {}
    threads = [
        threading.Thread(target=train, args=(plan, n, addresses, tmp_path, results), kwargs={"tls": contexts(n)}) for n in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(missing == 0 for _, missing in results.values())
    np.testing.assert_allclose(results["a"][0], results["b"][0])
    addresses = free(plan.nodes)
    with Peers(plan, "a", addresses, tmp_path / "a2", plan.noise("a", 5, seed=1), tls=contexts("a")):
        stranger = Peers(plan, "b", addresses, tmp_path / "b2", plan.noise("b", 5, seed=1), 0.5, tls=contexts("a"))
        with stranger, pytest.raises(mafalda.ExportError, match="refuses: its certificate is not one of 'b'"):
            next(stranger.steps())


NODE = """
import hashlib, json, os, sys
import numpy as np
import mafalda
from mafalda.peers import Peers

folder, work, node, addresses = sys.argv[1:]
addresses = {label: tuple(address) for label, address in json.loads(addresses).items()}

class Seen(Peers):
    def _put(self, label, step, message, size):
        if step >= 0 and len(message) == size:
            with open(f"{work}/seen-{node}", "a") as f:
                f.write(f"{label} {step} {hashlib.sha256(message).hexdigest()}\\n")
        super()._put(label, step, message, size)

plan = mafalda.load(folder)
with plan.noise(node, 50, state=f"{work}/noise-{node}") as noise, Seen(plan, node, addresses, f"{work}/outbox-{node}", noise) as peers:
    model = peers.restore(np.zeros(50))
    for step in peers.steps():
        gradient = np.frombuffer(os.urandom(400), dtype=np.uint64) / 2.0**64  # another one after every start
        model = model + noise.row(step) + gradient
        model = plan.mix(model, peers.exchange(step, model), node=node)
"""


@pytest.mark.skipif(REAL is None, reason="needs the program")
def test_kills(tmp_path):
    """No row ever goes out with two gradients, and every node ends, or says that the others have."""
    draw, kills, round_ = random.Random(1), 0, 0
    plan = mafalda.optimize("cycle:4", steps=80, k=4, mu=1, no_baselines=True, out=tmp_path / "out")
    while kills < KILLS:
        round_ += 1
        work = tmp_path / str(round_)
        work.mkdir()
        kills += _one_training(plan, work, draw, KILLS - kills)
        rows = {}
        for path in work.glob("seen-*"):
            for line in path.read_text().splitlines():
                label, step, digest = line.split()
                assert rows.setdefault((label, step), digest) == digest, f"two messages of {label} in step {step}"
        assert rows


def _one_training(plan, work, draw, most):
    addresses = json.dumps(free(plan.nodes))

    def start(node):
        command = [sys.executable, "-c", NODE, plan.directory, str(work), node, addresses]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([p for p in sys.path if p]), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, env=environment)

    running, kills = {node: start(node) for node in plan.nodes}, 0
    try:
        while kills < most:
            time.sleep(draw.random())
            node = draw.choice(plan.nodes)
            if running[node].poll() is not None:
                break
            if draw.random() < 0.5:
                os.killpg(running[node].pid, signal.SIGKILL)  # with its server
            running[node].kill()
            running[node].communicate()
            running[node], kills = start(node), kills + 1
        ended = {node: (process.communicate()[1], process.returncode) for node, process in running.items()}
    finally:
        for process in running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    assert any(code == 0 for _, code in ended.values()), ended
    for errors, code in ended.values():
        assert code == 0 or b"PeersError: nobody is there" in errors, errors.decode()
    return kills
