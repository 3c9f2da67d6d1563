"""The server behind the page: requests in, the session's answers out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import struct
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

from graphheat.errors import GraphHeatError, MissingDependencyError, OutputError, WriteError
from graphheat.graph import Graph
from graphheat.labeling.access import MOST_BODY, Guard, RefusedError
from graphheat.labeling.journal import ConflictError, Entry
from graphheat.labeling.session import Session

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
    from starlette.routing import Route
except ModuleNotFoundError as error:
    raise MissingDependencyError(
        "graphheat label needs starlette and uvicorn: pip install 'graphheat[label]'."
    ) from error

Write = Callable[[Graph], dict[str, str]]

ANSWERS = ("label", "unsure", "skip", "remove")
MODELS = ("spreading", "linear", "auto")
MOST_LISTENERS = 16  # tabs that hear of changes at once
BEAT = 15.0  # seconds after which a silent stream says that it is there
DEEPEST = 4  # brackets within brackets that a request may have


class LabelServer:
    """A session on a port.

    Parameters
    ----------
    session
        What is labelled.
    page
        The HTML, served as it is.
    write
        Writes what was labelled when labelling ends, and says where.
    host, port
        Where to listen; port 0: any that is free.

    Attributes
    ----------
    address
        What to open in a browser, with the token.
    """

    def __init__(
        self,
        session: Session,
        page: str,
        write: Write,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
    ) -> None:
        self.session, self.page, self.write = session, page, write
        self.token = secrets.token_urlsafe(32) if token is None else token
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except (OSError, OverflowError, UnicodeError) as error:
            self._socket.close()
            raise OutputError(f"{host}:{port} cannot be listened on: {error}.") from error
        self.port = self._socket.getsockname()[1]
        name = f"[{host}]" if family == socket.AF_INET6 else host
        hosts = {f"{name}:{self.port}"}
        if host in ("127.0.0.1", "::1"):
            hosts.add(f"localhost:{self.port}")
        self.address = f"http://{name}:{self.port}/?token={self.token}"
        self._listening = 0
        self.app = Guard(
            self._starlette(), token=self.token, cookie=f"graphheat-{self.port}", hosts=hosts
        )
        self._server = uvicorn.Server(
            uvicorn.Config(
                self.app,
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=64,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=1,
                h11_max_incomplete_event_size=16_384,
            )
        )
        self._socket.listen(64)

    def run(self) -> None:
        """Serve until interrupted."""
        with contextlib.suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End :meth:`run`, from another thread."""
        self._server.should_exit = True

    def _starlette(self) -> Any:
        return Starlette(
            routes=[
                Route("/", self._page, methods=["GET"]),
                Route("/state", self._state, methods=["GET"]),
                Route("/predictions", self._predictions, methods=["GET"]),
                Route("/explain", self._explain, methods=["GET"]),
                Route("/events", self._events, methods=["GET"]),
                Route("/label", self._label, methods=["POST"]),
                Route("/classes", self._classes, methods=["POST"]),
                Route("/finish", self._finish, methods=["POST"]),
            ],
            exception_handlers={
                RefusedError: _refused,
                ConflictError: _said(409),
                WriteError: _said(507),
                GraphHeatError: _said(400),
            },
        )

    # ------------------------------------------------------------------ answers

    async def _page(self, request: Request) -> Response:
        # The page has a policy of its own, in which this one cannot stand.
        headers = {"content-security-policy": "frame-ancestors 'none'"}
        return HTMLResponse(self.page, headers=headers)

    async def _state(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.session.state))

    async def _predictions(self, request: Request) -> Response:
        name = request.query_params.get("model")
        if name is not None and name not in MODELS:
            raise RefusedError(400, f"model must be one of {', '.join(MODELS)}.")
        revision, p = await run_in_threadpool(self.session.predictions, name)
        head = struct.pack("<III", revision, *p.shape)
        body = head + p.astype("<f4", copy=False).tobytes()
        return Response(body, media_type="application/octet-stream")

    async def _explain(self, request: Request) -> Response:
        node = request.query_params.get("node", "")
        if not (node.isascii() and node.isdigit() and len(node) < 10):
            raise RefusedError(400, "node must be a row number.")
        return JSONResponse(await run_in_threadpool(self.session.explain, int(node)))

    async def _label(self, request: Request) -> Response:
        given = await _body(request, {"id", "node", "answer", "class"}, {"class"})
        if given["answer"] not in ANSWERS:
            raise RefusedError(400, f"answer must be one of {', '.join(ANSWERS)}.")
        node, code = _whole(given, "node"), given.get("class")
        if code is not None:
            code = _whole(given, "class")
        entry = Entry(_id(given), given["answer"], node=node, code=code)
        return JSONResponse({"revision": await run_in_threadpool(self.session.add, entry)})

    async def _classes(self, request: Request) -> Response:
        given = await _body(request, {"id", "add", "rename", "to"}, {"add", "rename", "to"})
        if given.keys() == {"id", "add"}:
            entry = Entry(_id(given), "class", text=_text(given, "add"))
        elif given.keys() == {"id", "rename", "to"}:
            code = _whole(given, "rename")
            entry = Entry(_id(given), "rename", code=code, text=_text(given, "to"))
        else:
            raise RefusedError(400, "Send id and add, or id, rename and to.")
        revision = await run_in_threadpool(self.session.add, entry)
        return JSONResponse({"revision": revision, "classes": self.session.answers.names})

    async def _finish(self, request: Request) -> Response:
        await _body(request, set(), set())
        return JSONResponse(await run_in_threadpool(self.session.finish, self.write))

    async def _events(self, request: Request) -> Response:
        if self._listening >= MOST_LISTENERS:
            raise RefusedError(503, f"{MOST_LISTENERS} pages listen already; close one.")
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        news: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        def tell(each: dict[str, Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(news.put_nowait, each)

        stop = self.session.listen(tell)
        self._listening += 1
        try:
            yield _event(self.session.news())
            while True:
                try:
                    latest = await asyncio.wait_for(news.get(), BEAT)
                    while not news.empty():  # a slow one gets the last state only
                        latest = news.get_nowait()
                    yield _event(latest)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listening -= 1
            stop()


def _event(news: dict[str, Any]) -> str:
    return f"data: {json.dumps(news)}\n\n"


async def _body(request: Request, allowed: set[str], optional: set[str]) -> dict[str, Any]:
    raw = await request.body()
    if len(raw) > MOST_BODY:
        raise RefusedError(413, f"What is sent must have at most {MOST_BODY:,} bytes.")
    try:
        text = raw.decode("utf-8")
        if max(text.count("["), text.count("{")) > DEEPEST:
            raise RefusedError(400, "What is sent must be one flat JSON object.")
        given = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_distinct)
    except RefusedError:
        raise
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "What is sent must be JSON.") from error
    if not isinstance(given, dict):
        raise RefusedError(400, "What is sent must be a JSON object.")
    unknown, missing = given.keys() - allowed, allowed - optional - given.keys()
    if unknown or missing:
        names = ", ".join(sorted(allowed)) or "nothing"
        raise RefusedError(400, f"What is sent must name {names}, and no more.")
    return given


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _id(given: dict[str, Any]) -> str:
    try:
        return str(uuid.UUID(_text(given, "id")))
    except ValueError as error:
        raise RefusedError(400, "id must be a UUID.") from error


def _whole(given: dict[str, Any], name: str) -> int:
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**31:
        raise RefusedError(400, f"{name} must be a whole number.")
    return value


def _text(given: dict[str, Any], name: str) -> str:
    value = given[name]
    if not isinstance(value, str):
        raise RefusedError(400, f"{name} must be text.")
    return value


def _said(status: int) -> Any:
    async def answered(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status)

    return answered


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return JSONResponse({"error": error.reason}, error.status)
