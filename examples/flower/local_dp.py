"""Is the ε of Flower's LocalDpMod right? Its real mod in 20 rounds of 64 clients, each of which is a canary.

    pip install ./python 'flwr[simulation]'                       # from the repository
    python local_dp.py WORK                                       # mafalda on the PATH, or $MAFALDA

The mod announces ε = 3. mafalda.spent says what that is in total, and the audit what the 64 clients' messages prove. A client of yours
trains where this one adds what the server sends it; docs/is-my-epsilon-right.md has more.
"""

import logging
import math
import pathlib
import sys

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.mod import LocalDpMod
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

import mafalda

CLIENTS, ROUNDS, CLIP, EPSILON, DELTA = 64, 20, 1.0, 3.0, 1e-5
MODEL = [np.zeros((30, 20), np.float32), np.zeros(20, np.float32)]

client = ClientApp(mods=[LocalDpMod(CLIP, CLIP, EPSILON, DELTA)])
server = ServerApp()


@client.train()
def train(msg, context):
    arrays = msg.content["arrays"].to_numpy_ndarrays()
    update = np.frombuffer(msg.content["canary"]["update"], np.float32)
    ends = np.cumsum([a.size for a in arrays])[:-1]
    trained = [a + u.reshape(a.shape) for a, u in zip(arrays, np.split(update, ends))]
    return Message(RecordDict({"arrays": ArrayRecord(trained)}), reply_to=msg)


@server.main()
def main(grid, context):
    work = pathlib.Path(sys.argv[1])
    record = mafalda.canaries.Record(work / "record", MODEL, CLIENTS, CLIP, claim=work / "run.toml")
    model, nodes = MODEL, {node: i for i, node in enumerate(grid.get_node_ids())}
    for t in range(ROUNDS):
        messages = []
        for node, i in nodes.items():
            update = np.concatenate([part.ravel() for part in record.update(i)])
            content = RecordDict({"arrays": ArrayRecord(model), "canary": ConfigRecord({"update": update.tobytes()})})
            messages.append(Message(content, node, MessageType.TRAIN))
        answers = {}
        for reply in grid.send_and_receive(messages):
            if reply.has_error():
                raise SystemExit(f"round {t}: {reply.error.reason}")
            answers[nodes[reply.metadata.src_node_id]] = reply.content["arrays"].to_numpy_ndarrays()
        for i, answer in sorted(answers.items()):
            record.add(t, answer, sender=i, before=model)
        model = [np.mean(parts, axis=0, dtype=np.float32) for parts in zip(*answers.values())]
    record.close()


if __name__ == "__main__":
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True)
    claim = f'preset = "flower-local-dp"\nrounds = {ROUNDS}\nclip = {CLIP}\nepsilon = {EPSILON}\ndelta = {DELTA}\n'
    (work / "run.toml").write_text(claim)
    logging.getLogger("flwr").setLevel(logging.WARNING)
    run_simulation(server, client, num_supernodes=CLIENTS, backend_config={"client_resources": {"num_cpus": 1}})
    total = mafalda.spent(work / "run.toml").rounds[-1]["epsilon"]
    found = mafalda.audit(run=work / "record", runs={"confidence": 0.999})
    least = math.floor(100 * found.lower_epsilon) / 100
    print(f"announced {EPSILON:g} a round; {math.ceil(100 * total) / 100} in total; at least {least} is proved; as described: {found.passed}")
    try:
        mafalda.audit(run=work / "record", epsilon=EPSILON)
    except mafalda.ProgramError as e:
        print(f"as a total, {EPSILON:g} is refuted: {e}")
