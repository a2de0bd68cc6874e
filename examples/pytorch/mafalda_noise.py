"""The noise of a node, from an export of mafalda: needs numpy only.

    from mafalda_noise import Noise
    noise = Noise("out", node="Medici", dim=1000, seed=1)      # for simulations: the numbers of `mafalda noise --seed 1`
    row = next(noise)                                          # what the node adds in step 0

Seeded noise is the same, bit for bit, as that of the Go program, and protects nothing: everybody can make it. Real noise comes from
`mafalda noise --state FILE` or the Go package, which keep the key secret and never draw a row twice.

The row of step t is for the message of step t, with the gradients of batch t mod b in it, where the batches were made once and are never
reshuffled: the guarantee of an export is for that, and for no other data loader. Noise.batches is b.
"""

import csv
import hashlib
import json
import os

import numpy as np

CHUNK = 4096  # coordinates of a row that one generator makes


def seeded_key(seed: int, node: str) -> bytes:
    return hashlib.sha256(b"mafalda noise 1" + seed.to_bytes(8, "little") + _bytes(node)).digest()


def _bytes(label: str) -> bytes:
    return label.encode("utf-8", "surrogateescape")  # as command lines and files have them


def _rotate(x, bits):
    return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))


def _quarter(s, a, b, c, d):
    s[a] += s[b]; s[d] = _rotate(s[d] ^ s[a], 16)
    s[c] += s[d]; s[b] = _rotate(s[b] ^ s[c], 12)
    s[a] += s[b]; s[d] = _rotate(s[d] ^ s[a], 8)
    s[c] += s[d]; s[b] = _rotate(s[b] ^ s[c], 7)


def chacha8(seeds: np.ndarray, count: int) -> np.ndarray:
    """The first count 64-bit outputs of C2SP chacha8rand for every seed (n×32 bytes), as n×count."""
    n = len(seeds)
    key = np.frombuffer(seeds.tobytes(), dtype="<u4").reshape(n, 8).T.astype(np.uint32)  # 8×n
    out = []
    while sum(o.shape[1] for o in out) < count:
        # 16 blocks with the counters 0..15, of which four at a time are interleaved word by word
        counter = np.arange(16, dtype=np.uint32)
        state = np.zeros((16, n, 16), dtype=np.uint32)  # word, seed, block
        for i, c in enumerate((0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)):
            state[i] = c
        state[4:12] = key[:, :, None]
        state[12] = counter
        s = [state[i].copy() for i in range(16)]
        for _ in range(4):
            _quarter(s, 0, 4, 8, 12); _quarter(s, 1, 5, 9, 13); _quarter(s, 2, 6, 10, 14); _quarter(s, 3, 7, 11, 15)
            _quarter(s, 0, 5, 10, 15); _quarter(s, 1, 6, 11, 12); _quarter(s, 2, 7, 8, 13); _quarter(s, 3, 4, 9, 14)
        for i in range(4, 12):  # only the key is added
            s[i] = s[i] + state[i]
        words = np.stack(s).reshape(16, n, 4, 4)             # word, seed, group, block of the group
        words = words.transpose(1, 2, 0, 3).reshape(n, 256)  # seed; group, word, block
        numbers = np.ascontiguousarray(words.astype("<u4")).view("<u8")  # n×128
        out.append(numbers[:, :124])
        key = np.ascontiguousarray(numbers[:, 124:]).view("<u4").reshape(n, 8).T.astype(np.uint32)  # the last 32 bytes seed the rest
    return np.concatenate(out, axis=1)[:, :count]


_A = (3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3)
_B = (1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
      2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3)
_C = (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
      1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4)
_D = (1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
      1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9)
_E = (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7)
_F = (1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
      7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15)


def _polynomial(c, r):
    v = np.full_like(r, c[7])
    for x in c[6::-1]:
        v = v * r + x
    return v


def _logarithm(x):
    m, e = np.frexp(x)
    low = m < 0.7071067811865476
    m = np.where(low, m * 2, m)
    e = np.where(low, e - 1, e)
    s = (m - 1) / (m + 1)
    w = s * s
    v = np.full_like(w, 1.0 / 25)
    for k in range(23, 0, -2):
        v = v * w + 1 / float(k)
    return e * 0.6931471805599453 + 2 * (s * v)


def normal(bits: np.ndarray) -> np.ndarray:
    """Standard normal numbers of 64 random bits each: Wichura's AS 241, the operations in the order of the Go program."""
    p = ((bits & np.uint64((1 << 52) - 1)).astype(np.float64) + 0.5) * 2.0**-53
    q = p - 0.5
    central = q >= -0.425
    r = 0.180625 - q * q
    z = q * _polynomial(_A, r) / _polynomial(_B, r)
    tail = ~central
    root = np.sqrt(-_logarithm(p[tail]))
    near = root - 1.6
    far = root - 5
    z[tail] = np.where(root <= 5, -(_polynomial(_C, near) / _polynomial(_D, near)), -(_polynomial(_E, far) / _polynomial(_F, far)))
    return np.where(bits >> np.uint64(63) == 1, z, -z)


def normals(key: bytes, dim: int, t: int) -> np.ndarray:
    """Row t of Z."""
    chunks = (dim + CHUNK - 1) // CHUNK
    seeds = np.array([list(hashlib.sha256(key + t.to_bytes(8, "little") + c.to_bytes(8, "little")).digest()) for c in range(chunks)], dtype=np.uint8)
    return normal(chacha8(seeds, min(dim, CHUNK))).reshape(-1)[:dim]


def _once(pairs):
    """A JSON object whose keys other readers cannot take for each other: none is there twice, or in another case."""
    seen = set()
    for key, _ in pairs:
        folded = key.upper().lower()
        if folded in seen:
            raise ValueError(f"the manifest has the key {key!r} twice")
        seen.add(folded)
    return dict(pairs)


def _no_number(word):
    raise ValueError(f"the manifest has {word} for a number")


class Noise:
    """An iterator over the T rows of one node's noise."""

    def __init__(self, directory: str, node: str, dim: int, seed: int, noise_std: float = None):
        with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as f:
            self.manifest = json.load(f, object_pairs_hook=_once, parse_constant=_no_number)
        if "space" in self.manifest:
            raise ValueError("its nodes share noise in pairs, which only `mafalda noise` draws: no row goes without its shared part")
        self._check_hashes(directory)
        self._check_inverse(directory)
        self.steps, self.dim, self.next = self.manifest["steps"], dim, 0
        self.std = self._level(noise_std)
        self.batches = self.manifest["participation"]["b"]
        self.layer = self._layer(directory, node)
        self.key = seeded_key(seed, node)
        strategy = self.manifest["strategy"]
        make = {"banded": self._banded, "toeplitz": self._toeplitz, "banded-inverse": self._banded_inverse, "blt": self._blt}
        self._rows = make.get(strategy["class"], lambda s: self._dense(directory))(strategy)

    def _level(self, wanted):
        promised = self.manifest.get("privacy", {}).get("noise_std")
        privacy = self.manifest.get("privacy")
        if self.manifest.get("sampling", {}).get("scheme", "cyclic") != "cyclic":
            raise ValueError("the export is private only with batches that are drawn in secret, which is not for batch t mod b: see docs/noise.md")
        if privacy is not None:
            contribution = {"zero-out": 1, "replace-one": 2}[privacy["adjacency"]] * privacy["clip"]
            if not promised * privacy["mu"] >= contribution * (1 - 1e-12):
                raise ValueError(f"noise_std is {promised}, which is less than mu = {privacy['mu']} takes")
        std = promised if wanted is None else wanted
        if std is None:
            raise ValueError("the export has no noise level: give noise_std")
        if not 1e-280 <= std <= 1e280 or promised is not None and not std >= promised:
            raise ValueError(f"a noise level of {std}, where the manifest says {promised}")
        return std

    def _layer(self, directory, node):
        """Which of several strategies the node runs."""
        if "graph" not in self.manifest:
            return 0
        with open(os.path.join(directory, "nodes.csv"), encoding="utf-8", errors="surrogateescape", newline="") as f:
            labels = [fields[1] for fields in list(csv.reader(f))[1:]]
        if labels.count(node) != 1:
            raise ValueError(f"nodes.csv has the node {node!r} {labels.count(node)} times")
        return self.manifest["per_node"]["layers"][labels.index(node)] if "per_node" in self.manifest else 0

    def _check_hashes(self, directory):
        for name, digest in self.manifest["files"].items():
            with open(os.path.join(directory, name), "rb") as f:
                if hashlib.sha256(f.read()).hexdigest() != digest.lower():
                    raise ValueError(f"{name} is not the file of the manifest")
        for name in os.listdir(directory):
            if name != "manifest.json" and name not in self.manifest["files"]:
                raise ValueError(f"{name} is not in the manifest")

    def _check_inverse(self, directory):
        """Noise by C⁻¹ protects what C says only if it is the inverse. Whether C is what the manifest says is for mafalda verify."""
        if "C.npy" not in self.manifest["files"]:
            return
        c, inverse = (np.load(os.path.join(directory, name)) for name in ("C.npy", "C_inv.npy"))
        for x, y in zip(c, inverse) if c.ndim == 3 else [(c, inverse)]:
            if not np.linalg.norm(x @ y - np.eye(self.manifest["steps"])) <= 1e-9:
                raise ValueError("C_inv.npy is not the inverse of C.npy")

    def __iter__(self):
        return self

    def __next__(self) -> np.ndarray:
        row = next(self._rows) * self.std
        self.next += 1
        return row

    def _z(self, t):
        return normals(self.key, self.dim, t)

    def _dense(self, directory):
        inverse = np.load(os.path.join(directory, "C_inv.npy"), mmap_mode="r")
        if inverse.ndim == 3:
            inverse = inverse[self.layer]
        past = []
        for t in range(self.steps):
            z = self._z(t)
            row = inverse[t, t] * z
            for s in range(t):
                if inverse[t, s] != 0:
                    row = row + inverse[t, s] * past[s]
            past.append(z)
            yield row

    def _autoregression(self, diagonals):
        past = []  # newest first
        for t in range(self.steps):
            row = self._z(t)
            for j, earlier in enumerate(past):
                row = row + -diagonals[j + 1][t - j - 1] * earlier
            row = 1 / diagonals[0][t] * row
            past = ([row] + past)[: len(diagonals) - 1]
            yield row

    def _banded(self, s):
        return self._autoregression(s["diagonals"])

    def _toeplitz(self, s):
        columns = s.get("column_scales") or [1.0] * self.steps
        return self._autoregression([[c * columns[i] for i in range(self.steps - lag)] for lag, c in enumerate(s["coefficients"])])

    def _banded_inverse(self, s):
        past = []
        r = s["coefficients"]
        for t in range(self.steps):
            z = self._z(t)
            row = r[0] * z
            for j, earlier in enumerate(past):
                row = row + r[j + 1] * earlier
            past = ([z] + past)[: len(r) - 1]
            yield row

    def _blt(self, s):
        buffers = [[np.zeros(self.dim), np.zeros(self.dim)] for _ in s["sections"]]
        for t in range(self.steps):
            row = 1 / s["scale"] * self._z(t)
            for (p, q, a, b), state in zip(s["sections"], buffers):
                y = row + state[0]
                state[0] = (p * y - a * row) + state[1]
                state[1] = b * row - q * y
                row = y
            yield row


if __name__ == "__main__":
    import sys

    directory, node, dim, seed, out = sys.argv[1:6]
    np.save(out, np.stack(list(Noise(directory, node, int(dim), int(seed)))))
