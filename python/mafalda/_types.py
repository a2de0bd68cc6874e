"""Types that many modules name."""

import os
from typing import Any

import numpy as np

Array = np.ndarray
Json = dict[str, Any]  # a JSON object
Path = str | os.PathLike[str]


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0; a bool is none."""
    return not isinstance(value, (bool, str)) and 0 < value < np.inf


def is_whole(value: Any, least: int, end: float = np.inf) -> bool:
    """Whether a value is a whole number from least on and below end; a bool is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value < end
