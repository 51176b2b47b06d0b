#!/bin/sh
# Asks a question and prints the events as they come: chat.sh ADDRESS TOKEN MESSAGE
set -eu
curl --silent --show-error --no-buffer --fail-with-body \
  --header "Authorization: Bearer $2" \
  --header "Content-Type: application/json" \
  --header "Accept: text/event-stream" \
  --data "{\"message\": \"$3\", \"stream\": true}" \
  "$1/v1/chat"
