/** The models that the conformance kit needs, and its prompts for them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseProfile, type Profile } from "sheaf-conformance";

const code = "Here it is:\n\n```python\ndef add(a, b):\n    return a + b\n```\n\n- nested:\n  ```sh\n  ls\n  ```\n";

/** Models by the name of the prompt that they are for. */
const scripts = {
  code: { turns: [{ events: [{ text: code, chunk: 7 }] }], after: "loop" },
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
  const messages = {
    text: "What can you do?",
    reading: "Summarise README.md",
    failure: "Summarise this-file-is-not-there.md",
    command: "Run `touch sheaf-conformance.tmp`",
    writing: 'Create sheaf-conformance.txt with the content "Hello"',
    plan: "Plan the move to TypeScript",
    todos: "Make a todo list: read, write, test",
    question: "Ask me what to do",
    approval: "Run `touch sheaf-conformance.tmp`",
  };
  const prompts = [
    ...Object.entries(messages).map(([name, message]) => [name, { message, model: "offline" }]),
    ...Object.keys(scripts).map((name) => [name, { message: "Go", model: `scripted:${name}.json` }]),
  ];
  return parseProfile(JSON.stringify(Object.fromEntries(prompts)));
}
