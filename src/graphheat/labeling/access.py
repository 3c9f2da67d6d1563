"""Who may ask the server: one token, one host, one origin, requests of a known form and size."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 16_384  # bytes
MOST_QUERY = 200
# Path → methods, and names that its query may have.
PATHS: dict[str, tuple[str, frozenset[str]]] = {
    "/": ("GET", frozenset({"token"})),
    "/state": ("GET", frozenset()),
    "/predictions": ("GET", frozenset({"model"})),
    "/explain": ("GET", frozenset({"node"})),
    "/events": ("GET", frozenset()),
    "/label": ("POST", frozenset()),
    "/classes": ("POST", frozenset()),
    "/finish": ("POST", frozenset()),
}
HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
}


class RefusedError(Exception):
    """A request that is not answered: status, and the reason in a sentence."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Guard:
    """Lets through what comes from the page that this server gave out, and nothing else.

    Parameters
    ----------
    app
        What answers.
    token
        The secret of the address; the first visit changes it for a cookie.
    cookie
        The cookie's name; it has the port, as browsers keep one cookie for all ports of a host.
    hosts
        What the header Host may be: names with the port. A page of another site that has its name
        lead here (DNS rebinding) sends another one.

    Notes
    -----
    Order: host, path, method, query, token, origin, type, size. A request without the token learns
    no more than which paths there are.
    """

    def __init__(self, app: App, *, token: str, cookie: str, hosts: Iterable[str]) -> None:
        self.app, self.token, self.cookie = app, token, cookie
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        try:
            given = self._check(scope, headers)
        except RefusedError as refusal:
            await refuse(refusal, send)
            return
        if given is not None:
            await self._welcome(given, send)
            return
        await self.app(scope, _limited(receive), _sealed(send))

    def _check(self, scope: Scope, headers: dict[str, list[str]]) -> str | None:
        """Return the token of an address that has one, or raise."""
        host = _single(headers, "host")
        if host is None or host.lower() not in self.hosts:
            raise RefusedError(403, "This server is asked by another name than its own.")
        if scope["path"] not in PATHS:
            raise RefusedError(404, "There is no such page.")
        method, allowed = PATHS[scope["path"]]
        if scope["method"] != method:
            raise RefusedError(405, f"This is asked with {method}.")
        query = _query(scope, allowed)
        if "token" in query:
            if not self._is_token(query["token"]):
                raise RefusedError(401, "The address has not the token that the terminal shows.")
            return query["token"]
        if not self._is_token(_cookie(headers, self.cookie)):
            raise RefusedError(401, "Open the address that the terminal shows, with its token.")
        if headers.get("sec-fetch-site", ["same-origin"])[0] not in ("same-origin", "none"):
            raise RefusedError(403, "Another site asked for this.")
        origin = _single(headers, "origin")
        if (origin is None and method == "POST") or (
            origin is not None and origin.lower() != f"http://{host.lower()}"
        ):
            raise RefusedError(403, "Only the page itself may ask this.")
        if method == "POST":
            _check_body(headers)
        return None

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self.token.encode())

    async def _welcome(self, token: str, send: Send) -> None:
        cookie = f"{self.cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [*HEADERS.items(), (b"set-cookie", cookie.encode()), (b"location", b"/")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def refuse(refusal: RefusedError, send: Send) -> None:
    """Answer with the reason."""
    body = json.dumps({"error": refusal.reason}).encode()
    headers = [
        *HEADERS.items(),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # a body that was not read is not taken for a next request
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _single(headers: dict[str, list[str]], name: str) -> str | None:
    values = headers.get(name, [])
    if len(values) > 1:
        raise RefusedError(400, f"The header {name} is given twice.")
    return values[0] if values else None


def _query(scope: Scope, allowed: frozenset[str]) -> dict[str, str]:
    raw = scope["query_string"]
    if len(raw) > MOST_QUERY:
        raise RefusedError(414, f"The address has more than {MOST_QUERY} signs behind '?'.")
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, strict_parsing=bool(raw))
    except ValueError as error:
        raise RefusedError(400, "What stands behind '?' in the address cannot be read.") from error
    found = dict(pairs)
    if len(found) != len(pairs) or not found.keys() <= allowed:
        raise RefusedError(
            400, "There is something behind '?' in the address that is not asked for."
        )
    return found


def _cookie(headers: dict[str, list[str]], name: str) -> str | None:
    for line in headers.get("cookie", []):
        for part in line.split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                return value
    return None


def _check_body(headers: dict[str, list[str]]) -> None:
    kind = (_single(headers, "content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "What is sent must be application/json.")
    if "content-encoding" in headers:
        raise RefusedError(415, "What is sent must not be compressed.")
    length = _single(headers, "content-length")
    if length is None or not length.isascii() or not length.isdigit():
        raise RefusedError(411, "What is sent must say how long it is.")
    if len(length) > 10 or int(length) > MOST_BODY:
        raise RefusedError(413, f"What is sent must have at most {MOST_BODY:,} bytes.")


def _limited(receive: Receive) -> Receive:
    """Stop reading a body that is longer than it declares."""
    read = 0

    async def limited() -> dict[str, Any]:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BODY:
            raise RefusedError(413, f"What is sent must have at most {MOST_BODY:,} bytes.")
        return message

    return limited


def _sealed(send: Send) -> Send:
    """Add the headers that every answer has, where it has none of its own."""

    async def sealed(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [(name, value) for name, value in HEADERS.items() if name not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sealed
