#!/usr/bin/env bash
# review.sh BASE [FILE]: reviews what HEAD changes since BASE, and writes the findings to FILE as JSON.
# It only reads and posts nothing. Exit code: 0 no finding of severity "high", 1 there is one, others as of sheaf.
set -euo pipefail
base=$1
file=${2:-review.json}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

git diff "$base...HEAD" >"$folder/change.diff"
if [ ! -s "$folder/change.diff" ]; then
  echo "nothing to review since $base"
  exit 0
fi

sheaf -p --mode ask --output-format json --output-schema "$here/review.schema.json" --max-turns 30 --timeout 900 \
  "Review this diff. Read the code around it. Report only problems that you can point at." \
  <"$folder/change.diff" >"$folder/answer.json" || exit

node -e '
  const { writeFileSync, readFileSync } = require("node:fs");
  const { structured_output: review } = JSON.parse(readFileSync(process.argv[1], "utf8"));
  writeFileSync(process.argv[2], JSON.stringify(review, null, 2) + "\n");
  for (const { path, line, severity, problem } of review.findings) console.log(`${severity}  ${path}:${line}  ${problem}`);
  process.exitCode = review.findings.some(({ severity }) => severity === "high") ? 1 : 0;
' "$folder/answer.json" "$file"
