/** The columns of the matrix: how each agent is started headless with a provider of this machine, and how its output ends. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sheafProgram } from "../support/measure.ts";

/** What an agent's last event says of the run; undefined if it printed none. */
export type ReportedEnd = "success" | "failure" | undefined;

export interface Agent {
  readonly name: string;
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly args: (url: string) => readonly string[];
  /** Prepares the home folder, and gives the variables besides HOME and PATH. */
  readonly prepare: (home: string, url: string) => Readonly<Record<string, string>>;
  /** Reads one line of stdout that may be the event which ends a run. */
  readonly readEnd: (event: Event) => ReportedEnd;
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
  args: (url) => ["-p", "--model", "anthropic/local", "--base-url", `${url}/v1`, prompt],
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
      args: () => ["-p", "--output-format", "stream-json", "--verbose", prompt],
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
      args: () => ["exec", "--json", "--skip-git-repo-check", prompt],
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
      args: () => ["run", "--format", "json", prompt],
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

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
