"""Files damaged at random: bytes changed, cut, doubled, swapped, or mixed with nasty ones."""

import warnings

import numpy as np

NASTY = (
    b'"',
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"1e999",
    b"-1",
    b"NaN",
    b"\r",
    b"\n\n",
    b";;;;",
    b"\t",
    b"9" * 400,
    b"=1+1",
    b"2024-02-31",
    b"1.234,5",
    b"{",
    b"[[]]",
    b"\xc3\x28",
    b"\xe2\x80\xae",
    b"#",
    b"%%MatrixMarket",
    b"PK\x03\x04",
    b"PAR1",
    b"SQLite format 3\0",
    b"a" * 5000,
    b",",
    b"inf",
    b"true",
    b"\x28\xb5\x2f\xfd",
    b"\x1f\x8b\x08",
    b"0x10",
    b"\xed\xa0\x80",
    b"/",
    b"::",
    b"007",
    b"id",
    b"label",
)


def mutated(data, rng):
    """Return ``data`` after one to four random changes."""
    data = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if not data:
            break
        start = int(rng.integers(len(data)))
        stop = min(len(data), start + int(rng.integers(1, 40)))
        kind = int(rng.integers(7))
        if kind == 0:
            data[start] ^= int(rng.integers(1, 256))
        elif kind == 1:
            del data[start:]
        elif kind == 2:
            del data[start:stop]
        elif kind == 3:
            data[start:start] = data[start:stop]
        elif kind == 4:
            data[start:start] = NASTY[int(rng.integers(len(NASTY)))]
        elif kind == 5:
            data[start:stop] = rng.bytes(stop - start)
        else:
            lines = data.split(b"\n")
            i, j = rng.integers(len(lines), size=2)
            lines[i], lines[j] = lines[j], lines[i]
            data = bytearray(b"\n".join(lines))
    return bytes(data)


ODD_NUMBERS = (-1, 0, 1, 7, 255, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**31))


def mutated_arrays(arrays, rng):
    """Return named arrays of which one is changed: a number, its length, its type, its shape."""
    arrays = dict(arrays)
    name = sorted(arrays)[int(rng.integers(len(arrays)))]
    array = np.array(arrays[name])
    if name == "words" or array.dtype.kind in "SU":
        kept = array.dtype if array.dtype.kind in "SU" else np.dtype(np.uint8)
        data = mutated(array.tobytes(), rng)
        arrays[name] = np.frombuffer(data[: len(data) // kept.itemsize * kept.itemsize], dtype=kept)
        return arrays
    kind = int(rng.integers(8))
    flat = array.reshape(-1).copy()
    if kind <= 2 and flat.size:
        place = int(rng.integers(flat.size))
        number = ODD_NUMBERS[int(rng.integers(len(ODD_NUMBERS)))]
        with np.errstate(all="ignore"):
            flat[place] = np.array([number]).astype(flat.dtype)[0]
        arrays[name] = flat.reshape(array.shape)
    elif kind == 3 and flat.size:
        arrays[name] = flat[: int(rng.integers(flat.size))]
    elif kind == 4:
        arrays[name] = np.concatenate([flat, flat[:1]])
    elif kind == 5:
        odd = (np.float64, np.complex128, np.int8, np.uint64, np.bool_)[int(rng.integers(5))]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(odd)
    elif kind == 6 and array.dtype.kind == "f" and flat.size:
        flat[int(rng.integers(flat.size))] = (np.nan, np.inf, -1e308)[int(rng.integers(3))]
        arrays[name] = flat.reshape(array.shape)
    elif kind == 7:
        del arrays[name]
    else:
        arrays[name] = array[None]
    return arrays
