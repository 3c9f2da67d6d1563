"""Node tables as people send them, generated with the truth beside them."""

import random
from dataclasses import dataclass, field
from datetime import date, timedelta

MISSING = ("", "NA", "NaN", "null", "N/A", "None")
WORDS = ("heat", "graph", "node", "river", "stone", "light", "paper", "music", "cloud", "window")
COLOURS = ("red", "light blue", "green", "Ö, grün", 'so "called"')
DATES = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d")
PAIRS = (("yes", "no"), ("True", "False"), ("Y", "N"), ("on", "off"))


@dataclass
class Messy:
    """A file and what it means.

    Attributes
    ----------
    data
        The bytes of the file.
    ids, labels
        What its id and label columns hold; None = unlabelled.
    columns
        Name → (kind, values); None = missing.
    poison
        What may be refused, as (what, column or None, row or None, the header aside); None: the
        file must be read.
    """

    data: bytes = b""
    ids: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    columns: dict = field(default_factory=dict)
    poison: tuple | None = None


def messy_table(seed):
    """Return a messy file; every choice follows from the seed."""
    rng = random.Random(seed)
    n = rng.randint(25, 40)
    words, numbered = [f"n{row:02d}" for row in range(n)], list(range(100, 100 + n))
    table = Messy(ids=rng.choice([words, numbered]), labels=[rng.choice("abc") for _ in range(n)])
    rng.shuffle(table.ids)
    table.labels = [None if rng.random() < 0.3 else label for label in table.labels]
    if not any(table.labels):
        table.labels[0] = "a"
    delimiter = rng.choice(",;\t")
    decimal = rng.choice(".,")
    marker = rng.choice(MISSING)
    written = {"id": [str(each) for each in table.ids]}
    written["label"] = [marker if label is None else label for label in table.labels]
    makers = {
        "price": lambda: numbers(rng, n, decimal, thousands=rng.random() < 0.5),
        "count": lambda: whole(rng, n),
        "colour": lambda: categories(rng, n),
        "born": lambda: dates(rng, n),
        "member": lambda: booleans(rng, n),
        "about me": lambda: texts(rng, n),
        "zip": lambda: codes(rng, n),
    }
    names = rng.sample(list(makers), rng.randint(3, 6))
    for name in names:
        kind, values, cells = makers[name]()
        if rng.random() < 0.5:
            lost = rng.sample(range(n), rng.randint(1, 4))
            values = [None if row in lost else value for row, value in enumerate(values)]
            cells = [marker if row in lost else cell for row, cell in enumerate(cells)]
        table.columns[name] = (kind, values)
        written[name] = cells
    header = list(written)
    rows = [list(row) for row in zip(*written.values(), strict=True)]
    poison(rng, table, header, rows)
    if rng.random() < 0.35:  # what pandas leaves behind
        header.insert(0, rng.choice(["", "Unnamed: 0"]))
        start = rng.choice([0, 7])
        for row, cells in enumerate(rows):
            cells.insert(0, str(row + start))
    end = rng.choice(["\n", "\r\n"])
    cells = [[quoted(cell, delimiter, rng) for cell in row] for row in [header, *rows]]
    lines = [delimiter.join(row) for row in cells]
    if rng.random() < 0.15:  # a delimiter at the end of every line
        lines = [line + delimiter for line in lines]
    text = end.join(lines) + (end if rng.random() < 0.8 else "")
    if rng.random() < 0.15:
        text = f"# made by hand{end}{end}{text}"
    table.data = text.encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    return table


def poison(rng, table, header, rows):
    """Perhaps break the table in one place."""
    what = rng.choice(["nothing"] * 5 + ["duplicate header", "long row", "short row", "mixed type"])
    row = rng.randrange(len(rows))
    if what == "duplicate header":
        header.append(header[2])
        for cells in rows:
            cells.append("1")
        table.poison = what, header[2], None
    elif what == "long row":
        rows[row].append("too much")
        table.poison = what, None, row + 1
    elif what == "short row":
        rows[row].pop()
        table.poison = what, None, row + 1
    elif what == "mixed type":
        number = [name for name, (kind, _) in table.columns.items() if kind == "number"]
        if number:
            rows[row][header.index(number[0])] = rng.choice(["unknown", "12 apples", "?", "1.2.3"])
            table.poison = what, number[0], row + 1


def quoted(cell, delimiter, rng):
    """Write a cell, in quotes where that is needed and sometimes where not."""
    needs = any(mark in cell for mark in (delimiter, '"', "\n", "\r"))
    if needs or (cell not in MISSING and rng.random() < 0.1):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def numbers(rng, n, decimal, thousands):
    values = [round(rng.uniform(-2000, 90000), 2) for _ in range(n)]
    values[0] = 7.25  # a number that tells which sign is the decimal one
    cells = []
    for value in values:
        text = f"{value:,.2f}" if thousands else f"{value:.2f}"
        if decimal == ",":
            text = text.replace(",", " ").replace(".", ",").replace(" ", ".")
        cells.append(text)
    return "number", values, cells


def whole(rng, n):
    values = [rng.randint(-5, 900) for _ in range(n)]
    return "number", values, [str(value) for value in values]


def categories(rng, n):
    values = [rng.choice(COLOURS) for _ in range(n)]
    return "category", values, list(values)


def codes(rng, n):
    values = [f"0{rng.randint(1, 6)}" for _ in range(n)]  # 01 is a code, no number
    return "category", values, list(values)


def dates(rng, n):
    form = rng.choice(DATES)
    values = [date(2001, 1, 1) + timedelta(days=rng.randint(0, 9000)) for _ in range(n)]
    values[0] = values[1] = values[2] = values[3] = values[4] = date(2020, 5, 28)  # a day beyond 12
    return "date", values, [value.strftime(form) for value in values]


def booleans(rng, n):
    pair = rng.choice(PAIRS)
    values = [rng.random() < 0.5 for _ in range(n)]
    values[:10] = [True, False] * 5
    return "boolean", values, [pair[0] if value else pair[1] for value in values]


def texts(rng, n):
    values = [" ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 9))) for _ in range(n)]
    cells = [text.replace(" ", "\n", 1) if rng.random() < 0.5 else text for text in values]
    return "text", values, cells
