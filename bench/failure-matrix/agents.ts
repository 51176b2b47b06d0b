/** The columns of the matrix: how each agent is started headless with a provider of this machine, and how its output ends. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sheafProgram } from "../support/measure.ts";
import type { ToolCall } from "./wires.ts";

/** What an agent's last event says of the run; undefined if it printed none. */
export type ReportedEnd = "success" | "failure" | undefined;

export interface Agent {
  readonly name: string;
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly args: (url: string, more?: readonly string[]) => readonly string[];
  /** A call of its tool for commands. */
  readonly call: ToolCall;
  /** The settings with which it refuses commands and checks the result of a run; undefined if it has none. */
  readonly settings: { readonly deny: Setting; readonly verify: Setting | undefined };
  /** Prepares the home folder, and gives the variables besides HOME and PATH. */
  readonly prepare: (home: string, url: string) => Readonly<Record<string, string>>;
  /** Reads one line of stdout that may be the event which ends a run. */
  readonly readEnd: (event: Event) => ReportedEnd;
}

interface Setting {
  readonly args?: readonly string[];
  /** Writes files of the home folder. */
  readonly prepare?: (home: string) => void;
}

/** A line of an agent's output. */
export type Event = Readonly<Record<string, unknown>>;

const prompt = "What does this project do?";

const key = "sk-ant-local-0123456789";

/** The `result` line of Sheaf and of Claude Code. */
const readResult = ({ type, is_error }: Event): ReportedEnd => {
  if (type !== "result") return undefined;
  return is_error === true ? "failure" : "success";
};

export const sheaf: Agent = {
  name: "Sheaf",
  command: [process.execPath, sheafProgram],
  args: (url, more = []) => ["-p", "--model", "anthropic/local", "--base-url", `${url}/v1`, ...more, prompt],
  call: { name: "run_terminal_cmd", input: { command: "npm test" } },
  settings: { deny: { args: ["--strict", "--deny", "Shell(npm)"] }, verify: { args: ["--verify", "false"] } },
  prepare: (home) => ({ SHEAF_HOME: join(home, "sheaf"), ANTHROPIC_API_KEY: key }),
  readEnd: readResult,
};

/** Agents of the npm registry that are installed in a folder. */
export const listPeers = (folder: string): readonly Agent[] => {
  const toCommand = (name: string): readonly string[] => [join(folder, "node_modules/.bin", name)];
  return [
    {
      name: "Claude Code",
      command: toCommand("claude"),
      args: (_url, more = []) => ["-p", "--output-format", "stream-json", "--verbose", ...more, prompt],
      call: { name: "Bash", input: { command: "npm test", description: "Run the tests" } },
      settings: {
        deny: {
          prepare: (home) =>
            writeJson(join(home, ".claude/settings.json"), { permissions: { deny: ["Bash(npm test)"] } }),
        },
        verify: {
          prepare: (home) =>
            writeJson(join(home, ".claude/settings.json"), { hooks: { Stop: [{ hooks: [stopHook] }] } }),
        },
      },
      // It also calls servers of its maker, which a machine without network cannot reach.
      prepare: (_home, url) => ({
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      }),
      readEnd: readResult,
    },
    {
      name: "Codex",
      command: toCommand("codex"),
      args: (_url, more = []) => ["exec", "--json", "--skip-git-repo-check", ...more, prompt],
      call: { name: "exec_command", input: { cmd: "npm test" } },
      // A file of rules decides about commands.
      settings: {
        deny: {
          prepare: (home) =>
            write(
              join(home, ".codex/rules/deny.rules"),
              'prefix_rule(pattern=["npm", "test"], decision="forbidden")\n',
            ),
        },
        verify: undefined,
      },
      prepare(home, url) {
        const provider = `name = "local"\nbase_url = "${url}/v1"\nenv_key = "LOCAL_KEY"\nwire_api = "responses"\n`;
        const config = `model = "local"\nmodel_provider = "local"\n[model_providers.local]\n${provider}`;
        write(join(home, ".codex/config.toml"), config);
        return { LOCAL_KEY: key };
      },
      readEnd({ type }) {
        if (type === "turn.completed") return "success";
        return type === "turn.failed" ? "failure" : undefined;
      },
    },
    {
      name: "OpenCode",
      command: toCommand("opencode"),
      args: (_url, more = []) => ["run", "--format", "json", ...more, prompt],
      call: { name: "bash", input: { command: "npm test", description: "Run the tests" } },
      settings: {
        deny: {
          prepare(home) {
            const file = join(home, ".config/opencode/opencode.json");
            const config = JSON.parse(readFileSync(file, "utf8")) as object;
            writeJson(file, { ...config, permission: { bash: { "npm test": "deny" } } });
          },
        },
        verify: undefined,
      },
      prepare(home, url) {
        const local = {
          npm: "@ai-sdk/openai-compatible",
          name: "local",
          options: { baseURL: `${url}/v1`, apiKey: key },
          models: { local: { name: "local" } },
        };
        const config = { autoupdate: false, share: "disabled", model: "local/local", provider: { local } };
        write(join(home, ".config/opencode/opencode.json"), JSON.stringify(config));
        return { OPENCODE_DISABLE_MODELS_FETCH: "1" };
      },
      // It has no event of its own for the end: an error, or the end of a step that calls no tool, comes nearest.
      readEnd({ type, part }) {
        if (type === "error") return "failure";
        const { reason } = (part ?? {}) as { readonly reason?: string };
        return type === "step_finish" && reason !== "tool-calls" ? "success" : undefined;
      },
    },
  ];
};

/** The check that a hook of Claude Code can make; 2 sends its words back to the model. */
const stopHook = { type: "command", command: "echo 'tests fail' >&2; exit 2" };

function writeJson(file: string, value: object): void {
  write(file, JSON.stringify(value));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
