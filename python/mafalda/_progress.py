"""A bar for a command that takes long: of tqdm where it is installed, a line of text on a terminal without."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
import warnings
from typing import Any, Callable, Iterator

Progress = bool | Callable[[str, "float | None"], None] | None

DELAY = 2.0  # seconds of work before there is a bar


@contextlib.contextmanager
def shown(progress: Progress) -> Iterator[Callable[[str, "float | None"], None] | None]:
    """What hears of progress: a function of the caller's, a bar, or None.

    None asks for a bar on a terminal and in a notebook, after two seconds; True for one in any case, False for none.
    """
    if callable(progress):
        yield progress
        return
    if progress not in (None, True, False):
        raise TypeError(f"progress is None, True, False or a function, not {progress!r}")
    if progress is False or progress is None and not (sys.stderr.isatty() or _notebook()):
        yield None
        return
    bar = _Bar()
    try:
        yield bar.show
    finally:
        bar.close()


class _Bar:
    def __init__(self) -> None:
        self._since = time.monotonic()
        self._bar: Any = None
        self._furthest = 0.0
        self._plain = False

    def show(self, doing: str, fraction: float | None) -> None:
        if time.monotonic() - self._since < DELAY:
            return
        self._furthest = max(self._furthest, fraction or 0.0)
        if self._bar is None and not self._plain:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a notebook without widgets gets a bar of text
                    from tqdm.auto import tqdm
            except ImportError:
                self._plain = True
            else:
                self._bar = tqdm(total=1.0, leave=False, bar_format="{percentage:3.0f}%|{bar}| {elapsed} {desc}")
        if self._plain:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{self._furthest:4.0%} {doing}"[:width].ljust(width), end="", file=sys.stderr, flush=True)
        else:
            self._bar.set_description_str(doing, refresh=False)
            self._bar.update(self._furthest - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._plain:
            print("\r".ljust(shutil.get_terminal_size().columns) + "\r", end="", file=sys.stderr, flush=True)


def _notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
