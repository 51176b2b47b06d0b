/** Programs that may stand first in a command without backticks. */
export const programs: ReadonlySet<string> = new Set(
  (
    "npm npx pnpm yarn bun node deno tsc vitest jest mocha eslint prettier oxlint git gh ls cat head tail wc pwd echo find grep rg sort uniq " +
    "sed awk date whoami uname which du df tree file stat env printenv sleep true false touch mkdir cp mv rm chmod python python3 pip pip3 " +
    "pytest ruff mypy uv poetry cargo rustc go gofmt make cmake gcc g++ clang java javac mvn gradle ruby rake bundle php composer dotnet " +
    "docker docker-compose podman kubectl helm terraform bash sh zsh pwsh curl wget tar zip unzip diff sqlite3 psql"
  ).split(" "),
);
