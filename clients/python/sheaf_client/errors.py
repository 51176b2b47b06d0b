"""Errors of the client. Each is a `SheafError`."""

from __future__ import annotations


class SheafError(Exception):
    """Every error of this package."""


class ApiError(SheafError):
    """The server refused a request. `str(error)` is the server's message."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        source: str = "server",
        details: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """The HTTP status."""
        self.code = code
        """From Sheaf's list of codes; `HTTP_<status>` if the answer isn't from Sheaf."""
        self.source = source
        self.details = details
        self.retry_after = retry_after
        """Seconds to wait, if the server sent them."""


class TransportError(SheafError):
    """No answer, or an incomplete one: the network, a proxy, or a server that ended."""

    def __init__(self, message: str, *, is_wrong_address: bool = False) -> None:
        super().__init__(message)
        self.is_wrong_address = is_wrong_address
        """The host doesn't exist, so another try makes no sense."""


class StreamBrokenError(SheafError):
    """A stream broke before its end, and the client couldn't resume it: the answer is incomplete."""

    def __init__(self, message: str, *, response_id: str | None, last_event_id: int) -> None:
        super().__init__(message)
        self.response_id = response_id
        """None if the server never sent it."""
        self.last_event_id = last_event_id
        """The highest id received: `Client.follow` continues after it."""
