#!/usr/bin/env python3
"""Measures mafalda on this machine, for docs/results.md and docs/performance.md. For developers; run it from the repository.

    make build
    benchmarks/speed.py                                                  # a minute
    benchmarks/speed.py --large --into docs/results.md                   # half an hour, 2 GB
    venv/bin/python benchmarks/speed.py --against --mfdl MFDL --runs 3

Without --against the whole program is measured on problems of several sizes: reading or making the graph, Gram matrix,
optimum, certificate, export; each run is a process of its own. Times are medians, memory is that of the run that needed most.

With --against programs look for one optimum in turns: mafalda, jax_privacy if this Python has it, and the optimizer of
MFDL if --mfdl names a checkout. The time of a peer is its optimizer's alone, mafalda's the whole program's. A ratio is a
time over mafalda's, the median of the runs. numpy's products and Cholesky factors stand beside mafalda's.

--into replaces the table between "<!-- speed -->" ("<!-- speed against -->") and "<!-- end -->" of a file.
"""
import argparse
import datetime
import decimal
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTICIPATIONS = 20  # of the problem that programs are compared on
KERNELS = 380  # rows of the matrices that kernels are compared on
EGO, MILLION = "barabasi:148,12", "barabasi:1000000,5"
# name, graph (read from a file if it has a million nodes), arguments, whether it takes minutes
PROBLEMS = [
    ("florentine, T = 380", "florentine", "--T 380 --no-baselines", False),
    ("148 nodes, T = 380", EGO, "--T 380 --no-baselines", False),
    ("148 nodes, T = 380, with baselines", EGO, "--T 380", False),
    ("148 nodes, T = 380, BLT of 4 buffers", EGO, "--T 380 --strategy blt --no-baselines", False),
    ("4,039 nodes, T = 380", "barabasi:4039,22", "--T 380 --no-baselines", False),
    ("florentine, T = 1024", "florentine", "--T 1024 -k 16 --no-baselines", True),
    ("florentine, T = 2048", "florentine", "--T 2048 -k 32 --no-baselines", True),
    ("10⁶ nodes, 5·10⁶ edges, T = 1024", MILLION, "--T 1024 -k 16 --no-baselines", True),
    ("10⁶ nodes, T = 10⁵, BLT of 4 buffers", MILLION, "--T 100000 -k 100 --strategy blt", True),
]


def mafalda(program, *args):
    """Returns what the program prints as JSON, and how many seconds it took."""
    started = time.perf_counter()
    done = subprocess.run([program, *args, "--json"], capture_output=True, text=True)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        sys.exit("mafalda %s: %s" % (" ".join(args), done.stderr.strip()))
    return json.loads(done.stdout), seconds


def optimize(program, folder, graph, *args):
    return mafalda(program, "optimize", "--graph", graph, "-o", str(folder / "out"), "--quiet", "--force", *args)


def up(value):
    """Returns two digits of a number, rounded up."""
    digits = decimal.Context(prec=2, rounding=decimal.ROUND_CEILING)
    return "%.2g" % digits.create_decimal_from_float(value)


def duration(seconds):
    return "%.2f ms" % (1000 * seconds) if seconds < 0.1 else "%.2f s" % seconds


def memory(size):
    return "%.3g MB" % (size / 1e6) if size < 1e9 else "%.3g GB" % (size / 1e9)


def measure(program, folder, runs, large):
    """Returns the rows of the table of problems."""
    rows = [["problem", "runs", "time", "memory", "gap", "excess bound"]]
    for name, graph, args, slow in PROBLEMS:
        if slow and not large:
            continue
        if graph == MILLION:
            if not (folder / "graph").exists():
                mafalda(program, "graph", graph, "-o", str(folder / "graph"))
            graph = str(folder / "graph" / "edges.tsv")
        done = [optimize(program, folder, graph, *args.split()) for _ in range((runs + 1) // 2 if slow else runs)]
        m, gram = done[-1][0], done[-1][0]["gram"]
        gap = up(m["gap"]) if m.get("lower_bound", 0) > 0 else "-"
        estimated = "loss_error" in gram
        excess = up(gram["excess_bound"]) if "excess_bound" in gram else "-" if estimated else "exact"
        rows.append([name, str(len(done)), duration(statistics.median_high([s for _, s in done])),
                     memory(max(m["peak_bytes"] for m, _ in done)),
                     gap + " of the estimate" * (estimated and gap != "-"), excess])
    return rows, []


def gram_matrix(w, steps):
    """Returns H of decentralized learning with the gossip matrix w, by the powers of w."""
    powers = [w]
    while len(powers) < steps:
        powers.append(powers[-1] @ w)
    flat = np.array([p.ravel() for p in powers])
    products, h = flat @ flat.T, np.zeros((steps, steps))
    for t in range(steps):
        h[:t + 1, :t + 1] += products[t::-1, t::-1]
    return h


def loss(h, c):
    """Returns sens²·tr(C⁻ᵀHC⁻¹) for cyclic participation, the sensitivity as a bound that is exact for C ≥ 0."""
    steps = len(c)
    x = np.abs(c.T @ c).reshape(PARTICIPATIONS, steps // PARTICIPATIONS, PARTICIPATIONS, -1)
    inverse = np.linalg.inv(c)
    return np.einsum("ibjb->b", x).max() * np.trace(inverse.T @ h @ inverse)


def factor(gram):
    """Returns the lower triangular A with AᵀA = gram."""
    return np.ascontiguousarray(np.linalg.cholesky(gram[::-1, ::-1]).T[::-1, ::-1])


def jax_privacy(h, folder):
    import jax

    jax.config.update("jax_enable_x64", True)
    from jax_privacy.matrix_factorization import dense

    a = jax.numpy.asarray(factor(h))
    started = time.perf_counter()
    c = np.asarray(dense.optimize(len(h), epochs=PARTICIPATIONS, A=a))
    return time.perf_counter() - started, importlib.metadata.version("jax_privacy"), c


class Unused(types.ModuleType):
    """Stands for a module that is not installed and not used."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def mfdl(h, folder):
    if not folder:
        raise ImportError("no checkout is named (--mfdl)")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    while True:
        try:
            from MFDL.simulations import optimal_factorization

            break
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] in ("", "MFDL", "numpy", "scipy") or error.name in sys.modules:
                raise
            sys.modules[error.name] = Unused(error.name)  # graphs, models, figures: its optimizer uses none of them
    a = factor(h)
    started = time.perf_counter()
    c = optimal_factorization.get_optimal_factorization(a, len(h), PARTICIPATIONS)
    return time.perf_counter() - started, "checkout", c


PEERS = {jax_privacy: "pip install jax-privacy",
         mfdl: "git clone https://github.com/dimiarbre/MFDL, and pip install numpy scipy in a Python of 3.12 or later"}


def compare(program, folder, runs, steps, checkout):
    """Returns the rows of the table of programs, and which of them could not be measured."""
    problem = "florentine, T = %d, k = %d" % (steps, PARTICIPATIONS)
    args = "florentine", "--T", str(steps), "-k", str(PARTICIPATIONS), "--no-baselines"
    m, _ = optimize(program, folder, *args)
    h, bound = gram_matrix(np.load(folder / "out" / "W.npy"), steps), m["lower_bound"]
    version = mafalda(program, "version")[0]["version"]
    times, said, absent = {"mafalda": []}, {"mafalda": (version, up(m["loss"] / bound - 1))}, []
    peers = dict(PEERS)
    for _ in range(runs):
        times["mafalda"].append(optimize(program, folder, *args)[1])
        for peer, get in list(peers.items()):
            try:
                seconds, version, c = peer(h, checkout)
            except (ImportError, SyntaxError) as error:
                absent.append("%s: %s: %s" % (peer.__name__, error, get))
                del peers[peer]
                continue
            times.setdefault(peer.__name__, []).append(seconds)
            said[peer.__name__] = version, up(loss(h, np.tril(np.asarray(c, dtype=float))) / bound - 1)
    rows = [["problem", "program", "version", "runs", "time", "ratio", "above the bound"]]

    def add(what, program, version, above, took, beside):
        ratio = statistics.median_high([t / b for t, b in zip(took, beside)])
        rows.append([what, program, version, str(len(took)), duration(statistics.median_high(took)), "%.2f" % ratio, above])

    for name, took in times.items():
        add(problem, name, *said[name], took, times["mafalda"])
    here, beside = kernels(runs), numpy_kernels(runs)
    for what in beside:
        size = "%s, %d×%d" % (what, KERNELS, KERNELS)
        add(size, "mafalda", said["mafalda"][0], "-", here[what], here[what])
        add(size, "numpy", np.__version__, "-", beside[what], here[what])
    return rows, absent


def go_benchmark(pattern, *args):
    return subprocess.run(["go", "test", "./internal/gemm", "-run", "xxx", "-bench", pattern, *args], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout


def kernels(runs):
    """Returns the times of this program's products and factors, as its Go benchmarks measure them."""
    text = go_benchmark("^Benchmark(Product|Cholesky)$/^n=%d$/^[^g]" % KERNELS, "-count", str(runs))
    seconds = lambda name: [float(t) / 1e9 for t in re.findall(r"^Benchmark%s/\S+\s+\d+\s+(\S+) ns/op" % name, text, re.M)]
    return {"product": seconds("Product"), "Cholesky factor": seconds("Cholesky")}


def numpy_kernels(runs):
    a = np.random.default_rng(1).standard_normal((KERNELS, KERNELS))
    spd = a @ a.T + KERNELS * np.eye(KERNELS)

    def seconds(f, times=100):
        started = time.perf_counter()
        for _ in range(times):
            f()
        return (time.perf_counter() - started) / times

    return {"product": [seconds(lambda: a @ a.T) for _ in range(runs)],
            "Cholesky factor": [seconds(lambda: np.linalg.cholesky(spd)) for _ in range(runs)]}


def machine(program):
    """Returns a line about this machine, today."""
    def field(path, pattern):
        try:
            return re.search(pattern, pathlib.Path(path).read_text(), re.M).group(1)
        except (OSError, AttributeError):
            return ""

    system = field("/etc/os-release", '^PRETTY_NAME="?(.*?)"?$')
    kernel = re.search(r"n=64/(\S+?)(-\d+)?\s", go_benchmark("^BenchmarkProduct$/^n=64$/^[^g]", "-benchtime", "1x")).group(1)
    return "%s, %s, %d processors, %s, %s, %s kernels" % (
        datetime.date.today(), field("/proc/cpuinfo", r"^model name\s*:\s*(.*)$") or platform.machine(),
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        platform.system().lower() + (" (%s)" % system if system else ""), mafalda(program, "version")[0]["go"], kernel)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each problem (large ones: half as many)")
    parser.add_argument("--large", action="store_true", help="the large problems, too")
    parser.add_argument("--against", action="store_true", help="measure beside other programs instead")
    parser.add_argument("--mfdl", help="with --against: the folder of a checkout of MFDL")
    parser.add_argument("--T", type=int, default=380, help="with --against: steps, a multiple of %d" % PARTICIPATIONS)
    parser.add_argument("--into", action="append", default=[], help="replace the table in this file (repeatable)")
    parser.add_argument("--program", default=str(ROOT / "mafalda"), help="mafalda")
    a = parser.parse_args()
    if a.runs < 1 or a.T < PARTICIPATIONS or a.T % PARTICIPATIONS:
        parser.error("--runs must be at least 1, --T a multiple of %d" % PARTICIPATIONS)
    start, end = "<!-- speed against -->\n" if a.against else "<!-- speed -->\n", "<!-- end -->"
    place = re.compile(re.escape(start) + ".*?" + re.escape(end), re.S)
    for path in a.into:
        if not place.search(pathlib.Path(path).read_text()):
            parser.error('%s has no line "%s" with "%s" after it' % (path, start.strip(), end))
    if a.against:
        global np
        import numpy as np
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        rows, absent = compare(a.program, folder, a.runs, a.T, a.mfdl) if a.against else measure(a.program, folder, a.runs, a.large)
    lines = [machine(a.program) + "; medians:", ""]
    lines += ["| %s |" % " | ".join(cells) for cells in [rows[0], ["---"] * len(rows[0])] + rows[1:]]
    for missing in absent:
        lines += ["", "Not measured: " + missing]
    table = "\n".join(lines) + "\n"
    print(table, end="")
    for path in map(pathlib.Path, a.into):
        path.write_text(place.sub(lambda _: start + table + end, path.read_text(), count=1))


main()
