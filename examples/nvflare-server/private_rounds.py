"""An executor that trains, and a DXO filter behind it that lets out one answer a round, and nothing else."""

import pathlib

from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.dxo_filter import DXOFilter
from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import make_reply
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.workflows.model_controller import ModelController

import mafalda
import silos

SILO, WEIGHTS = "mafalda_silo", "weights"


class Train(Executor):
    """The silo's trainer: the private step of a round. Arguments: work, the folder with a folder of the site's name; rate; stop_at."""

    def __init__(self, work: str, rate: float, stop_at: float = 0):
        super().__init__()
        self.work, self.rate, self.stop_at, self._silo = work, rate, stop_at, None

    def handle_event(self, event_type, fl_ctx):
        if event_type == EventType.START_RUN:
            node = fl_ctx.get_identity_name()
            self._silo = silos.open_silo(pathlib.Path(self.work), node, self.rate, self.stop_at or None)
        elif event_type == EventType.END_RUN and self._silo is not None:
            self._silo.close()

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        if task_name != AppConstants.TASK_TRAIN:  # metrics of its records would have no noise
            return make_reply(ReturnCode.TASK_UNKNOWN)
        step = shareable.get_header(AppConstants.CURRENT_ROUND)
        dxo = from_shareable(shareable)
        try:
            if self._silo.begin(step, dxo.data[WEIGHTS]):
                silos.train(self._silo, step, dxo.data[WEIGHTS])
        except mafalda.MafaldaError as e:  # the round is over, or the budget: the silo's own log says it
            self.log_warning(fl_ctx, str(e))
            return make_reply(ReturnCode.EXECUTION_EXCEPTION)
        fl_ctx.set_prop(SILO, (self._silo, step), private=True, sticky=False)
        return DXO(DataKind.WEIGHTS, data=dxo.data).to_shareable()  # what the server knows already: the filter puts the answer in


class OneAnswerARound(DXOFilter):
    """The client's filter of results: whatever an executor returns, what leaves is the answer of the silo's private step."""

    def __init__(self):
        super().__init__(supported_data_kinds=None, data_kinds_to_filter=None)  # of all kinds

    def process_dxo(self, dxo, shareable, fl_ctx):
        silo, step = fl_ctx.get_prop(SILO)
        answer = DXO(DataKind.WEIGHTS, data={WEIGHTS: silo.answer(step)})  # no metrics, no counts of steps
        self.log_info(fl_ctx, silo.says())
        return answer


class Average(ModelController):
    """The server's workflow. lost: SILO:ROUND, a silo that is not asked any more from a round on."""

    def __init__(self, work: str, lost: str = ""):
        super().__init__(persistor_id="", ignore_result_error=True, task_check_period=0.05)
        self.work, self.lost = work, lost

    def run(self):
        state = silos.Server(pathlib.Path(self.work))
        lost, _, since = self.lost.partition(":")
        while state.round < state.plan.steps and not self.abort_signal.triggered:
            there = [name for name in self.sample_clients() if name != lost or state.round < int(since)]
            model = FLModel(params={WEIGHTS: state.weights}, current_round=state.round, total_rounds=state.plan.steps)
            results = self.send_model_and_wait(targets=there, data=model, timeout=600)
            answers = {result.meta["client_name"]: result.params[WEIGHTS] for result in results}
            self.info(f"round {state.round}: {len(answers)} of {len(state.plan.nodes)} silos answered")
            if not state.end_round(answers):
                break
        self.info(state.says())
