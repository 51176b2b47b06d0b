"""HTTP requests to one server."""

from __future__ import annotations

import json
import socket
import ssl
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from time import time
from typing import Any
from urllib.parse import urlsplit

from .errors import ApiError, TransportError

PROTOCOL_VERSION = "1.0"
CONNECT_SECONDS = 30.0


class Answer:
    """An answer with a status below 300; it holds its connection until `close`."""

    def __init__(self, connection: HTTPConnection, sock: socket.socket, response: HTTPResponse) -> None:
        self._connection = connection
        self._sock = sock
        self._response = response
        self.status = response.status
        self.headers = response.headers

    def read_json(self) -> Any:
        """Reads the whole body, and closes the connection; None if there is no body."""
        try:
            body = self._response.read()
            return json.loads(body) if body else None
        except (OSError, HTTPException, ValueError) as error:
            raise TransportError(f"The answer is incomplete: {error!r}.") from error
        finally:
            self.close()

    def read_line(self, seconds: float) -> bytes:
        """The next line of the body; empty at its end. It waits for `seconds` at most."""
        try:
            self._sock.settimeout(seconds)
            return self._response.readline()
        except TimeoutError as error:
            raise TransportError(f"The server sent no data for {seconds:g} s.") from error
        except (OSError, HTTPException, ValueError) as error:
            raise TransportError("The connection broke.") from error

    def close(self) -> None:
        self._response.close()
        self._connection.close()


class Transport:
    """Sends requests. It follows no redirect: the token only goes to this server."""

    def __init__(self, base_url: str, token: str | None) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f'"{base_url}" is not the address of a server: write one such as http://127.0.0.1:7433')
        self._is_secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._root = parts.path.rstrip("/")
        self._token = token

    def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        headers: dict[str, str] | None = None,
        seconds: float | None = 60.0,
    ) -> Answer:
        """Waits for `seconds` at most for each part of the answer; None: however long it takes."""
        sent = {"Accept": "application/json", "Sheaf-Protocol": PROTOCOL_VERSION, **(headers or {})}
        if self._token is not None:
            sent["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection = self._open()
        try:
            connection.connect()
            sock = connection.sock
            sock.settimeout(seconds)
            connection.request(method, self._root + path, None if body is None else json.dumps(body).encode(), sent)
            response = connection.getresponse()
            if response.status < 300:
                return Answer(connection, sock, response)
            raise _to_api_error(response)
        except (OSError, HTTPException) as error:
            connection.close()
            is_wrong = isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
            message = f"{method} {path} got no answer from {self._host}: {error!r}."
            raise TransportError(message, is_wrong_address=is_wrong) from error
        except ApiError:
            connection.close()
            raise

    def _open(self) -> HTTPConnection:
        if self._is_secure:
            context = ssl.create_default_context()
            return HTTPSConnection(self._host, self._port, timeout=CONNECT_SECONDS, context=context)
        return HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)


def _to_api_error(response: HTTPResponse) -> ApiError:
    try:
        text = response.read(100_000).decode(errors="replace")
    except (OSError, HTTPException):
        text = ""
    seconds = _read_retry_after(response.headers.get("Retry-After"))
    try:
        error = json.loads(text)["error"]
        return ApiError(
            error["message"],
            status=response.status,
            code=error["errorCode"],
            source=error["source"],
            details=error["details"],
            retry_after=seconds,
        )
    except (ValueError, KeyError, TypeError):
        message = f"The server answered {response.status} {response.reason}".rstrip() + "."
        code = f"HTTP_{response.status}"
        return ApiError(message, status=response.status, code=code, details=text[:1000], retry_after=seconds)


def _read_retry_after(value: str | None) -> float | None:
    """Seconds from a number or a date (RFC 9110)."""
    if not value:
        return None
    try:
        return max(0.0, float(value) if value.strip().isdigit() else parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError):
        return None
