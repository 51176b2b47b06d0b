/** Clients of the Agent Client Protocol that others wrote, as they come from the registry, with `sheaf acp`. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installClients } from "../support/clients.ts";
import { describeWhere } from "../support/describe-where.ts";
import { compiledCode, createTestFolder, sheafProgram } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const run = promisify(execFile);
const folders = createTestFolder();

const clients = folders.newFolder();
const missing = await installClients(clients);

const call = (tool: string, args: object) => ({ events: [{ call: { tool, arguments: args } }] });
const turns = [
  call("read_file", { target_file: "a.txt" }),
  call("edit_file", { target_file: "a.txt", edits: [{ old_string: "two", new_string: "2" }] }),
  call("run_terminal_cmd", { command: "echo ran | tee ran.txt" }),
  { events: [{ text: "All done." }] },
  { events: [{ text: "And on." }] },
];

function openPlace() {
  const cwd = folders.newFolder({
    "a.txt": "one\ntwo\n",
    "s.json": JSON.stringify({ turns }),
    ".home/config.json": JSON.stringify({ modelAliases: { quick: "offline" } }),
  });
  const environment = { PATH: process.env.PATH ?? "", HOME: cwd, SHEAF_HOME: join(cwd, ".home"), ...compiledCode };
  const args = ["acp", "--model", "scripted:s.json", "--sandbox", "disabled"];
  return { cwd, environment, args, read: (name: string) => readFileSync(join(cwd, name), "utf8") };
}

describeWhere("clients", missing, () => {
  test(verifies(["C54", "C57", "X17"], "acpx: sessions, files, permissions, options, modes and commands"), async () => {
    const { cwd, environment, args, read } = openPlace();
    const program = join(clients, "node_modules/acpx/dist/cli.js");
    // It takes the agent as one line.
    const agent = [process.execPath, sheafProgram, ...args].join(" ");
    const acpx = async (...words: readonly string[]): Promise<string> => {
      // The process that owns the session ends when it is closed, or after a minute.
      const flags = ["--ttl", "60", "--approve-all", "--agent", agent];
      return (await run(process.execPath, [program, ...flags, ...words], { cwd, env: environment })).stdout;
    };
    const id = (await acpx("sessions", "new")).trim().split("\n")[0]!;
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const shown = await acpx("prompt", "Go");
    expect(shown).toContain("All done.");
    expect(shown).toContain("[done] end_turn");
    expect([read("a.txt"), read("ran.txt")]).toEqual(["one\n2\n", "ran\n"]);
    expect(await acpx("set", "effort", "high")).toContain("effort=high");
    expect(await acpx("set-mode", "ask")).toContain("ask");
    // This client sets the mode in one process of Sheaf, and sends prompts to another.
    expect(await acpx("prompt", "/mode")).toContain("mode: ask");
    expect(await acpx("prompt", "On")).toContain("And on.");
    expect(await acpx("sessions", "list")).toContain(id);
    await acpx("sessions", "close");
  });

  test(
    verifies(
      ["C54", "X17"],
      "@mcpc-tech/acp-ai-provider: the AI SDK streams text and tools, and chooses model and mode",
    ),
    async () => {
      const { cwd, environment, args, read } = openPlace();
      const bridge = join(clients, "node_modules/@mcpc-tech/acp-ai-provider");
      writeFileSync(
        join(cwd, "bridge.mjs"),
        `import { createRequire } from "node:module";
      const load = createRequire(${JSON.stringify(join(bridge, "package.json"))});
      const { createACPProvider } = load(${JSON.stringify(bridge)});
      const { streamText } = load("ai");
      const [command, ...args] = JSON.parse(process.argv[2]);
      const provider = createACPProvider({
        command, args, env: process.env, persistSession: true, session: { cwd: process.cwd(), mcpServers: [] },
      });
      const say = async (prompt) => {
        const parts = [];
        for await (const part of streamText({ model: provider.languageModel(), prompt, tools: provider.tools }).fullStream) parts.push(part);
        return {
          text: parts.filter(({ type }) => type === "text-delta").map(({ text }) => text).join(""),
          kinds: [...new Set(parts.map(({ type }) => type))],
          errors: parts.filter(({ type }) => type === "error").map(({ error }) => String(error)),
        };
      };
      const first = await say("Go");
      await provider.setModel("quick");
      await provider.setMode("ask");
      const second = await say("On");
      provider.cleanup();
      console.log(JSON.stringify([first, second]));
      process.exit();`,
      );
      const command = JSON.stringify([process.execPath, sheafProgram, ...args]);
      const { stdout } = await run(process.execPath, ["bridge.mjs", command], { cwd, env: environment });
      const [first, second] = JSON.parse(stdout.trim().split("\n").at(-1)!) as [Streamed, Streamed];
      expect(first).toMatchObject({ text: "All done.", errors: [] });
      expect(first.kinds).toEqual(expect.arrayContaining(["tool-input-start", "tool-call", "tool-result", "finish"]));
      expect([read("a.txt"), read("ran.txt")]).toEqual(["one\n2\n", "ran\n"]);
      expect(second.errors).toEqual([]);
      expect(second.text).toContain("Sheaf's offline model");
    },
  );
});

interface Streamed {
  readonly text: string;
  readonly kinds: readonly string[];
  readonly errors: readonly string[];
}
