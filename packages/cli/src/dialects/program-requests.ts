/** Requests of Sheaf to the program at the other end of stdin and stdout (C66). */
import * as s from "@sheaf/protocol/schema";
import type { ControlCancelLine } from "@sheaf/protocol";

/** Fields of an answer that decide about a call. */
export const responseFields = {
  behavior: s.optional(s.string()),
  option_id: s.optional(s.string()),
  updatedInput: s.optional(s.record(s.anything())),
  message: s.optional(s.string()),
  interrupt: s.optional(s.boolean()),
};

/** Creates the schema of an answer's line. `response`: the schema of the answer. */
export function createResponseLine<Value>(response: s.Schema<Value>) {
  return s.object({
    type: s.literal("control_response"),
    response: s.object({
      subtype: s.choice(["success", "error"]),
      request_id: s.string(),
      response: s.optional(response),
      error: s.optional(s.string()),
    }),
  });
}

const responseValue = s.open(s.object(responseFields));

export type ProgramResponse = s.ValueOf<
  ReturnType<typeof createResponseLine<s.ValueOf<typeof responseValue>>>
>["response"];

export interface RequestLine {
  readonly type: "control_request";
  readonly request_id: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly session_id: string;
}

export interface ProgramRequests {
  /** Sends a request; undefined if Sheaf withdrew it, or stdin was closed. */
  ask(id: string, request: RequestLine["request"], signal: AbortSignal): Promise<ProgramResponse | undefined>;
  /** Accepts an answer; false if Sheaf never sent its request. */
  answer(response: ProgramResponse): boolean;
  /** Ends all requests, because stdin was closed. */
  end(): void;
  readonly hasEnded: boolean;
}

export function createProgramRequests(
  sessionId: string,
  write: (line: RequestLine | ControlCancelLine) => void,
): ProgramRequests {
  const open = new Map<string, (response: ProgramResponse | undefined) => void>();
  const asked = new Set<string>();
  let hasEnded = false;
  return {
    get hasEnded() {
      return hasEnded;
    },
    async ask(id, request, signal) {
      if (hasEnded) return undefined;
      const { promise, resolve } = Promise.withResolvers<ProgramResponse | undefined>();
      const withdraw = (): void => resolve(undefined);
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
      open.set(id, resolve);
      asked.add(id);
      write({ type: "control_request", request_id: id, request, session_id: sessionId });
      try {
        const response = await promise;
        if (!response) write({ type: "control_cancel_request", request_id: id, session_id: sessionId });
        return response;
      } finally {
        open.delete(id);
        signal.removeEventListener("abort", withdraw);
      }
    },
    answer(response) {
      open.get(response.request_id)?.(response);
      return asked.has(response.request_id);
    },
    end() {
      hasEnded = true;
      for (const resolve of open.values()) resolve(undefined);
    },
  };
}
