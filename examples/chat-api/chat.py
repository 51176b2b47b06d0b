"""Asks a question and prints the documents: chat.py ADDRESS TOKEN MESSAGE. Needs nothing but Python."""

import json
import sys
import urllib.request

address, token, message = sys.argv[1:]
request = urllib.request.Request(
    f"{address}/v1/chat",
    data=json.dumps({"message": message, "stream": True}).encode(),
    headers={
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
    },
)


def read_events(lines):
    """Each event as its name and its payload, by the event stream format of HTML."""
    name, data = "message", []
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if data:
                yield name, json.loads("\n".join(data))
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


documents = {}
ended = False
with urllib.request.urlopen(request) as answer:
    for name, payload in read_events(answer):
        if name == "document_start":
            documents[payload["id"]] = {"type": payload["type"], "content": ""}
        elif name == "content_delta":
            documents[payload["documentId"]]["content"] += payload["delta"]
        elif name == "document_end" and payload.get("finalContent") is not None:
            documents[payload["documentId"]]["content"] = payload["finalContent"]
        elif name == "done":
            ended = True
if not ended:
    sys.exit("the stream broke off: attach again at the address of the Location header")
for document in documents.values():
    print(json.dumps(document, ensure_ascii=False))
