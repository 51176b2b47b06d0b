/** `sheaf demo`: a recorded conversation with real tools, in a folder that it makes (C224). */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { now } from "@sheaf/agent/assemble/wire";
import { createToolServers } from "@sheaf/agent/assemble/wire-servers";
import { createTerminalProjection } from "@sheaf/agent/output/terminal/terminal";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { toConfig } from "../run-config.ts";
import { chooseLocale } from "../output-choice.ts";
import type { RunControl } from "../signals.ts";
import { withSessionStore } from "../session-store.ts";
import { printRun } from "./prompt.ts";
import { runServe } from "./serve.ts";

const files = {
  "package.json": '{ "name": "shop", "type": "module" }\n',
  "cart.js": `export function total(items) {
  let sum = 1;
  for (const { price, pieces } of items) sum += price * pieces;
  return sum;
}
`,
  "cart.test.js": `import { total } from "./cart.js";

const cases = [
  [[], 0],
  [[{ price: 3, pieces: 2 }], 6],
];
for (const [items, expected] of cases) {
  const sum = total(items);
  console.log(sum === expected ? "pass" : "FAIL", items.length, "items cost", sum);
  if (sum !== expected) process.exitCode = 1;
}
`,
};

const check = "node cart.test.js";

const prompt = "The total of the cart is wrong. Find out why, and fix it.";

const call = (tool: string, given: object) => ({ call: { tool, arguments: given, chunk: 12 } });

/** The answers of the model. Sheaf runs their calls as for any other model. */
const turns = [
  [...say("I run the test first."), call("run_terminal_cmd", { command: check })],
  [...say("An empty cart costs 1. I read the code."), call("read_file", { target_file: "cart.js" })],
  [
    ...say("The sum begins at 1."),
    call("edit_file", { target_file: "cart.js", old_string: "let sum = 1;", new_string: "let sum = 0;" }),
  ],
  [...say("I run the test again."), call("run_terminal_cmd", { command: check })],
  [...say("`total` began its sum at 1, so every cart cost too much. It begins at 0 now, and the test passes.")],
];

/** Divides a text into deltas at a model's pace. */
function say(text: string) {
  return text.split(/(?<= )/).flatMap((word) => [{ wait_ms: 40 }, { text: word }]);
}

/** Creates the output for a user at a terminal, who sees commands, edits and text as they arrive. */
function createScreen(io: CommandIo) {
  const screen = io.openOutput();
  const projection = createTerminalProjection({
    hasColors: !io.environment.NO_COLOR,
    locale: chooseLocale({}, io),
    includeThinking: false,
  });
  const write = (text: string): void => void screen.write(text);
  return {
    approver: undefined,
    toolServers: createToolServers(io.environment),
    seen: new Set<string>(),
    terminal: { projection, write },
  };
}

/** Stores the conversation before its run, so that the page can open it. */
async function addEmptyConversation(id: string, workspace: string, io: CommandIo): Promise<void> {
  const time = now();
  const times = { createdAt: time, updatedAt: time };
  await withSessionStore(io, workspace, (store) =>
    store.addConversation({ id: `conv_${id}`, workspace, title: prompt, settings: {}, ...times, responses: [] }),
  );
}

/** Runs the demo; returns the run's exit code. With `--open`, the page shows it until a signal ends the server. */
export async function runDemo(parsed: ParsedArguments, given: CommandIo, control: RunControl): Promise<number> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-demo-")));
  const [workspace, script] = [join(folder, "shop"), join(folder, "answers.json")];
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  writeFileSync(script, JSON.stringify({ name: "Recorded", turns: turns.map((events) => ({ events })) }));
  // The user's own sessions, settings and hooks stay out of it.
  const io = { ...given, environment: { ...given.environment, SHEAF_HOME: join(folder, "home") } };
  const { open, sandbox, ...output } = parsed.flags;
  const common = { model: `scripted:${script}`, workspace: [workspace], ...(sandbox && { sandbox }) };
  // The server's log would stand between the lines of the run.
  const quiet = { ...io, writeError: () => undefined };
  const id = randomUUID();
  if (open) await addEmptyConversation(id, workspace, io);
  const served = open
    ? runServe({ ...parsed, flags: { ...common, open, port: "0" } }, quiet, control, `/conv_${id}`)
    : undefined;
  if (served && io.isInputTerminal) {
    io.writeError("Open the address in your browser, then press Enter here.\n");
    await once(io.openInput(), "data", { signal: control.signal });
  }
  const shown = { ...(open && { "session-id": id }), verify: [check], force: true as const };
  const flags = { "output-format": "text", ...output, ...common, ...shown };
  const isShown = io.isOutputTerminal && output["output-format"] === undefined;
  const conversation = isShown ? createScreen(io) : undefined;
  io.writeError(`In ${workspace}, Sheaf asks a recorded model: ${prompt}\n\n`);
  const code = await printRun({ message: { prompt }, config: toConfig(flags, io), flags }, io, control, conversation);
  await conversation?.toolServers.close();
  io.writeError(
    `\nThe files are in ${workspace}, and Sheaf's log is in ${join(folder, "home")}.\n${open ? "Ctrl-C ends the page.\n" : ""}`,
  );
  return (await served) || code;
}
