/** Argument vectors of public programs that call `cursor-agent`, as they write them: facts, no code. */

/** One way in which a program calls `cursor-agent`. */
export interface CursorCall {
  /** Owner and name of its public repository. */
  readonly repository: string;
  /** Where it says so. */
  readonly commit: string;
  readonly path: string;
  /** `WORKSPACE`, `SESSION` and `PROMPT` are replaced. */
  readonly args: readonly string[];
  /** What it writes to stdin, which it then closes. */
  readonly input?: string;
  /** Of a command: what it looks for in stdout. */
  readonly expects?: RegExp;
}

const models = /^auto - Auto/m;
const loggedIn = /Logged in as \S+/;

export const cursorCalls: readonly CursorCall[] = [
  ...from("anyrobert/cursor-api-proxy", "6972cd9103740f8481b7db0cd183c4eba70b24c9", [
    call(
      "src/lib/agent-cmd-args.ts",
      "--print --approve-mcps --force --trust --mode ask --workspace WORKSPACE --model auto --stream-partial-output --output-format stream-json PROMPT",
    ),
    call(
      "src/lib/agent-cmd-args.ts",
      "--print --mode ask --workspace WORKSPACE --model sonnet-4.5 --output-format text PROMPT",
    ),
    { path: "src/lib/cursor-cli.ts", args: ["--list-models"], expects: models },
  ]),
  ...from("Nomadcxx/opencode-cursor", "013ff8e37ecfb8440df2e7cfd7fff6e5d4e71008", [
    call(
      "src/plugin.ts",
      "--print --output-format stream-json --stream-partial-output --workspace WORKSPACE --model composer-1 --resume SESSION --force",
      "PROMPT",
    ),
    { path: "src/cli/model-discovery.ts", args: ["models"], expects: models },
  ]),
  ...from("SkinnnyJay/toad-ts", "fd810d09680157b24d05f60dae7e510d872e811f", [
    call(
      "src/core/cursor/cursor-cli-connection.ts",
      "-p --output-format stream-json --stream-partial-output --resume SESSION --model gpt-5 --mode plan --workspace WORKSPACE --force --sandbox enabled --browser --approve-mcps --api-key key_0123",
      "PROMPT\n",
    ),
    { path: "src/core/cursor/cursor-cli-connection.ts", args: ["about"], expects: /^CLI Version {2,}\S+$/m },
    { path: "src/core/cursor/cursor-cli-connection.ts", args: ["mcp", "list"], expects: /MCP/ },
    { path: "src/core/cursor/cursor-cli-connection.ts", args: ["create-chat"], expects: /^[0-9a-f-]{36}\n$/ },
  ]),
  ...from("spjoes/cursor-agent-acp", "95e6b314c7753d8a39ac6a298ff3e28283258f84", [
    call(
      "internal/cursor/bridge.go",
      "--resume SESSION --model auto agent --print --output-format stream-json --stream-partial-output --force PROMPT",
    ),
    call("internal/cursor/bridge.go", "--model gpt-5 --resume SESSION --print --output-format json --force PROMPT"),
  ]),
  ...from("roshan-c/cursor-acp", "b40cc23a4f2a78166a496fc706371de7ea634320", [
    call(
      "src/internal/cursor-agent.ts",
      "--print --output-format stream-json --stream-partial-output --resume SESSION PROMPT",
    ),
  ]),
  ...from("xwartz/cursor-agent-bridge", "12262b387ccde05de314a5072f37dffab8e9edcc", [
    call(
      "src/cursor/runner.ts",
      "-p --output-format stream-json --stream-partial-output --yolo --model gpt-5.2-high",
      "PROMPT",
    ),
  ]),
  ...from("aetheronhq/agent-cube", "b8adad7a71e9ad092a5c7fa1006ed66f110715c3", [
    call(
      "python/cube/core/adapters/cursor.py",
      "--force --print --trust --output-format stream-json --stream-partial-output --model sonnet-4.5-thinking --resume SESSION -- PROMPT",
    ),
  ]),
  ...from("glekner/obsidian-cursor-agent", "5eb763c9b643b0dcd75b535b14769c4d1f669a91", [
    call(
      "src/cursor/bridge.ts",
      "-p PROMPT --output-format stream-json --stream-partial-output --approve-mcps --api-key key_0123 --model composer-1 --force",
      "",
    ),
    call(
      "src/cursor/bridge.ts",
      "-p PROMPT --output-format stream-json --stream-partial-output --approve-mcps --resume=SESSION",
      "",
    ),
    { path: "src/settings.ts", args: ["status"], expects: loggedIn },
  ]),
  ...from("BloopAI/vibe-kanban", "4deb7eca8f381f7cbc1f9d15515a9ab8f8009053", [
    call(
      "crates/executors/src/executors/cursor.rs",
      "-p --output-format=stream-json --trust --model composer-1 --resume SESSION",
      "PROMPT",
    ),
  ]),
  ...from("siteboon/claudecodeui", "677b7ba43695d5624d1a981c62f87fa086187991", [
    call(
      "server/modules/providers/list/cursor/cursor-runtime.provider.js",
      "--resume=SESSION -p PROMPT --model gpt-5 --output-format stream-json -f --trust",
    ),
    { path: "server/modules/providers/list/cursor/cursor-auth.provider.ts", args: ["status"], expects: loggedIn },
  ]),
  ...from("AutoMaker-Org/automaker", "299b8384003a25a3fb1347f569642aa31d68c353", [
    call(
      "apps/server/src/providers/cursor-provider.ts",
      "-p --output-format stream-json --stream-partial-output --force --model composer-1 -",
      "PROMPT",
    ),
  ]),
  ...from("raphaelluethy/cursor-acp", "bf70d797fea0d9982b1ac6266d7ac2bafb5cefd3", [
    call(
      "src/cursor-cli-runner.ts",
      "--print --output-format stream-json --resume SESSION --workspace WORKSPACE --model auto --mode plan --force --stream-partial-output PROMPT",
    ),
  ]),
  ...from("oxiglade/cursor-acp", "872017b49f5a6f9453cfc9e72a235a7e00405f90", [
    call(
      "src/cursor_process.rs",
      "-p --output-format stream-json --force --model opus-4.6 --mode ask --resume SESSION PROMPT",
    ),
  ]),
  ...from("yohi/opencode-cursorcli-a2a", "392ebdfb175d2f728a85e50bc4465ca7d5574ef3", [
    call(
      "src/server/cursor-agent-service.ts",
      "agent --print --output-format stream-json --stream-partial-output --workspace WORKSPACE --force --trust --model auto --resume SESSION",
      "PROMPT",
    ),
  ]),
  ...from("reifying/cursor-hack", "21bcce02284d91b068d5a5cb70aeb08bbf4f449f", [
    call(
      "internal/process/process.go",
      "--print --output-format stream-json --resume SESSION --force --model auto --workspace WORKSPACE",
      "PROMPT",
    ),
  ]),
  ...from("danilax9/telegram-cursor-agent", "0087cd7f67622ad3c5b0b3413250069c0c5c5fa3", [
    call(
      "src/telegram_cursor_agent/agent/adapter.py",
      "--print --output-format stream-json --stream-partial-output --workspace WORKSPACE --trust --force --sandbox disabled --model gpt-5 --resume SESSION --approve-mcps PROMPT",
    ),
  ]),
  ...from("Obedience-Corp/cursor-agent-go", "1b5c4a8811ac9de6f73ad196b812d18e3ebbd2d9", [
    call(
      "pkg/cursor/args.go",
      "-p --output-format json --model composer-1 --mode agent --force --auto-review --sandbox enabled --approve-mcps --trust --workspace WORKSPACE --resume SESSION -- PROMPT",
    ),
  ]),
  ...from("jatin-31/opengoat", "f2898d57416e1c21b5191085d40d20a51a45c73e", [
    call(
      "packages/core/src/core/providers/providers/cursor/provider.ts",
      "--print --output-format json --resume SESSION --model auto --force --sandbox disabled --trust PROMPT",
    ),
    call(
      "packages/core/src/core/providers/providers/cursor/provider.ts",
      "agent --print --output-format json --force --sandbox disabled --trust PROMPT",
    ),
  ]),
  ...from("nexu-io/open-design", "23df60c2c73d67294456004e5fa0b75c65038018", [
    call(
      "apps/daemon/src/runtimes/defs/cursor-agent.ts",
      "--print --output-format stream-json --stream-partial-output --force --trust --workspace WORKSPACE --model sonnet-4-thinking --resume SESSION",
      "PROMPT",
    ),
    { path: "apps/daemon/src/runtimes/defs/cursor-agent.ts", args: ["models"], expects: models },
  ]),
  ...from("cameroncooper/cursor-acp", "9149b62e1cfe9c431c7332e2f7a6f82785204f55", [
    {
      path: "src/lib.rs",
      args: ["acp", "--model", "gpt-5"],
      input: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}\n`,
      expects: /"protocolVersion":1/,
    },
  ]),
];

type Call = Omit<CursorCall, "repository" | "commit">;

function from(repository: string, commit: string, calls: readonly Call[]): CursorCall[] {
  return calls.map((one) => ({ repository, commit, ...one }));
}

/** A call whose words have no blanks. */
function call(path: string, words: string, input?: string): Call {
  return { path, args: words.split(" "), ...(input !== undefined && { input }) };
}
