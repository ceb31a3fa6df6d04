"""Who is let in: only requests with the token, by the name of this machine, and from a page of this server."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HARMLESS = ("GET", "HEAD")
# Nothing is loaded from elsewhere and nothing inline is run; only the report is shown in a frame.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
# The report may run the scripts within it and save files, but belongs to no origin, so that it can reach nothing else.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Guard:
    """Refuses before anything else is done, and gives every answer its headers.

    The token is the first part of every path. It is no cookie, since browsers send those to all ports of a machine,
    whoever listens there.

    Parameters
    ----------
    inner : the application
    token : str
    port : int
        Where the server listens.
    """

    def __init__(self, inner: ASGIApp, token: str, port: int) -> None:
        self.inner, self.token = inner, token.encode()
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self.refusal(scope)
        inner = self.inner if refusal is None else PlainTextResponse(refusal, status_code=403)
        await inner(scope, receive, with_headers)

    def refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused; None where it is not."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self.hosts:  # a name of another site that was made to lead here
            return "This page is served under its own address only.\n"
        _, _, path = str(scope["path"]).encode().partition(b"/")  # of "*", which is a path too, nothing is left
        given = path.partition(b"/")[0]
        if not secrets.compare_digest(given, self.token):
            return "This address is not complete: open the one that `robscore app` printed.\n"
        origin = headers.get("origin")
        if scope["method"] not in _HARMLESS and origin is not None and origin not in self.origins:
            return "This comes from a page of another site.\n"
        return None
