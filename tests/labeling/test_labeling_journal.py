import sqlite3
import threading

import pytest

from graphheat.errors import FileFormatError, OutputError, WriteError
from graphheat.labeling.journal import ConflictError, Entry, Journal


def _open(path, **how):
    return Journal(path, "print", 10, "people", **how)


def test_entries_stay(tmp_path):
    path = tmp_path / "labels.sqlite"
    with _open(path) as journal:
        assert journal.add(Entry("a", "label", node=1, code=0), who="ann") == 1
        assert journal.add(Entry("b", "class", text="=tea"), who="bob") == 2
        journal.note(2, 1, 0.5, 0.2, 0.8)
    with _open(path, resume=True) as journal:
        first, second = journal.entries()
        assert (first.kind, first.node, first.code, first.who) == ("label", 1, 0, "ann")
        assert (second.text, second.revision) == ("=tea", 2)
        assert first.at.endswith("+00:00")
        assert journal.estimates() == [(1, 0.5, 0.2, 0.8)]


def test_the_same_id_is_one_entry(tmp_path):
    with _open(tmp_path / "j") as journal:
        for _ in range(3):
            assert journal.add(Entry("a", "skip", node=1), who="ann") == 1
        with pytest.raises(ConflictError, match="stands for another entry"):
            journal.add(Entry("a", "skip", node=2), who="ann")
        assert len(journal.entries()) == 1


def test_many_threads(tmp_path):
    with _open(tmp_path / "j") as journal:

        def work(name):
            for k in range(50):
                journal.add(Entry(f"{name}{k}", "label", node=k % 10, code=0), who=name)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        entries = journal.entries()
        assert len({entry.id for entry in entries}) == 200
        assert [entry.revision for entry in entries] == list(range(1, 201))


def test_a_journal_is_not_begun_over_another(tmp_path):
    _open(tmp_path / "j").close()
    with pytest.raises(OutputError, match="--resume"):
        _open(tmp_path / "j")


def test_a_journal_of_another_graph(tmp_path):
    _open(tmp_path / "j").close()
    with pytest.raises(FileFormatError, match="another graph"):
        Journal(tmp_path / "j", "other", 10, "people", resume=True)


@pytest.mark.parametrize("content", [b"no database at all, but words " * 40, None])
def test_files_that_are_no_journals(tmp_path, content):
    path = tmp_path / "j"
    if content is None:
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE entries (x)")
        other.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(FileFormatError):
        _open(path, resume=True)
    assert path.read_bytes() == before


def test_a_full_disk_is_told_and_nothing_is_half_written(tmp_path):
    with _open(tmp_path / "j") as journal:
        journal.add(Entry("a", "label", node=1, code=0), who="ann")
        pages = journal._file.execute("PRAGMA page_count").fetchone()[0]
        journal._file.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(WriteError, match="not saved"):
            for k in range(1000):
                journal.add(Entry(f"b{k}", "class", text="x" * 150), who="ann")
        journal._file.execute(f"PRAGMA max_page_count = {pages + 100}")
        kept = len(journal.entries())
        assert journal.add(Entry(f"b{k}", "class", text="x" * 150), who="ann") == kept + 1
