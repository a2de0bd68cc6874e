"""What can go wrong. All are ValueErrors with one line that says what to do."""

import os
import sys
import warnings


class MafaldaError(ValueError):
    """Everything that this package raises on its own."""


class ExportError(MafaldaError):
    """The export is damaged, tampered with, of another kind, or does not have what was asked for (a node, W, a noise level)."""


class ParticipationError(MafaldaError):
    """A record would take part too soon, too often, or in another way than the export is private for."""


class StepError(MafaldaError):
    """A row of noise was asked for in another step than its own, or a second time with another gradient."""


class BudgetError(StepError):
    """The next row would pass the node's own privacy budget (stop_at): it was not drawn, and the run of this node is over."""


class ProcessError(MafaldaError):
    """Noise or batches were used in another process than the one that opened them, as in a fork, or were to be copied."""


class ServerError(MafaldaError):
    """`mafalda noise serve` could not be started, went away, or answered with an error.

    Attributes: code, the protocol's word for it (`token`, `range`, `io`, …), or "" if there was no answer.
    """

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class PeersError(MafaldaError):
    """No neighbour is there, or addresses are missing (mafalda.peers)."""


class ProgramError(MafaldaError):
    """A command of the program failed: its own line.

    Attributes: code, the exit code (1 not computed, not written or a check that does not hold, 2 wrong keywords or input,
    130 interrupted); command, its name; result, what it printed all the same (an audit that fails), or None.
    """

    def __init__(self, text: str, code: int = 1, command: str = "") -> None:
        super().__init__(text)
        self.code, self.command = code, command
        self.result: object = None


def warn(text: str) -> None:
    """Warns of something, at the line that has called the package."""
    package, level, frame = os.path.dirname(__file__), 2, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)
