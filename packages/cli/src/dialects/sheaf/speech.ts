/** Lines of the dialect `sheaf` in both directions (C65, C66). */
import { formatProblem, isJsonObject, listProblems } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { toSheafError } from "@sheaf/base/errors";
import { readQuestion, toAnswerMessage, toAnswers } from "../../commands/answer.ts";
import type { Command, Message, Speech } from "../dialect.ts";
import { createLineError } from "../input-lines.ts";
import { createResponseLine, responseFields } from "../program-requests.ts";
import type { Talk } from "../two-way.ts";
import { toLineMessage, userLine } from "../user-line.ts";

const answers = s.record(s.either([s.string(), s.list(s.string())]));

const requestLine = s.object({
  type: s.literal("control_request"),
  request_id: s.string(),
  request: s.object({ subtype: s.string(), answers: s.optional(answers) }),
});

const responseLine = createResponseLine(s.object(responseFields));

const schemas = { user: userLine, control_request: requestLine, control_response: responseLine };

type RequestLine = s.ValueOf<typeof requestLine>;

export function openSheafSpeech(talk: Talk): Speech {
  return {
    readLine(value, number) {
      const type = isJsonObject(value) && typeof value["type"] === "string" ? value["type"] : "";
      if (!Object.hasOwn(schemas, type)) {
        throw createLineError(number, `has the type ${JSON.stringify(type.slice(0, 100))}`);
      }
      const [problem] = listProblems(schemas[type as keyof typeof schemas], value);
      if (problem) throw createLineError(number, `is not valid at ${formatProblem(problem)}`);
      if (type === "control_response") {
        return { kind: "response", response: (value as s.ValueOf<typeof responseLine>).response };
      }
      if (type === "control_request") return toRequest(value as RequestLine, talk);
      const line = value as s.ValueOf<typeof userLine>;
      const message = toLineMessage(line, number);
      return { kind: "message", open: () => message, ...(line.when_busy === "steer" && { added: message }) };
    },
    toQuestion: ({ callId, title, description, subject, options, expiresAt }, { toolName, input }) => ({
      subtype: "can_use_tool",
      tool_name: toolName,
      input,
      tool_use_id: callId,
      title,
      description,
      subject,
      options,
      expires_at: expiresAt,
    }),
    toArguments: (_call, input) => input,
  };
}

function toRequest({ request_id: id, request: { subtype, ...request } }: RequestLine, talk: Talk): Command {
  switch (subtype) {
    case "answer":
      return { kind: "message", open: () => findAnswers(id, request.answers ?? {}, talk) };
    case "interrupt":
      return {
        kind: "now",
        run() {
          talk.interrupt();
          talk.respond(id, {});
        },
      };
    case "initialize":
      return { kind: "now", run: () => talk.respond(id, { session_id: talk.sessionId }) };
    default: {
      const name = JSON.stringify(subtype.slice(0, 100));
      const problem = `the request ${name} is unknown: use initialize, interrupt or answer`;
      return { kind: "now", run: () => talk.respond(id, problem) };
    }
  }
}

async function findAnswers(id: string, given: s.ValueOf<typeof answers>, talk: Talk): Promise<Message | undefined> {
  try {
    const question = await readQuestion(talk.config.storeFile, talk.sessionId);
    const words = Object.entries(given).map(([name, answer]) => `${name}=${[answer].flat().join(",")}`);
    const message = toAnswerMessage(toAnswers(question, words));
    talk.respond(id, {});
    return message;
  } catch (error) {
    talk.respond(id, toSheafError(error).message);
    return undefined;
  }
}
