"""The numbers, exactly: normal numbers of a key, a step and a coordinate, the same bits as those of the Go program.

    bits      ChaCha8 (C2SP chacha8rand) seeded with SHA-256 of what they are for
    Z[t,i]    the quantile (Wichura's AS 241) of bits 0…51, with the sign of bit 63

`go doc mafalda/noise` and docs/sampling-samplers.md say what the seeds are.
"""

from __future__ import annotations

import hashlib

import numpy as np

from ._types import Array

CHUNK = 4096  # numbers that one generator makes
CACHED = 8192  # numbers that a processor works on at a time


def seeded_key(seed: int, node: str) -> bytes:
    """The key of a node's rows for a seed: everybody can make it, so it protects nothing."""
    return hashlib.sha256(b"mafalda noise 1" + _eight(seed) + label_bytes(node)).digest()


def seeded_pair_key(seed: int, a: str, b: str) -> bytes:
    """The key of the rows that two nodes share, for a seed."""
    first, second = sorted((label_bytes(a), label_bytes(b)))
    return hashlib.sha256(b"mafalda noise pair 1" + _eight(seed) + _eight(len(first)) + first + second).digest()


def label_bytes(label: str) -> bytes:
    """A label as command lines and files have it."""
    return label.encode("utf-8", "surrogateescape")


def _eight(number: int) -> bytes:
    return int(number).to_bytes(8, "little")


def normals(key: bytes, t: int, offset: int, length: int) -> Array:
    """Coordinates offset, …, offset + length - 1 of row t of Z, float64."""
    first, last = offset // CHUNK, (offset + length + CHUNK - 1) // CHUNK
    seeds = [hashlib.sha256(key + _eight(t) + _eight(c)).digest() for c in range(first, last)]
    z = normal(chacha8(seeds, min(CHUNK, offset - first * CHUNK + length) if last - first == 1 else CHUNK)).reshape(-1)
    start = offset - first * CHUNK
    return z[start : start + length]


def uniform_bits(key: bytes, purpose: int, round_: int, count: int) -> Array:
    """Count 64-bit numbers for sampling; purpose and round say what for."""
    of = b"mafalda sampling 1" + key + _eight(purpose) + _eight(round_)
    seeds = [hashlib.sha256(of + _eight(c)).digest() for c in range(-(-count // CHUNK))]
    parts = [chacha8(seeds[at : at + 64], min(CHUNK, count)) for at in range(0, len(seeds), 64)]
    return np.concatenate(parts).ravel()[:count]


def _quarters(a: Array, b: Array, c: Array, d: Array, work: Array) -> None:
    """Quarter rounds of ChaCha, in place, one for each row."""
    for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        x += y
        z ^= x
        np.left_shift(z, np.uint32(bits), out=work)  # rotates z
        z >>= np.uint32(32 - bits)
        z |= work


def chacha8(seeds: list[bytes], count: int) -> Array:
    """The first count 64-bit outputs of C2SP chacha8rand for every seed of 32 bytes, as len(seeds)×count."""
    n = len(seeds)
    key = np.frombuffer(b"".join(seeds), dtype="<u4").reshape(n, 8).T.astype(np.uint32)  # 8×n
    out: list[Array] = []
    a, b, c, d, work = np.empty((5, 4, n, 16), dtype=np.uint32)  # four words of the state each: word, seed, block
    turns = np.add.outer(range(4), range(4)) % 4
    constants = np.array((0x61707865, 0x3320646E, 0x79622D32, 0x6B206574), dtype=np.uint32)
    while len(out) * 124 < count:
        # 16 blocks with the counters 0..15, of which four at a time are interleaved word by word
        a[:], b[:], c[:] = constants[:, None, None], key[:4, :, None], key[4:, :, None]
        d[0], d[1:] = np.arange(16, dtype=np.uint32), 0
        for _ in range(4):
            _quarters(a, b, c, d, work)  # columns
            for ahead, back in ((1, 3), (3, 1)):  # diagonals are columns of turned rows, which are turned back
                for row, by in ((b, ahead), (c, 2), (d, back)):
                    row[:] = row[turns[by]]
                if ahead == 1:
                    _quarters(a, b, c, d, work)
        b += key[:4, :, None]  # only the key is added
        c += key[4:, :, None]
        words = np.concatenate([a, b, c, d]).reshape(16, n, 4, 4)  # word, seed, group, block of the group
        words = words.transpose(1, 2, 0, 3).reshape(n, 256)  # seed; group, word, block
        numbers = np.ascontiguousarray(words.astype("<u4", copy=False)).view("<u8")  # n×128
        out.append(numbers[:, :124])
        key = (
            np.ascontiguousarray(numbers[:, 124:]).view("<u4").reshape(n, 8).T.astype(np.uint32)
        )  # 32 bytes seed the rest
    return np.concatenate(out, axis=1)[:, :count]


# fmt: off
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


# fmt: on
def _polynomial(c: tuple[float, ...], r: Array) -> Array:
    v = np.full_like(r, c[7])
    for x in c[6::-1]:
        v *= r
        v += x
    return v


def _logarithm(x: Array) -> Array:
    m, e = np.frexp(x)
    low = m < 0.7071067811865476
    m = np.where(low, m * 2, m)
    e = np.where(low, e - 1, e)
    s = (m - 1) / (m + 1)
    w = s * s
    v = np.full_like(w, 1.0 / 25)
    for k in range(23, 0, -2):
        v *= w
        v += 1 / float(k)
    return e * 0.6931471805599453 + 2 * (s * v)


def normal(bits: Array) -> Array:
    """Standard normal numbers of 64 random bits each: Wichura's AS 241, the operations in the order of the Go program."""
    z = np.empty(bits.shape)
    for at in range(0, bits.size, CACHED):
        z.reshape(-1)[at : at + CACHED] = _normal(bits.reshape(-1)[at : at + CACHED])
    return z


def _normal(bits: Array) -> Array:
    p = ((bits & np.uint64((1 << 52) - 1)).astype(np.float64) + 0.5) * 2.0**-53
    q = p - 0.5
    central = q >= -0.425
    r = 0.180625 - q * q
    z = q * _polynomial(_A, r) / _polynomial(_B, r)
    tail = ~central
    root = np.sqrt(-_logarithm(p[tail]))
    near, far = root - 1.6, root - 5
    z[tail] = np.where(
        root <= 5, -(_polynomial(_C, near) / _polynomial(_D, near)), -(_polynomial(_E, far) / _polynomial(_F, far))
    )
    return np.where(bits >> np.uint64(63) == 1, z, -z)
