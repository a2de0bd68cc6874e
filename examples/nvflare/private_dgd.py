"""An executor for NVFlare's peer-to-peer training whose gradients are private.

NVFlare's DGDExecutor averages *before* its gradient step, so that message t+1 is the first with row t: the export has to be for that,
`mafalda optimize --workload message`. Nodes are named as the sites are. The network comes from the export, too (see job.py).
"""

import os

import numpy as np
import torch
from nvflare.apis.dxo import from_shareable
from nvflare.app_opt.p2p.executors.sync_executor import SyncAlgorithmExecutor

import mafalda


class PrivateDGDExecutor(SyncAlgorithmExecutor):
    """DGD with clipped gradients, batches and noise of an export. Subclasses say what is trained.

    Arguments: export, its folder, sha256, its hash, and state, a folder of the site's own for the states.
    """

    def __init__(self, export: str, sha256: str, state: str, sync_timeout: int = 60):
        super().__init__(sync_timeout=sync_timeout)
        self.export, self.sha256, self.state = export, sha256, state

    def task(self, index: int, nodes: int):
        """A model (the same at all sites), a loss, and the inputs and targets of a site."""
        raise NotImplementedError

    def _pre_algorithm_run(self, fl_ctx, shareable, abort_signal):
        self._stepsize = from_shareable(shareable).data["stepsize"]

    def run_algorithm(self, fl_ctx, shareable, abort_signal):
        site = fl_ctx.get_identity_name()
        plan = mafalda.load(self.export, sha256=self.sha256)
        if plan.manifest["workload"] != "message":
            raise mafalda.ExportError("DGD averages before its gradient step: make the export with --workload message")
        self.model, loss, x, y = self.task(plan.index(site), len(plan.nodes))
        place = os.path.join(self.state, site)
        os.makedirs(place, mode=0o700, exist_ok=True)
        sampler = plan.sampler(len(x), node=site, state=os.path.join(place, "batches"))
        sgd = torch.optim.SGD(self.model.parameters(), lr=self._stepsize)
        private = plan.make_private(sgd, node=site, state=os.path.join(place, "noise"), sampler=sampler)
        for step, batch in sampler.items():
            if abort_signal.triggered:
                break
            self._exchange_values(fl_ctx, value=mafalda.flat(self.model), iteration=step)
            received = self.neighbors_values.pop(step)
            plan.mix(self.model, received, node=site, missing="error")
            private.backward(self.model, loss, x[batch], y[batch])
            private.step()
        private.close()

    def _to_message(self, x):
        return x

    def _from_message(self, x):
        return np.asarray(x)
