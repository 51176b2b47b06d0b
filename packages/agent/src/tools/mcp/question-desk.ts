/** Answers the questions of one server (elicitation): each becomes a question to the person of the running call. */
import { hash } from "node:crypto";
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import type { ServerQuestion } from "@sheaf/protocol";
import { toVisibleCharacters } from "../approval-question.ts";
import type { ApprovalQuestion } from "../approval.ts";
import type { AskPerson } from "../tool.ts";
import { findFormProblem, parseForm } from "./question-form.ts";

/** Most questions of a server during one call. */
const MAX_QUESTIONS = 10;
/** Most notes on questions for the model. */
const MAX_NOTES = 5;
/** Longest message, and longest address. UTF-16 units. */
const MAX_MESSAGE = 4000;
/** Longest form, as JSON. UTF-16 units. */
const MAX_FORM = 64 * 1024;

/** A call during which the server may ask. */
export interface OpenCall {
  /** Notes for the model on the questions, one sentence each. */
  readonly notes: readonly string[];
  close(): void;
}

export interface QuestionDesk {
  /** Opens a call. `ask`: undefined if no person can answer. `onWait` runs when a question opens (true) and closes. */
  open(ask: AskPerson | undefined, onWait: (isWaiting: boolean) => void): OpenCall;
  /** Answers a request of the server; a refusal is an answer. @throws for the server if it isn't a question. */
  answer(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
}

interface Call {
  readonly ask: AskPerson | undefined;
  readonly onWait: (isWaiting: boolean) => void;
  readonly notes: string[];
  questions: number;
}

export function createQuestionDesk(server: string): QuestionDesk {
  const calls = new Set<Call>();
  return {
    open(ask, onWait) {
      const call: Call = { ask, onWait, notes: [], questions: 0 };
      calls.add(call);
      return { notes: call.notes, close: () => void calls.delete(call) };
    },
    async answer(params, signal) {
      // The protocol does not link a question to a call: the newest is the likeliest.
      const call = [...calls].at(-1);
      if (!call) return { action: "decline" };
      call.questions += 1;
      const parsed = parseQuestion(server, params);
      const refuse = (reason: string): ElicitResult => {
        const note = `The server asked the user a question, which Sheaf declined: ${reason}.`;
        // The server may ask many questions.
        if (!call.notes.includes(note) && call.notes.length < MAX_NOTES) call.notes.push(note);
        return { action: "decline" };
      };
      if (!parsed.ok) return refuse(parsed.problem);
      if (call.questions > MAX_QUESTIONS) return refuse(`it asked more than ${MAX_QUESTIONS} in one call`);
      if (!call.ask) return refuse("no person can answer");
      call.onWait(true);
      try {
        return await askPerson(parsed, call.ask, refuse, signal);
      } finally {
        call.onWait(false);
      }
    },
  };
}

async function askPerson(
  { question, asked: { fields, arguments: defaults, url } }: Askable,
  ask: AskPerson,
  refuse: (reason: string) => ElicitResult,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const check = async (values: Readonly<Record<string, unknown>>): Promise<string | undefined> =>
    findFormProblem(fields, values);
  const { kind, by, editedArguments } = await ask(question, check, signal);
  if (!kind.startsWith("allow")) {
    return by === "timeout" || by === "cancelled" || by === "error" ? { action: "cancel" } : { action: "decline" };
  }
  if (url !== undefined) return { action: "accept" };
  const values = editedArguments ?? defaults;
  const problem = findFormProblem(fields, values);
  return problem === undefined
    ? { action: "accept", content: values as Record<string, string | number | boolean | string[]> }
    : refuse(`the answer does not fit (${problem})`);
}

type Asked = Omit<ServerQuestion, "server">;

/** A server's question, and the question to a person that it becomes. */
interface Askable {
  readonly asked: Asked;
  readonly question: ApprovalQuestion;
}

type ParsedQuestion = ({ readonly ok: true } & Askable) | { readonly ok: false; readonly problem: string };

function parseQuestion(server: string, params: ElicitRequest["params"]): ParsedQuestion {
  const { message } = params;
  if (message.length > MAX_MESSAGE) return { ok: false, problem: "its text is too long" };
  if (params.mode === "url") {
    const url = params.url.length <= MAX_MESSAGE ? URL.parse(params.url) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
      return { ok: false, problem: "it wants a page opened that has no address of the web" };
    }
    return toQuestion(server, message, { fields: [], arguments: {}, url: url.href, host: url.host });
  }
  const form = parseForm(params.requestedSchema);
  return form.ok ? toQuestion(server, message, { fields: form.fields, arguments: form.defaults }) : form;
}

/** Words of a server that may ask for a secret. */
const secretWords =
  /passw|passphrase|secret|token|api.?key|credential|private.?key|\bpin\b|\bcvv\b|credit.?card|one.?time/i;

function toQuestion(server: string, message: string, asked: Asked): ParsedQuestion {
  const { fields, url, host } = asked;
  if (JSON.stringify(asked).length > MAX_FORM) return { ok: false, problem: "its form is too long" };
  const words = [message, ...fields.flatMap(({ name, title, description = "" }) => [name, title, description])];
  const warnings = [
    ...(words.some((text) => secretWords.test(text))
      ? [
          `The MCP server ${server} asks for this, not Sheaf: it gets your answer, and the log keeps it. Enter no secret.`,
        ]
      : []),
    ...(url === undefined ? [] : [`It wants you to open a page of ${host}: ${url}. Sheaf does not open it.`]),
  ];
  const argumentsHash = hash("sha256", JSON.stringify([server, message, asked]), "hex");
  return {
    ok: true,
    asked,
    question: {
      title: `The MCP server ${server} asks`,
      description: toVisibleCharacters([message, ...warnings].join("\n\n")),
      reason: { code: "server_question", value: server },
      subject: { type: "server_question", server, ...asked },
      options: [
        { id: "answer", label: url === undefined ? "Answer" : "I opened it", kind: "allow_once" },
        { id: "decline", label: "Decline", kind: "reject_once" },
      ],
      argumentsHash,
      rules: [],
    },
  };
}
