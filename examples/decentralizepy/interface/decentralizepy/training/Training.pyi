# The interface of decentralizepy's Training that the example builds on, as its source has it (revision a5d46be): with it types are
# checked where the source is not at hand.
from typing import Any

class Training:
    model: Any
    optimizer: Any
    loss: Any
    def __init__(
        self,
        rank: Any,
        machine_id: Any,
        mapping: Any,
        model: Any,
        optimizer: Any,
        loss: Any,
        log_dir: Any,
        rounds: Any = "",
        full_epochs: Any = "",
        batch_size: Any = "",
        shuffle: Any = "",
    ) -> None: ...
    def reset_optimizer(self, optimizer: Any) -> None: ...
    def trainstep(self, data: Any, target: Any) -> Any: ...
    def train(self, dataset: Any) -> None: ...
