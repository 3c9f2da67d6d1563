"""The label server: its protocol, and what it refuses."""

import json
import socket
import struct
import threading
import uuid

import numpy as np
import pytest
from helpers.label_client import Client, serving
from helpers.polling import wait_until

import graphheat
from graphheat.errors import WriteError

KNOWN = graphheat.datasets.block_model(60, 3, homophily=0.9, seed=0)
BLANK = graphheat.Graph.from_scipy(KNOWN.adjacency, KNOWN.features)
CLASSES = ("a", "b", "c")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "labels.sqlite"
    with serving(BLANK, path, classes=CLASSES) as (client, session):
        yield client, session


@pytest.fixture(scope="module")
def client(served):
    return served[0]


def test_the_first_visit_changes_the_token_for_a_cookie(client):
    status, _, headers = client.raw("GET", f"/?token={client.token}", Cookie=None, Origin=None)
    assert status == 303
    assert headers["location"] == "/"
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    status, body, headers = client.raw("GET", "/", Origin=None)
    assert (status, body) == (200, b"<title>page</title>")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    for name in ("x-content-type-options", "referrer-policy", "cache-control"):
        assert name in headers
    assert "server" not in headers


def test_labels_arrive_and_are_followed(client, served):
    session = served[1]
    for index in (0, 1, 2, 3, 4, 5, 6, 7):
        revision = client.label(index, int(KNOWN.labels[index]))
    wait_until(lambda: session.shown is not None and session.shown.revision >= revision)
    state = client.get("/state")
    assert state["revision"] == revision
    assert state["classes"] == list(CLASSES)
    assert [row[0] for row in state["labels"]] == list(range(8))
    assert state["model"]["name"] == "linear"
    status, body, _ = client.raw("GET", "/predictions?model=linear")
    report, n, c = struct.unpack("<III", body[:12])
    assert (status, report, n, c) == (200, revision, 60, 3)
    p = np.frombuffer(body[12:], "<f4").reshape(n, c)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-5)
    wait_until(lambda: client.get("/state")["suggestions"])
    assert not {each["node"] for each in client.get("/state")["suggestions"]} & set(range(8))
    why = client.get("/explain?node=20")
    assert why["sentences"] and why["sources"]


def test_an_answer_that_is_sent_again_is_one(client, served):
    session = served[1]
    id = str(uuid.uuid4())
    before = len(session.journal.entries())
    assert client.label(9, 1, id=id) == client.label(9, 1, id=id)
    assert len(session.journal.entries()) == before + 1
    body = json.dumps({"id": id, "node": 9, "answer": "label", "class": 2}).encode()
    assert client.raw("POST", "/label", body)[0] == 409


def test_unsure_skip_and_remove(client):
    client.post("/label", node=10, answer="unsure")
    client.post("/label", node=11, answer="skip", **{"class": None})
    client.label(12, 0)
    client.post("/label", node=12, answer="remove")
    rows = {row[0]: row for row in client.get("/state")["labels"]}
    assert rows[10] == [10, None, "unsure"]
    assert rows[11] == [11, None, "skip"]
    assert 12 not in rows


def test_classes_are_added_and_renamed_once(client):
    id, hostile = str(uuid.uuid4()), "<img src=x onerror=alert(1)>"
    first = client.post("/classes", add=f" {hostile} ", id=id)
    assert client.post("/classes", add=f" {hostile} ", id=id)["classes"] == first["classes"]
    assert first["classes"][3] == hostile  # text, as it is
    again = client.post("/classes", rename=3, to="=d")
    assert again["classes"] == ["a", "b", "c", "=d"]
    body = client.raw("GET", "/predictions")[1]
    assert struct.unpack("<III", body[:12])[2] == 4


def test_events_tell_of_changes(client):
    with socket.create_connection(("127.0.0.1", client.port), timeout=30) as line:
        cookie = client.headers["Cookie"]
        line.sendall(
            f"GET /events HTTP/1.1\r\nHost: {client.host}\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        heard = b""
        while heard.count(b"data:") < 1:
            heard += line.recv(4096)
        revision = client.label(13, 0)
        while f'"revision": {revision}'.encode() not in heard:
            heard += line.recv(4096)
    assert b"text/event-stream" in heard


LABEL = {"id": str(uuid.uuid4()), "node": 1, "answer": "label", "class": 0}


def _post(path="/label", body=None, **headers):
    return ("POST", path, json.dumps(LABEL).encode() if body is None else body, headers)


def _said(**changes):
    return _post(body=json.dumps({**LABEL, **changes}).encode())


def _classes(**message):
    return _post("/classes", json.dumps({"id": LABEL["id"], **message}).encode())


NOBODY = {"Cookie": None}
REFUSED = {
    # ------------------------------------------------------------- without the token
    "no cookie, page": (401, ("GET", "/", None, NOBODY)),
    "no cookie, state": (401, ("GET", "/state", None, NOBODY)),
    "no cookie, predictions": (401, ("GET", "/predictions", None, NOBODY)),
    "no cookie, explain": (401, ("GET", "/explain?node=1", None, NOBODY)),
    "no cookie, events": (401, ("GET", "/events", None, NOBODY)),
    "no cookie, label": (401, _post(Cookie=None)),
    "no cookie, classes": (401, _post("/classes", Cookie=None)),
    "no cookie, finish": (401, _post("/finish", b"{}", Cookie=None)),
    "wrong cookie": (401, ("GET", "/state", None, {"Cookie": "graphheat-1=x"})),
    "empty cookie": (401, ("GET", "/state", None, {"Cookie": "graphheat-{port}="})),
    "half a token": (401, ("GET", "/state", None, {"Cookie": "graphheat-{port}={half}"})),
    "token in a header": (401, ("GET", "/state", None, {**NOBODY, "Authorization": "{token}"})),
    "wrong token": (401, ("GET", "/?token=guess", None, NOBODY)),
    "empty token": (401, ("GET", "/?token=", None, NOBODY)),
    "token beside another path": (400, ("GET", "/state?token={token}", None, NOBODY)),
    "token twice": (400, ("GET", "/?token={token}&token={token}", None, NOBODY)),
    # ------------------------------------------------------------- another host or origin
    "no host": (400, ("GET", "/state", None, {"Host": None})),
    "another host": (403, ("GET", "/state", None, {"Host": "evil.example"})),
    "another host, own port": (403, ("GET", "/state", None, {"Host": "evil.example:{port}"})),
    "host without port": (403, ("GET", "/state", None, {"Host": "127.0.0.1"})),
    "host of another port": (403, ("GET", "/state", None, {"Host": "127.0.0.1:1"})),
    "host that begins alike": (403, ("GET", "/", None, {"Host": "127.0.0.1:{port}.evil.example"})),
    "no origin": (403, _post(Origin=None)),
    "another origin": (403, _post(Origin="http://evil.example")),
    "origin null": (403, _post(Origin="null")),
    "origin of another port": (403, _post(Origin="http://127.0.0.1:1")),
    "origin with TLS": (403, _post(Origin="https://{host}")),
    "origin that begins alike": (403, _post(Origin="http://{host}.evil.example")),
    "another origin reads": (403, ("GET", "/state", None, {"Origin": "http://evil.example"})),
    "cross-site fetch": (403, ("GET", "/state", None, {"Sec_Fetch_Site": "cross-site"})),
    "same-site fetch": (403, _post(Sec_Fetch_Site="same-site")),
    # ------------------------------------------------------------- paths and methods
    "unknown path": (404, ("GET", "/journal", None, {})),
    "path upwards": (404, ("GET", "/../labels.sqlite", None, {})),
    "encoded path upwards": (404, ("GET", "/%2e%2e/labels.sqlite", None, {})),
    "label by GET": (405, ("GET", "/label", None, {})),
    "state by POST": (405, _post("/state")),
    "PUT": (405, ("PUT", "/label", b"{}", {})),
    "DELETE": (405, ("DELETE", "/label", None, {})),
    "OPTIONS": (405, ("OPTIONS", "/label", None, {})),
    "TRACE": (405, ("TRACE", "/", None, {})),
    "long query": (414, ("GET", "/explain?node=" + "1" * 500, None, {})),
    "unknown query": (400, ("GET", "/state?callback=x", None, {})),
    "query without a name": (400, ("GET", "/explain?7", None, {})),
    "unknown model": (400, ("GET", "/predictions?model=gcn", None, {})),
    "explain nothing": (400, ("GET", "/explain", None, {})),
    "explain a word": (400, ("GET", "/explain?node=x", None, {})),
    "explain −1": (400, ("GET", "/explain?node=-1", None, {})),
    "explain beyond the last": (400, ("GET", "/explain?node=60", None, {})),
    # ------------------------------------------------------------- bodies
    "form": (415, _post(Content_Type="application/x-www-form-urlencoded")),
    "plain text": (415, _post(Content_Type="text/plain")),
    "no type": (415, _post(Content_Type=None)),
    "compressed": (415, _post(Content_Encoding="gzip")),
    "no length": (411, ("POST", "/label", b"0\r\n\r\n", {"Transfer_Encoding": "chunked"})),
    "length of a word": (400, _post(Content_Length="many")),
    "negative length": (400, _post(Content_Length="-5")),
    "oversized": (413, _post(body=b" " * 20_000)),
    "oversized by its word": (413, _post(Content_Length="99999999")),
    "empty": (400, _post(body=b"")),
    "no JSON": (400, _post(body=b"node=1")),
    "no UTF-8": (400, _post(body=b'{"id": "\xff"}')),
    "NaN": (400, _post(body=b'{"id": "x", "node": NaN, "answer": "label", "class": 0}')),
    "list": (400, _post(body=b"[1, 2]")),
    "number": (400, _post(body=b"7")),
    "deep": (400, _post(body=b"[" * 5000)),
    "a name twice": (400, _post(body=json.dumps(LABEL)[:-1].encode() + b', "node": 2}')),
    "more names": (400, _said(who="eve")),
    "no id": (400, _post(body=b'{"node": 1, "answer": "label", "class": 0}')),
    "id that is none": (400, _said(id="1; DROP TABLE entries")),
    "id of a number": (400, _said(id=7)),
    "node of text": (400, _said(node="1")),
    "node of a fraction": (400, _said(node=1.5)),
    "node true": (400, _said(node=True)),
    "node null": (400, _said(node=None)),
    "node −1": (400, _said(node=-1)),
    "node beyond the last": (400, _said(node=60)),
    "node beyond all numbers": (400, _said(node=10**30)),
    "unknown answer": (400, _said(answer="delete")),
    "answer of a list": (400, _said(answer=["label"])),
    "no class": (400, _said(**{"class": None})),
    "class −1": (400, _said(**{"class": -1})),
    "class beyond the last": (400, _said(**{"class": 99})),
    "class by name": (400, _said(**{"class": "a"})),
    "class of a skip": (400, _said(answer="skip")),
    "class name of 10,000 characters": (400, _classes(add="x" * 10_000)),
    "class name empty": (400, _classes(add="  ")),
    "class name of control characters": (400, _classes(add="a\x00b")),
    "class name of a line end": (400, _classes(add="a\nb")),
    "class name of half a character": (400, _classes(add="\ud800")),
    "class name of a number": (400, _classes(add=3)),
    "class name that is there": (400, _classes(add="a")),
    "add and rename": (400, _classes(add="x", rename=0, to="y")),
    "rename without a name": (400, _classes(rename=0)),
    "rename what is not there": (400, _classes(rename=99, to="y")),
    "rename to another's name": (400, _classes(rename=0, to="b")),
    "finish with words": (400, _post("/finish", b'{"path": "/etc"}')),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(served, kind):
    client, session = served
    expected, (method, path, body, headers) = REFUSED[kind]
    words = {
        "host": client.host, "port": client.port, "token": client.token,
        "half": client.token[: len(client.token) // 2],
    }  # fmt: skip
    filled = {k: v if v is None else v.format(**words) for k, v in headers.items()}
    before = (len(session.journal.entries()), list(session.answers.names))
    status, answer, named = client.raw(method, path.format(**words), body, **filled)
    assert status == expected, answer
    assert (len(session.journal.entries()), list(session.answers.names)) == before
    assert b"Traceback" not in answer
    if named.get("content-type") == "application/json":
        assert len(json.loads(answer)["error"]) < 300
        assert client.token.encode() not in answer


def test_kinds_of_refused_requests_are_many():
    assert len(REFUSED) >= 40


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 70_000,
        b"POST /label HTTP/1.1\r\nHost: {host}\r\n"
        b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"GET /state HTTP/1.1\r\nHost: {host}\r\nHost: evil\r\n\r\n",
        b"GET /state HTTP/1.1\r\nHost : {host}\r\n\r\n",
    ],
    ids=["TLS", "version", "endless line", "two lengths", "two hosts", "space before a colon"],
)
def test_what_is_no_request(client, raw):
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as line:
        line.sendall(raw.replace(b"{host}", client.host.encode()))
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(4096), b""))
    assert b"200 OK" not in answer
    assert client.get("/state")["revision"] >= 0


def test_two_tabs_lose_nothing(tmp_path):
    graph = graphheat.datasets.block_model(120, 2, seed=0)
    blank = graphheat.Graph.from_scipy(graph.adjacency)
    acknowledged = {}
    with serving(blank, tmp_path / "j", classes=("a", "b")) as (client, session):

        def tab(name):
            own = Client(f"http://{client.host}/?token={client.token}")
            random = np.random.default_rng(name)
            for _ in range(30):
                id = str(uuid.uuid4())
                own.label(int(random.integers(120)), int(random.integers(2)), id=id)
                acknowledged[id] = name

        tabs = [threading.Thread(target=tab, args=(name,)) for name in range(2)]
        for each in tabs:
            each.start()
        for each in tabs:
            each.join()
        entries = session.journal.entries()
        assert [entry.id for entry in entries].count(entries[0].id) == 1
        assert {entry.id for entry in entries} == set(acknowledged)
        assert len(entries) == 60
        last = {entry.node: entry.code for entry in entries}
        rows = {row[0]: row[1] for row in client.get("/state")["labels"]}
        assert rows == last
    with serving(blank, tmp_path / "j", classes=("a", "b"), resume=True) as (client, _):
        assert {row[0]: row[1] for row in client.get("/state")["labels"]} == last


def test_a_full_disk_is_no_answer(served, monkeypatch):
    client, session = served

    def full(entry, who):
        raise WriteError("labels.sqlite cannot be written: disk is full. The label was not saved.")

    monkeypatch.setattr(session.journal, "add", full)
    before = client.get("/state")["labels"]
    body = json.dumps({**LABEL, "node": 33, "id": str(uuid.uuid4())}).encode()
    status, answer, _ = client.raw("POST", "/label", body)
    assert status == 507
    assert b"not saved" in answer
    assert client.get("/state")["labels"] == before


def test_finish_says_where(tmp_path):
    written = []

    def write(graph):
        written.append(graph)
        return {"run": "folder", "table": "labels.csv"}

    with serving(BLANK, tmp_path / "j", classes=CLASSES, write=write) as (client, _):
        assert client.raw("POST", "/finish", b"{}")[0] == 400
        client.label(0, 0)
        client.label(1, 1)
        status, answer, _ = client.raw("POST", "/finish", b"{}")
        assert (status, json.loads(answer)) == (200, {"run": "folder", "table": "labels.csv"})
    assert written[0].training_nodes.tolist() == [0, 1]
