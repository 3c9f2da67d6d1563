"""A label server on a port of its own, and requests to it."""

from __future__ import annotations

import http.client
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphheat import Graph
from graphheat.labeling.journal import Journal
from graphheat.labeling.label_server import LabelServer, Write
from graphheat.labeling.session import Session


class Client:
    """Asks a server as its page does."""

    def __init__(self, address: str) -> None:
        self.host, self.token = address.split("/")[2], address.rpartition("=")[2]
        self.port = int(self.host.rpartition(":")[2])

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{self.host}/?token={self.token}"

    @property
    def headers(self) -> dict[str, str]:
        """What the page's requests have."""
        return {
            "Cookie": f"graphheat-{self.port}={self.token}",
            "Origin": f"http://{self.host}",
            "Content-Type": "application/json",
        }

    def raw(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Return status, body and headers; a header that is None is left out."""
        given = {**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Host": self.host, **given}.items():
                if value is not None:
                    connection.putheader(name, value)
            if (
                body is not None
                and "Content-Length" not in given
                and ("Transfer-Encoding" not in given)
            ):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            named = {k.lower(): v for k, v in answer.getheaders()}
            try:
                text = answer.read()
            except ConnectionResetError:  # refused while the body was still on its way
                text = b""
            return answer.status, text, named
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        """Return what a path says, which must be JSON."""
        status, body, _ = self.raw("GET", path)
        assert status == 200, (status, body)
        return json.loads(body)

    def post(self, path: str, **text: Any) -> Any:
        """Return the answer to what is sent; an id is made up unless there is one."""
        text.setdefault("id", str(uuid.uuid4()))
        status, body, _ = self.raw("POST", path, json.dumps(text).encode())
        assert status == 200, (status, body)
        return json.loads(body)

    def label(self, node: int, code: int, **more: Any) -> int:
        """Label a node; return the revision."""
        answer: dict[str, int] = self.post(
            "/label", node=node, answer="label", **{"class": code}, **more
        )
        return answer["revision"]


@contextmanager
def serving(
    graph: Graph,
    path: Any,
    *,
    write: Write | None = None,
    page: str = "<title>page</title>",
    resume: bool = False,
    networks: bool = False,
    **options: Any,
) -> Iterator[tuple[Client, Session]]:
    """Serve a graph while the block runs."""
    with Journal(path, graph.fingerprint, graph.n, graph.name, resume=resume) as journal:
        session = Session(graph, journal, who="tests", networks=networks, **options)
        server = LabelServer(session, page, write or (lambda graph: {}))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            yield Client(server.address), session
        finally:
            server.stop()
            thread.join(10)
            session.close()
