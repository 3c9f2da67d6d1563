"""The field's words in code, messages, documents and the page: no private term is left.

Every term of the vocabulary's left column is searched as a word in all texts of the repository. An
exception is a phrase or a file where the word means something else, and has a reason.
"""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "docs", "tests", "benchmarks", "examples", "scripts", "frontend/src", ".github")
SUFFIXES = {".py", ".md", ".ts", ".css", ".yml", ".svg"}
BUILT = {"_build", "api", "gallery", "assets", "results", "__pycache__", "node_modules"}
CONTEXT = 60  # characters on each side of a word in which a phrase may lie

FORMER = "names in files of earlier versions, which must still be read"
STORED = "a column of stored results"
DISTILLATION = "a teacher in the sense of Hinton et al. 2015"

# Files with local names or comments that are still to be renamed; no file may be added.
PENDING = (
    *("src/graphheat/heat/engines/cluster/cluster.py", "src/graphheat/linear/disk_spreading.py"),
    *("src/graphheat/linear/heat_rows.py", "src/graphheat/linear/labelling.py"),
    *("src/graphheat/linear/linear_fit.py", "src/graphheat/recipes/disk_fit.py"),
    "src/graphheat/training/sampled_network.py",
)


@dataclass(frozen=True)
class Term:
    """A private term, what to say instead, and where its word means something else.

    ``phrases`` (patterns that overlap with the word) and ``files`` (patterns of paths) have reasons
    as values; ``inside`` are the files that are searched.
    """

    word: str
    instead: str
    phrases: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    inside: str = "*"


TERMS = (
    # borrow a label, teachers, taught by unlabelled nodes
    Term(r"borrow(s|ed|ing)?", "pseudo-labels by heat label propagation"),
    Term(
        r"[Tt]each(es|ing)?|taught|teachers?",
        "pseudo-labels; consistency regularisation on unlabelled nodes; soft targets",
        {r"teacher's\s+soft\s+targets": DISTILLATION},
        {
            "src/graphheat/training/ensemble*.py": DISTILLATION,
            "src/graphheat/recipes/*.py": DISTILLATION,
            "tests/training/test_training_ensemble.py": DISTILLATION,
            "tests/recipes/*.py": DISTILLATION,
        },
    ),
    # words / tables of measurements ("words" alone is plain English)
    Term(r"measurements", "dense features, or continuous values"),
    Term(r"tables? of words", "bag-of-words features"),
    # scaling "lengths", "rows", "columns", "rarity" (all but the last are plain English)
    Term(
        r"rarity",
        "tfidf",
        files={
            "src/graphheat/features/scaling.py": FORMER,
            "tests/features/test_features_scaling.py": FORMER,
            "tests/runs/test_runs_former.py": FORMER,
            "tests/stored/*": FORMER,
            "CHANGELOG.md": "old names and new ones",
        },
    ),
    Term(
        r"scaling\W{1,6}(lengths|rows|columns)",
        "l2, l1, standard",
        {r"\.scaling\)\[columns": "an index"},
        {
            "src/graphheat/runs/former.py": FORMER,
            "tests/runs/test_runs_former.py": FORMER,
            "CHANGELOG.md": "old names and new ones",
        },
    ),
    # own share, identity, θ0 in messages
    Term(r"own shares?", "self weight (skip connection)"),
    Term(
        r"identity",
        "self weight (skip connection)",
        {
            r"(graph|run)'s identity|by identity|graph\.identity|identity\.py": "a fingerprint",
            r"[`*.\"]identity|\bidentity\b(\(| = |,| is not|:|\)|\[)": "a name in code",
            r"the identity\b|[-+] identity|identity [-+]": "the matrix I, or an equation",
        },
        {
            "src/graphheat/recipes/*.py": "what a checkpoint must agree in to be resumed",
            "tests/runs/test_runs_former.py": FORMER,
        },
    ),
    Term(
        r"θ[0₀]",
        "self weight (skip connection)",
        {r"θ[0₀]( I|·x)": "the paper's Eq. 13 and 14"},
        {"src/graphheat/paper/claims/*": "claims of the paper, in its letters"},
    ),
    # system, way, method (three meanings)
    Term(
        r"[Ss]ystems?",
        "baseline, recipe, engine",
        {
            r"(operating|file|normalised|linear)\s+systems?": "an operating, file or linear system",
            r"(os\.|-)system|system-ui": "names of Python and CSS",
            r"language: system": "pre-commit's word",
        },
        {
            "src/graphheat/baselines/*.py": "a linear system",
            "benchmarks/filters.py": "a linear system",
            "benchmarks/suite.py": STORED,
            "src/graphheat/runs/former.py": FORMER,
            "tests/runs/test_runs_former.py": FORMER,
            "tests/stored/*": FORMER,
            "CHANGELOG.md": "old names and new ones",
        },
    ),
    Term(
        r"(a|one|every|each|several|fast|slow|exact|dense) ways?( to (compute|label|fit))?",
        "engine, recipe, mode",
        {r"both ways|one[- ]way\b|the same way": "a direction, or an adverb"},
        {"benchmarks/*": "what is timed side by side, also by peers"},
    ),
    Term(r"Ways? to (compute|label|fit|make|train)", "implementation, engine, recipe"),
    Term(
        r"methods?",
        "engine, recipe",
        {
            r"`?method`?=": "an argument of SciPy, PyG or PyGSP",
            r"(earlier|published|own|mesh|Newton's) methods?": "a method of the literature",
            r"methods?\s+(from|of|that|is)\b": "a method of the literature, or of a class",
            r"a method\s+for": "a title",
        },
        {"CHANGELOG.md": "old names and new ones"},
        inside="*.md",
    ),
    # Labelling, SystemRun, Lesson, Learner, Problem, Preparation, Judges, Path, Form
    Term(
        r"class (Labelling|SystemRun|Lesson|Learner|Problem|Preparation|Judges|Path|Form)",
        "Run, BaselineRun, Targets, Objective, Prepared, GridSearch, Candidate",
        files={"frontend/src/labelling.ts": "the answers that a person gives in the page"},
    ),
    Term(
        r"SystemRun|Lesson|Learner|Preparation|Judges",
        "BaselineRun, Targets, Objective, Prepared, GridSearch",
        files={"CHANGELOG.md": "old names and new ones"},
    ),
    # who teaches, who stops, who is scored; roles
    Term(r"who (teaches|stops|is scored|may teach)", "train, validation, test; split"),
    Term(
        r"roles?",
        "train, validation, calibration, test; split",
        {
            r"role: |role=|\"role\"|\[role|setAttribute\(\"role|get_by_role": "ARIA's word",
            r"[\"'`]roles[\"'`]|\broles\b( =|, | is| ==|\.| float| beyond)": "in run files",
            r"\"part\", \"role\"": "a usual name of the column",
        },
        {
            "tests/browser/*": "ARIA's word",
            "tests/io/test_io_node_table.py": "a usual name of the column",
        },
    ),
    # "A linear model wants little heat"
    Term(r"wants? (little|much|more|less) heat", "validation selects s ≤ 1"),
    # doors, kin, told, said, the own class, on the average, "The label is another"
    Term(r"doors?", "readers"),
    Term(r"kin", "neighbours of the same class"),
    Term(
        r"told|TOLD",
        "reported, given, distinguished",
        files={"benchmarks/cluster.py": STORED, "docs/benchmarks.md": STORED},
    ),
    Term(
        r"said",
        "stated, reported, given",
        files={"benchmarks/limits.py": STORED, "docs/benchmarks.md": STORED},
    ),
    Term(r"the own", "its"),
    Term(r"on the average", "on average"),
    Term(r"The label is another", "Actual: …"),
    # test labels were opened three times
    Term(r"labels? (was|were|are) opened|opened the test", "the test set was evaluated"),
)


def texts():
    """Return every text that people wrote, by its path."""
    found = [*ROOT.glob("*.md")]
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and path.is_file():
                found.append(path)
    return {
        name: path.read_text(encoding="utf-8")
        for path in found
        if path != Path(__file__) and not BUILT & set(path.parts)
        for name in [path.relative_to(ROOT).as_posix()]
    }


TEXTS = texts()


def uses(term, name, text):
    """Yield the context of each use of a term that no exception covers."""
    left_out = (*PENDING, *term.files)
    if any(fnmatch(name, pattern) for pattern in left_out) or not fnmatch(name, term.inside):
        return
    for match in re.finditer(rf"(?<![\w-])({term.word})(?![\w-])", text):
        start = max(0, match.start() - CONTEXT)
        context = text[start : match.end() + CONTEXT]
        covered = (
            found.start() + start < match.end() and match.start() < found.end() + start
            for phrase in term.phrases
            for found in re.finditer(phrase, context)
        )
        if not any(covered):
            yield f"{name}: … {' '.join(context.split())} …"


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.word)
def test_no_private_term_is_left(term):
    found = [use for name, text in TEXTS.items() for use in uses(term, name, text)]
    assert not found, f"say {term.instead}"


def test_a_private_term_is_found():
    told = next(term for term in TERMS if term.word.startswith("told"))
    assert list(uses(told, "docs/page.md", "The page is told so."))
    roles = next(term for term in TERMS if term.word == "roles?")
    assert not list(uses(roles, "docs/page.md", '<svg role="img">'))
    assert list(uses(roles, "docs/page.md", "Nodes have roles"))
