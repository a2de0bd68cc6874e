"""What may step an optimizer whose gradients are private, and what may change the parameters between two steps.

A raw gradient reaches a model by a step of the wrapped optimizer itself (StepGuard), or by a change of a parameter from
elsewhere (watch.Watch). Both are refused. What the optimizer does with noisy gradients is its own business; warn_of_optimizer
says where the export is not the best one for it.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from typing import Any, Callable

import torch

from .errors import ExportError, MafaldaError, warn
from ._export import Export
from ._noise import Noise
from ._process import Closing

REPLICAS = ("DistributedDataParallel", "DifferentiallyPrivateDistributedDataParallel", "FullyShardedDataParallel")
KNOWN = (torch.float64, torch.float32, torch.bfloat16, torch.float16)  # dtypes of parameters that can be trained


def one_at_a_time(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, for one thread after the other: a row that two have asked for would protect neither's gradient."""

    @functools.wraps(method)
    def alone(self: Any, *arguments: Any, **options: Any) -> Any:
        with self._turn:
            return method(self, *arguments, **options)

    return alone


class StepGuard:
    """Refuses the steps of an optimizer that are not made inside `with guard:`, by the same thread, and a state that none of
    these left. An optimizer has one guard, for its life."""

    def __init__(self, optimizer: "torch.optim.Optimizer") -> None:
        self._open: int | None = None
        self._optimizer = optimizer
        self.accept_state()
        try:
            optimizer.register_step_pre_hook(self._hook)
        except AttributeError:  # torch 1, and optimizers that leave out Optimizer.__init__
            self._replace_step(optimizer)

    @staticmethod
    def of(optimizer: "torch.optim.Optimizer") -> "StepGuard":
        """The guard of an optimizer, which is made if it has none."""
        if "_mafalda_guard" not in vars(optimizer):
            optimizer._mafalda_guard = StepGuard(optimizer)
        return optimizer._mafalda_guard

    def __enter__(self) -> None:
        self._open = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._open = None
        self.accept_state()

    def accept_state(self) -> None:
        """The optimizer's state is one of private steps."""
        self._state = self._optimizer.state

    def check_state(self) -> None:
        """A MafaldaError if another state was loaded since the last private step."""
        if self._optimizer.state is not self._state and remembers(self._optimizer):
            raise MafaldaError(
                "the optimizer was given another state (momentum, moments), which may hold gradients without noise: go on from a "
                "checkpoint with the private optimizer's load_state_dict, or forget the state with optimizer.state.clear()"
            )

    def _hook(self, *_: Any) -> None:
        if self._open != threading.get_ident():
            raise MafaldaError(
                "this step of the wrapped optimizer would use gradients without clipping and noise. The private one "
                "steps it: call private.backward(model, loss, inputs, targets) and private.step() (with Opacus: "
                "loss.backward() and the step of the MafaldaOptimizer) in place of loss.backward() and optimizer.step()"
            )

    def _replace_step(self, optimizer: "torch.optim.Optimizer") -> None:
        step = optimizer.step

        @functools.wraps(step)
        def guarded(_: Any, *arguments: Any, **options: Any) -> Any:
            self._hook()
            return step(*arguments, **options)

        optimizer.step = types.MethodType(guarded, optimizer)  # a method: schedulers wrap it again


def trained_parameters(optimizer: "torch.optim.Optimizer") -> list["torch.nn.Parameter"]:
    """The parameters that an optimizer trains.

    An ExportError if a private step would fail with them after its row was spent: of numbers that noise cannot be added
    to, or an optimizer whose steps need more than gradients.
    """
    if isinstance(optimizer, Private):
        raise ExportError("the optimizer is private already: give torch's own")
    parameters = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
    for p in parameters:
        if p.dtype not in KNOWN or p.layout != torch.strided or p.device.type == "meta":
            raise ExportError(
                f"a parameter of {p.dtype}, {p.layout} on {p.device}: noise is for real numbers (float64, float32, bfloat16, "
                "float16) in dense tensors that have memory"
            )
    if "_mafalda_guard" not in vars(optimizer) and remembers(optimizer):
        raise MafaldaError(
            "the optimizer has made steps, and its state (momentum, moments) may hold gradients without noise: give a new one, "
            "or forget them with optimizer.state.clear(). A private training goes on with private.load_state_dict"
        )
    closure = inspect.signature(optimizer.step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise ExportError(
            f"{type(optimizer).__name__} evaluates gradients several times a step, and a row protects one gradient"
        )
    if isinstance(optimizer, torch.optim.SparseAdam):
        raise ExportError("SparseAdam takes sparse gradients, and the noise is dense: take Adam")
    return parameters


def remembers(optimizer: "torch.optim.Optimizer") -> bool:
    """Whether an optimizer has a state of steps that it made."""
    return any(
        float(state.get("step", 1)) and any(isinstance(x, torch.Tensor) for x in state.values())
        for state in optimizer.state.values()
    )


def check_model(model: "torch.nn.Module", parameters: list["torch.nn.Parameter"]) -> None:
    """An ExportError unless a private optimizer trains exactly the parameters of the model that require a gradient.

    Replicas (DistributedDataParallel, fully sharded models) are a MafaldaError.
    """
    for layer in model.modules():
        if any(kind.__name__ in REPLICAS for kind in type(layer).__mro__):
            raise MafaldaError(
                f"the model is a {type(layer).__name__}: every replica would take gradients of its own batch and add a "
                "row of its own, and what they average is no step of the export. A node is one process: train the "
                "model that is wrapped (a model on several devices: mafalda.noise_at)"
            )
    mine = {id(p) for p in parameters}
    theirs = {id(p): name for name, p in model.named_parameters() if p.requires_grad}
    if mine != theirs.keys():
        left_out = [name for i, name in theirs.items() if i not in mine]
        raise ExportError(
            "the model's parameters are not those of the private optimizer: gradients of some would go out without noise"
            + (f" ({left_out[0]!r} is not among them" if left_out else " (it has others, too")
            + "). Give the optimizer model.parameters(); what is not trained has requires_grad_(False)"
        )


def refuse_raw_gradients(parameters: list["torch.nn.Parameter"]) -> None:
    """A MafaldaError if a parameter has a gradient, which the private optimizer did not make."""
    if any(p.grad is not None for p in parameters):
        raise MafaldaError(
            "the gradients are those of loss.backward(), which does not clip: call private.backward(model, loss, inputs, "
            "targets) instead (private.zero_grad() forgets them)"
        )


def warn_of_optimizer(plan: Export, optimizer: "torch.optim.Optimizer") -> None:
    """Warns where the optimizer does something to noisy gradients that the export was not optimized for.

    Privacy is the same; another export would have less error.
    """
    if "workload" not in plan.manifest:
        return
    said = plan.manifest["workload_spec"]
    if not isinstance(optimizer, torch.optim.SGD):
        warn(
            f"{type(optimizer).__name__} is not gradient descent, which the export was optimized for: no workload "
            "describes it. Privacy is the same, and C is no longer the best one"
        )
        return
    for name, part in (("momentum", "momentum"), ("nesterov", "nesterov"), ("weight_decay", "decay")):
        wanted = said.get(name) or 0
        for value in {float(group.get(name) or 0) for group in optimizer.param_groups}:
            if value != wanted:
                warn(
                    f"the optimizer has {name} {value:g}, the export was optimized for {float(wanted):g}. Privacy is the "
                    f"same; mafalda.optimize finds the C that is best with it: optimizer, {part}"
                )


class Private(Closing):
    """What private optimizers have in common: noise, whose server ends with them, no copies, and no steps by torch's GradScaler,
    which leaves out a step where raw gradients overflow, and so tells of them. Usable in a with statement, which closes it."""

    noise: Noise

    def close(self) -> None:
        """Ends the noise server."""
        self.noise.close()

    def __reduce__(self) -> tuple[object, ...]:
        return self.noise.__reduce__()  # a ProcessError: there are no copies

    @property
    def _step_supports_amp_scaling(self) -> bool:  # what GradScaler.step asks first
        raise MafaldaError(
            "GradScaler skips steps by what the gradients are before the noise, and a step that is missed is a message: "
            "call private.step() itself, without a scaler. bfloat16 needs none, and neither does float16 here: gradients "
            "are clipped and summed in single precision"
        )
