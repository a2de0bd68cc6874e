"""Optimizes a strategy for a Gram matrix with another program, for "mafalda bench-self --against".

    peers.py jax_privacy|mfdl|numpy GRAM.npy STEPS PARTICIPATIONS OUT.npy [FOLDER]

Prints one JSON object; the time is the optimizer's alone. A peer that is not there exits with 3 and says why.
"""
import importlib.metadata
import json
import sys
import time
import types


def missing(why):
    print(why, file=sys.stderr)
    sys.exit(3)


try:
    import numpy as np
except ImportError as error:
    missing(error)


def factor(gram):
    """Returns the lower triangular A with AᵀA = gram."""
    return np.ascontiguousarray(np.linalg.cholesky(gram[::-1, ::-1]).T[::-1, ::-1])


def with_jax_privacy(gram, steps, participations, folder):
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        from jax_privacy.matrix_factorization import dense
    except ImportError as error:
        missing(error)
    workload = jax.numpy.asarray(factor(gram))
    started = time.perf_counter()
    c = np.asarray(dense.optimize(steps, epochs=participations, A=workload))
    return time.perf_counter() - started, importlib.metadata.version("jax_privacy"), c


class Unused(types.ModuleType):
    """Stands for a module that is not installed and not used."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def with_mfdl(gram, steps, participations, folder):
    sys.path.insert(0, folder)
    while True:
        try:
            from MFDL.simulations import optimal_factorization

            break
        except ModuleNotFoundError as error:
            name = error.name or ""
            if name.split(".")[0] in ("", "MFDL", "numpy", "scipy") or name in sys.modules:
                missing(error)
            sys.modules[name] = Unused(name)  # graphs, models, figures: its optimizer uses none of them
        except (ImportError, SyntaxError) as error:
            missing(error)
    workload = factor(gram)
    started = time.perf_counter()
    c = optimal_factorization.get_optimal_factorization(workload, steps, participations)
    return time.perf_counter() - started, "checkout", c


def with_numpy(gram, steps, participations, folder):
    """Takes the time of a product and of a Cholesky factor, the smallest of several."""

    def best(f):
        times = []
        for _ in range(5):
            started = time.perf_counter()
            f()
            times.append(time.perf_counter() - started)
        return min(times)

    a = np.random.default_rng(1).standard_normal((steps, steps))
    spd = a @ a.T + steps * np.eye(steps)
    return [best(lambda: a @ a), best(lambda: np.linalg.cholesky(spd))], np.__version__, None


def main():
    name, gram, steps, participations, out = sys.argv[1:6]
    folder = sys.argv[6] if len(sys.argv) > 6 else ""
    seconds, version, c = globals()["with_" + name](np.load(gram), int(steps), int(participations), folder)
    if c is not None:
        np.save(out, np.ascontiguousarray(np.tril(c), dtype=np.float64))
    print(json.dumps({"seconds": seconds if isinstance(seconds, list) else [seconds], "version": version}))


main()
