/** The models that the conformance kit needs, and its prompts for them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseProfile, profiles, selectChecks, type Profile } from "sheaf-conformance";

/** The checks of a server in the same process. Only a socket has the buffers that make a reader slow. */
export const inProcessChecks = selectChecks({}).filter(({ id }) => id !== "resume-slow-reader");

const code = "Here it is:\n\n```python\ndef add(a, b):\n    return a + b\n```\n\n- nested:\n  ```sh\n  ls\n  ```\n";

const todos = ["read", "write"].map((id) => ({ id, content: `${id} it`, status: "pending" }));

/** Models by the name of the prompt that they are for. */
const scripts = {
  code: { turns: [{ events: [{ text: code, chunk: 7 }] }], after: "loop" },
  todos: {
    turns: [
      { events: [{ call: { tool: "todo_write", arguments: { todos, merge: false } } }] },
      { events: [{ text: "Done." }] },
    ],
    after: "loop",
  },
  long: {
    turns: [{ events: [{ text: "one two three\n", repeat: 30 }, { wait_ms: 500 }, { text: "end" }] }],
    after: "loop",
  },
  // More than the buffers of a connection and a server hold.
  large: { turns: [{ events: [{ text: "x".repeat(4000), repeat: 3000 }] }], after: "loop" },
};

/** Flags for a server of the kit, whose models are scripts in the folder. */
export function createKitFlags(folder: string): string[] {
  const offered = Object.entries(scripts).map(([name, script]) => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify({ name, model: name, ...script }));
    return `scripted:${file}`;
  });
  const models = ["offline", ...offered].flatMap((model) => ["--offer", model]);
  return ["--sandbox", "disabled", "--heartbeat", "1", ...models];
}

/** The kit deletes nothing that its server has: `README.md` is in the workspace. */
export function createKitProfile(): Profile {
  const prompts = [
    ...Object.entries(profiles.offline).map(([name, prompt]) => [name, { ...prompt, model: "offline" }]),
    ...Object.keys(scripts).map((name) => [name, { message: "Go", model: `scripted:${name}.json` }]),
  ];
  return parseProfile(JSON.stringify(Object.fromEntries(prompts)));
}
