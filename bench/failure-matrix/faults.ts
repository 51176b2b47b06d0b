/** The rows of the matrix: what the provider does to every request, and the signal that the agent gets. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "./agents.ts";
import type { AnswerEnd, ToolCall, Wire } from "./wires.ts";

export interface Fault {
  /** What happens, from the view of the program that started the agent. */
  readonly title: string;
  /** Sent while the agent waits for the provider. */
  readonly signal?: "SIGINT" | "SIGTERM";
  /** The setting that the agent gets besides its prompt. */
  readonly setting?: keyof Agent["settings"];
  /** `call`: the agent's command `npm test`. */
  readonly answer: (wire: Wire, response: ServerResponse, call: ToolCall | undefined) => Promise<void>;
}

const words = "The project counts the words of a text and prints how often each of them occurs . ".match(/\S+ /g) ?? [];

/** An error of the provider, in the words of its protocol. */
const refuse =
  (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Fault["answer"] =>
  async (wire, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(wire.encodeError(status, message)));
  };

const stream =
  (text: readonly string[], end: AnswerEnd): Fault["answer"] =>
  async (wire, response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const frame of wire.encode(text, end)) {
      response.write(frame);
      await sleep(5);
    }
    // An answer without its end is lost together with its connection.
    if (end === "never") response.destroy();
    else response.end();
  };

async function write(response: ServerResponse, frames: readonly string[]): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.end(frames.join(""));
}

const done = stream(["Done. "], "whole");

const stayStill: Fault["answer"] = async () => undefined;

export const faults: readonly Fault[] = [
  { title: "The provider rejects the API key (401)", answer: refuse(401, "invalid x-api-key") },
  { title: "The provider is overloaded (503), on every try", answer: refuse(503, "Overloaded") },
  {
    title: "The provider limits the rate (429, `retry-after: 1`), on every try",
    answer: refuse(429, "Rate limit reached", { "retry-after": "1" }),
  },
  {
    title: "The connection breaks before an answer, on every try",
    answer: async (_wire, response) => void response.destroy(),
  },
  { title: "The connection breaks in the middle of the answer, on every try", answer: stream(words, "never") },
  { title: "The answer is cut at the token limit", answer: stream(words, "token_limit") },
  { title: "The answer is empty", answer: stream([], "whole") },
  { title: "The model hangs", answer: stayStill },
  {
    title: "A rule refuses the command that the model needs, and the model says that it is done",
    setting: "deny",
    answer: async (wire, response, call) =>
      call ? write(response, wire.encodeCall(call)) : done(wire, response, call),
  },
  { title: "The model says that it is done, and the check of the caller fails", setting: "verify", answer: done },
  { title: "Ctrl-C (SIGINT) while the model hangs", answer: stayStill, signal: "SIGINT" },
  { title: "SIGTERM while the model hangs", answer: stayStill, signal: "SIGTERM" },
];
