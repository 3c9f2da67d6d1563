import json

import pytest
from helpers.command import call


def test_suggestions_of_an_unlabelled_edge_list(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n" + "".join(f"a,b{k}\n=c,d{k}\n" for k in range(6)))
    out = tmp_path / "next.csv"
    done = call("suggest", edges, "--count", 2, "--out", out, "--safe-csv", "--json")
    found = json.loads(done.stdout)["suggestions"]
    assert {each["node"] for each in found} == {"a", "=c"}
    assert "'=c" in out.read_text()


@pytest.mark.parametrize("wrong", [["--count", "0"], ["--exclude", "nobody"]])
def test_mistakes(wrong):
    call("suggest", "karate", *wrong, code=2)
