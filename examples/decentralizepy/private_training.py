"""decentralizepy with private steps: its Training, whose trainstep clips every record's gradient and adds the node's next row.

In its configuration (reset_optimizer has to be 0: an optimizer of every round would have no place in the noise):

    [TRAIN_PARAMS]
    training_package = private_training
    training_class = PrivateTraining
    export = "out"                  # of mafalda optimize --graph, with decentralizepy's graph and --gossip metropolis
    state = "noise"                 # real noise: a file for each node
"""

from typing import Any

import torch
from decentralizepy.training.Training import Training

import mafalda


class PrivateTraining(Training):
    def __init__(
        self,
        rank: int,
        machine_id: int,
        mapping: Any,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        loss: Any,
        log_dir: str,
        export: str = "out",
        state: str = "noise",
        **options: Any,
    ) -> None:
        super().__init__(rank, machine_id, mapping, model, optimizer, loss, log_dir, **options)
        self.plan = mafalda.load(export)
        self.node, self.state = self.plan.nodes[mapping.get_uid(rank, machine_id)], state
        self.private: Any = None

    def reset_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        raise mafalda.MafaldaError("the private optimizer goes on from round to round: say reset_optimizer = 0")

    def train(self, dataset: Any) -> None:
        """One step with the plan's own batch: their loader begins anew in every round, and shuffles."""
        records = dataset.get_trainset(1, False).dataset
        if self.private is None:
            self.sampler = self.plan.sampler(len(records), node=self.node, state=f"{self.state}-{self.node}-batches")
            self.private = self.plan.make_private(
                self.optimizer, node=self.node, state=f"{self.state}-{self.node}", sampler=self.sampler
            )
        self.private.accept_changes()  # what came since the last step is the average of noisy models
        self.model.train()
        batch = [records[i] for i in self.sampler.batch(self.private.step_number)]
        self.trainstep(*torch.utils.data.default_collate(batch))

    def trainstep(self, data: torch.Tensor, target: torch.Tensor) -> float:
        loss = self.private.backward(self.model, self.loss, data, target)
        self.private.step()
        return float(loss)  # as secret as the records: their logs are for the node's own eyes
