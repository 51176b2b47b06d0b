"""A client of one server."""

from __future__ import annotations

from typing import cast
from urllib.parse import quote, urlencode
from uuid import uuid4

from .stream import Reconnect, Stream
from .transport import Answer, Transport
from .wire import (
    ApprovalAnswer,
    ApprovalRequestEventData,
    ApprovalResult,
    CancelResult,
    ChatRequest,
    Conversation,
    Conversations,
    Models,
    Snapshot,
)


class Client:
    """
    Every method raises `ApiError` if the server refuses, and `TransportError` if the client can't reach the server.
    Threads may share a client; a `Stream` belongs to one thread.
    """

    def __init__(self, base_url: str, token: str | None = None, *, reconnect: Reconnect | None = None) -> None:
        self._transport = Transport(base_url, token)
        self._reconnect = reconnect or Reconnect()

    def chat(self, request: str | ChatRequest, *, idempotency_key: str | None = None) -> Stream:
        """
        A stream that sends the message with its first read. The same key gives the same response, so a message whose
        answer was lost never runs twice. Without `conversationId` the server creates a conversation.
        """
        given: ChatRequest = {"message": request} if isinstance(request, str) else request
        body = {**given, "stream": True}
        headers = {"Accept": "text/event-stream", "Idempotency-Key": idempotency_key or str(uuid4())}

        def send(seconds: float | None) -> Answer:
            return self._transport.send("POST", "/v1/chat", body=body, headers=headers, seconds=seconds)

        return Stream(
            self._transport,
            self._reconnect,
            send=send,
            is_queued=given.get("whenBusy") in ("queue", "steer"),
            reasoning=given.get("accept", {}).get("reasoning", False),
        )

    def follow(
        self, response_id: str, *, after: int = 0, snapshot: bool = False, reasoning: bool = False
    ) -> Stream:
        """
        Reads a response that runs or has ended, after the event `after`. With `snapshot` the first event is the whole
        state.
        """
        return Stream(
            self._transport,
            self._reconnect,
            response_id=response_id,
            after=after,
            snapshot=snapshot,
            reasoning=reasoning,
        )

    def get_response(self, response_id: str) -> Snapshot:
        """The response, complete or not."""
        return cast(Snapshot, self._transport.send("GET", f"/v1/responses/{_quote(response_id)}").read_json())

    def cancel(self, response_id: str) -> CancelResult:
        """Ends a run; does nothing if it has ended."""
        answer = self._transport.send("POST", f"/v1/responses/{_quote(response_id)}/cancel", body={})
        return cast(CancelResult, answer.read_json())

    def approve(self, response_id: str, request: ApprovalRequestEventData, *, always: bool = False) -> ApprovalResult:
        """Lets the call run. `always` adds the rules of that option, so that the server asks no more."""
        option = _find_option(request, "allow_always" if always else "allow_once")
        return self.answer_approval(response_id, request["approvalId"], {"optionId": option})

    def reject(
        self, response_id: str, request: ApprovalRequestEventData, *, message: str | None = None
    ) -> ApprovalResult:
        """Refuses the call. The model reads the message."""
        answer: ApprovalAnswer = {"optionId": _find_option(request, "reject_once")}
        if message is not None:
            answer["message"] = message
        return self.answer_approval(response_id, request["approvalId"], answer)

    def answer_approval(self, response_id: str, approval_id: str, answer: ApprovalAnswer) -> ApprovalResult:
        """Answers with any of the options, perhaps with `editedArguments`."""
        path = f"/v1/responses/{_quote(response_id)}/approvals/{_quote(approval_id)}"
        return cast(ApprovalResult, self._transport.send("POST", path, body=answer).read_json())

    def list_conversations(
        self, *, limit: int | None = None, before: str | None = None, search: str | None = None
    ) -> Conversations:
        """The newest first. `before` is `next` of the previous page."""
        query = {"limit": limit, "before": before, "search": search}
        text = urlencode({name: value for name, value in query.items() if value is not None})
        return cast(Conversations, self._transport.send("GET", f"/v1/conversations?{text}").read_json())

    def get_conversation(self, conversation_id: str) -> Conversation:
        """Messages and responses, in order."""
        path = f"/v1/conversations/{_quote(conversation_id)}"
        return cast(Conversation, self._transport.send("GET", path).read_json())

    def delete_conversation(self, conversation_id: str) -> None:
        self._transport.send("DELETE", f"/v1/conversations/{_quote(conversation_id)}").close()

    def list_models(self) -> Models:
        return cast(Models, self._transport.send("GET", "/v1/models").read_json())


def _quote(text: str) -> str:
    return quote(text, safe="")


def _find_option(request: ApprovalRequestEventData, kind: str) -> str:
    for option in request["options"]:
        if option["kind"] == kind:
            return option["id"]
    offered = ", ".join(option["kind"] for option in request["options"])
    raise ValueError(f"This request has no option {kind}: answer it with answer_approval, and one of {offered}.")
