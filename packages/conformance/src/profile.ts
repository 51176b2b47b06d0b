/** Prompts that make a server show all checked behaviour. */
import type { ChatRequest } from "@sheaf/protocol";

/** Behaviour that the run of a prompt must show. */
export type PromptName = keyof typeof any;

/** A message, and the model or mode that it needs. */
export type Prompt = Pick<ChatRequest, "message" | "model" | "mode">;

/** Prompts for a server. The suite skips checks whose prompt is missing. */
export type Profile = Readonly<Partial<Record<PromptName, Prompt>>>;

/** Prompts whose runs show many kinds of documents and don't wait for a person. */
export const sampleNames = [
  "text",
  "code",
  "reading",
  "failure",
  "command",
  "writing",
  "plan",
  "todos",
  "question",
] as const satisfies readonly PromptName[];

/** Prompts for the rule-based model with `--sandbox disabled --allow 'Shell(sleep)'`, without code and todo lists. */
const offline: Readonly<Partial<Record<PromptName, string>>> = {
  text: "What can you do?",
  reading: "Summarise README.md",
  failure: "Summarise this-file-is-not-there.md",
  command: "Run `touch sheaf-conformance.tmp`",
  writing: 'Create sheaf-conformance.txt with the content "Hello"',
  plan: "Plan the move to TypeScript",
  question: "Summarise",
  approval: "Run `touch sheaf-conformance.tmp`",
  long: "Run `sleep 2`",
  large: "What can you do?",
};

/** Prompts for any model that follows instructions. */
const any = {
  text: "What is two plus two? Answer with one sentence, and use no tool.",
  code: "Write a Python function that adds two numbers, in one fenced code block with the language python. One sentence before it, one after it. Use no tool.",
  reading: "Read the file README.md with your tool, then say in one sentence what it is about.",
  failure: "Read the file this-file-is-not-there.md with your tool, once. Then say in one sentence what happened.",
  command: "Run the command `touch sheaf-conformance.tmp` once, then say in one sentence what happened.",
  writing: "Create the file sheaf-conformance.txt with the content Hello, then say in one sentence what happened.",
  plan: "Use your tool create_plan to present a plan with two todos for a README.",
  todos: "Use your tool todo_write to make a list of two todos, both pending. Then say in one sentence what you did.",
  question: "Use your tool ask_question to ask me whether I like tea or coffee, with these two options.",
  approval: "Run the command `touch sheaf-conformance.tmp` once, then say in one sentence what happened.",
  long: "Count from 1 to 400 in words, one number a line. Use no tool.",
  large: "Count from 1 to 2000 in words, one number a line. Use no tool.",
} as const;

/** Profiles by name. */
export const profiles: { readonly offline: Profile; readonly any: Profile } = {
  offline: toProfile(offline),
  any: toProfile(any),
};

function toProfile(messages: Readonly<Partial<Record<PromptName, string>>>): Profile {
  return Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, { message }]));
}

/** Reads a custom profile: `{"text": "…", "long": {"message": "…", "model": "…"}}`. @throws Error with the place. */
export function parseProfile(text: string): Profile {
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (!Object.hasOwn(any, name))
        throw new Error(`the prompt "${name}" is unknown: use ${Object.keys(any).join(", ")}`);
      const prompt = typeof value === "string" ? { message: value } : value;
      const isPrompt = typeof (prompt as Partial<Prompt> | null)?.message === "string";
      if (!isPrompt) throw new Error(`the prompt "${name}" must be a string, or an object with a message`);
      return [name, prompt as Prompt];
    }),
  );
}
