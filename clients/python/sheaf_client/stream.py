"""A response as it arrives: one series of events, over any number of connections."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, cast
from urllib.parse import quote, unquote

from .errors import ApiError, SheafError, StreamBrokenError, TransportError
from .transport import Answer, Transport
from .wire import Documents, Event

# Tries to reach a server that never answered: somebody is waiting for a first sign of life.
FIRST_TRIES = 3

# Bounds in seconds, so that a server can make its clients neither hang nor hammer it.
LEAST_DELAY = 0.1
HEARTBEATS = (0.1, 300.0)


@dataclass(frozen=True)
class Reconnect:
    """When a stream reconnects, and when it stops trying. Times are seconds."""

    max_tries: int = 10
    """Consecutive tries without anything new before the stream is broken; 0: never reconnect."""
    delay: float = 1.0
    """The wait before the first try, unless the server sends `retry:`."""
    max_delay: float = 30.0
    """The longest wait. A longer `Retry-After` ends the stream with the server's error."""


class EventDecoder:
    """Events from the lines of an event stream (HTML standard)."""

    def __init__(self) -> None:
        self.comments = 0
        self.retry: float | None = None
        """Seconds, once the server has sent `retry:`."""
        self._name = ""
        self._id = ""
        self._last_id = 0
        self._data: list[str] = []

    def push(self, raw: bytes) -> Event | None:
        """Takes a whole line. It gives an event at the blank line that ends one."""
        line = raw.decode(errors="replace").rstrip("\r\n").removeprefix("\ufeff")
        if line == "":
            return self._end_event()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "":
            self.comments += 1
        elif name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id":
            self._id = value
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self.retry = int(value) / 1000
        return None

    def _end_event(self) -> Event | None:
        text, name = "\n".join(self._data), self._name
        self._data, self._name = [], ""
        try:
            data = json.loads(text)
        except ValueError:
            return None
        if not isinstance(data, dict):
            return None
        # A base stream has no ids: its events have numbers from 1.
        self._last_id = int(self._id) if re.fullmatch(r"[0-9]{1,16}", self._id) else self._last_id + 1
        # An event that this version doesn't know stays as it is (X14).
        return cast(Event, {"id": self._last_id, "event": name or "message", "data": data})


class Stream:
    """
    Iterating sends the request, and works once. Each event has its id once, and ids increase. The iteration ends only
    when the response has ended, after `done` or a snapshot of a response that has ended; leaving it earlier ends
    reading, and the run continues.

    It raises `ApiError` if the server refuses the request, `TransportError` if the client can't reach the server at
    all, and `StreamBrokenError` if the stream broke and the client couldn't resume it.
    """

    def __init__(
        self,
        transport: Transport,
        reconnect: Reconnect,
        *,
        send: Callable[[float | None], Answer] | None = None,
        is_queued: bool = False,
        response_id: str | None = None,
        after: int = 0,
        snapshot: bool = False,
        reasoning: bool = False,
    ) -> None:
        self._response_id = response_id
        self._conversation_id: str | None = None
        self.last_event_id = after
        """The highest id received; 0 before the first."""
        self.status = "streaming"
        """`completed` or `error` once the response has ended."""
        self._transport = transport
        self._reconnect = reconnect
        self._send = send
        self._is_queued = is_queued
        self._snapshot = snapshot
        self._reasoning = reasoning
        self._heartbeat = 15.0
        self._retry: float | None = None
        self._has_progress = False
        self._is_opened = False
        self._is_taken = False

    @property
    def response_id(self) -> str:
        """Known since the first event."""
        return _check_known(self._response_id)

    @property
    def conversation_id(self) -> str:
        """Known since the first event."""
        return _check_known(self._conversation_id)

    def __iter__(self) -> Iterator[Event]:
        if self._is_taken:
            raise TypeError("This stream has been read already: use Client.follow to read the response again.")
        self._is_taken = True
        return self._read()

    def read_to_end(self) -> Documents:
        """Reads all events, and fetches the complete response, however it ended (see its `status`)."""
        for _ in () if self.status != "streaming" else self:
            pass
        return cast(Documents, self._fetch_response())

    def _read(self) -> Iterator[Event]:
        tries = 0
        while True:
            cause: SheafError | None = None
            self._has_progress = False
            try:
                yield from self._read_connection()
            except (ApiError, TransportError) as error:
                cause = error
            if self.status != "streaming":
                return
            tries = 1 if self._has_progress else tries + 1
            self._check_break(tries, cause)
            sleep(self._to_delay(tries, cause))

    def _read_connection(self) -> Iterator[Event]:
        answer = self._connect()
        if answer is None:
            yield self._replace(self._fetch_response())
            return
        opened_at, decoder = monotonic(), EventDecoder()
        try:
            self._check_answer(answer)
            while (line := answer.read_line(self._heartbeat * 3)).endswith(b"\n"):
                event = decoder.push(line)
                if event is None or event["id"] <= self.last_event_id:
                    continue
                self._take(event)
                yield event
                if self.status != "streaming":
                    return
        finally:
            answer.close()
            self._retry = self._retry if decoder.retry is None else decoder.retry
            # A run can continue in silence behind a proxy that cuts long connections.
            if decoder.comments > 0 and monotonic() - opened_at >= self._heartbeat:
                self._has_progress = True

    def _connect(self) -> Answer | None:
        """None if the server has no events of the response, only the response itself (N51)."""
        seconds = self._heartbeat * 3
        if self._response_id is None and self._send is not None:
            return self._send(None if self._is_queued else seconds)
        flags = ["snapshot=1"] if self._snapshot and self.last_event_id == 0 else []
        flags += ["reasoning=1"] if self._reasoning else []
        headers = {"Accept": "text/event-stream"}
        if self.last_event_id > 0:
            headers["Last-Event-ID"] = str(self.last_event_id)
        path = f"{self._path}/events" + ("?" + "&".join(flags) if flags else "")
        try:
            answer = self._transport.send("GET", path, headers=headers, seconds=seconds)
        except ApiError as error:
            if error.status in (404, 410):
                return None
            raise
        if answer.status != 204:
            return answer
        answer.close()
        return None

    @property
    def _path(self) -> str:
        return f"/v1/responses/{quote(self._response_id or '', safe='')}"

    def _fetch_response(self) -> dict[str, Any]:
        response = self._transport.send("GET", self._path).read_json()
        if not isinstance(response, dict) or "status" not in response:
            raise TransportError(f"{self._path} is not a response: another program answered.")
        return response

    def _check_answer(self, answer: Answer) -> None:
        self._response_id = self._response_id or _read_response_id(answer)
        self._conversation_id = self._conversation_id or answer.headers.get("X-Conversation-Id")
        kind = answer.headers.get("Content-Type", "no content type")
        if kind.partition(";")[0].strip().lower() != "text/event-stream":
            raise TransportError(f"The server answered with {kind}, not with text/event-stream.")
        self._is_opened = True

    def _replace(self, response: dict[str, Any]) -> Event:
        """Takes a whole response, as a snapshot event does."""
        last = response.get("metadata", {}).get("lastEventId", self.last_event_id)
        event = cast(Event, {"id": max(1, last), "event": "snapshot", "data": {"response": response}})
        self._take(event)
        return event

    def _take(self, event: Event) -> None:
        self._has_progress = True
        self.last_event_id = max(self.last_event_id, event["id"])
        if event["event"] == "response_start":
            data = event["data"]
            self._response_id = self._response_id or data.get("id")
            self._conversation_id = self._conversation_id or data.get("conversationId")
            least, most = HEARTBEATS
            self._heartbeat = min(max(data.get("heartbeat_ms", 15_000) / 1000, least), most)
        elif event["event"] == "snapshot":
            self._conversation_id = event["data"]["response"]["conversationId"]
            self.status = event["data"]["response"]["status"]
        elif event["event"] == "done":
            self.status = event["data"].get("status", "completed")

    def _check_break(self, tries: int, cause: SheafError | None) -> None:
        """Raises if another connection makes no sense."""
        if isinstance(cause, TransportError) and cause.is_wrong_address and not self._is_opened:
            raise cause
        if isinstance(cause, ApiError) and not self._is_passing(cause):
            raise cause
        can_join = self._response_id is not None or not self._is_opened
        is_known = self._is_opened or (self._is_queued and self._response_id is None)
        most = self._reconnect.max_tries if is_known else min(self._reconnect.max_tries, FIRST_TRIES)
        if can_join and tries <= most:
            return
        if isinstance(cause, ApiError) or (cause is not None and not self._is_opened):
            raise cause
        name = self._response_id or "The stream"
        reason = f"{tries - 1} more connections brought nothing" if can_join else "it has no id to join it again"
        message = f"{name} is not complete: it broke after event {self.last_event_id}, and {reason}."
        raise StreamBrokenError(message, response_id=self._response_id, last_event_id=self.last_event_id) from cause

    def _is_passing(self, error: ApiError) -> bool:
        """The same request may have another outcome later. A full queue has room only once a response ends."""
        is_full = error.status == 429 and self._is_queued and self._response_id is None
        can_pass = error.status in (408, 429) or error.status >= 500
        return can_pass and not is_full and (error.retry_after or 0) <= self._reconnect.max_delay

    def _to_delay(self, tries: int, cause: SheafError | None) -> float:
        """It doubles with each try. A jitter keeps the clients of a server that ended from returning all at once."""
        first = self._reconnect.delay if self._retry is None else self._retry
        step = max(first, LEAST_DELAY) * 2 ** min(tries - 1, 20) * random.uniform(0.5, 1.5)
        asked = cause.retry_after if isinstance(cause, ApiError) else None
        return max(min(self._reconnect.max_delay, step), asked or 0.0)


def _check_known(value: str | None) -> str:
    if value is None:
        raise AttributeError("The server has not answered yet: read the first event of the stream first.")
    return value


def _read_response_id(answer: Answer) -> str | None:
    """Takes only the id from an address: the token never goes to a place that an answer points to."""
    named = answer.headers.get("X-Response-Id")
    if named:
        return str(named)
    address = answer.headers.get("Content-Location") or answer.headers.get("Location") or ""
    found = re.search(r"/v1/responses/([^/?#]+)", address)
    return unquote(found.group(1)) if found else None
