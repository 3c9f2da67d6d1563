"""Files damaged at random: bytes changed, cut, doubled, swapped, or mixed with nasty ones."""

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
