#!/bin/sh
# Asks a question and prints the events as they come: chat.sh ADDRESS TOKEN MESSAGE
set -eu
# The message as a JSON string: a quotation mark, a backslash, a tab and a line end are escaped.
message=$(printf '%s' "$3" | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' | awk '{ printf "%s%s", end, $0; end = "\\n" }')
curl --silent --show-error --no-buffer --fail-with-body \
  --header "Authorization: Bearer $2" \
  --header "Content-Type: application/json" \
  --header "Accept: text/event-stream" \
  --data "{\"message\": \"$message\", \"stream\": true}" \
  "$1/v1/chat"
