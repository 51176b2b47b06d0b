/** What the checks share: the server, the prompts, and runs that many of them use. */
import type { ChatRequest, ChatResponse, StreamEvent } from "@sheaf/protocol";
import { explainChatResponse } from "@sheaf/protocol/validate";
import type { EventStream } from "./event-stream.ts";
import { createHttp, type Answer, type Http, type HttpOptions } from "./http.ts";
import { sampleNames, type Profile, type PromptName } from "./profile.ts";
import { demand, demandNone, Skip } from "./violation.ts";

export interface ContextOptions extends HttpOptions {
  readonly profile: Profile;
}

/** A finished run, as streamed and as stored. */
export interface Sample {
  readonly name: PromptName;
  readonly stream: EventStream;
  readonly events: readonly StreamEvent[];
  readonly responseId: string;
  readonly conversationId: string;
}

/** A run that may still be going on. */
export interface Run {
  readonly stream: EventStream;
  readonly responseId: string;
  readonly conversationId: string;
}

export interface Context {
  readonly http: Http;
  readonly options: ContextOptions;
  /** The request body for a prompt. @throws Skip if the profile does not have it. */
  toRequest(name: PromptName, fields?: Partial<ChatRequest>): ChatRequest;
  /** Sends a prompt and returns its stream. */
  start(name: PromptName, fields?: Partial<ChatRequest>, headers?: Readonly<Record<string, string>>): Promise<Run>;
  /** Sends a prompt that needs an approval, and reads until the request. @throws Skip if none comes. */
  startApproval(fields?: Partial<ChatRequest>): Promise<Run & { readonly approvalId: string }>;
  /** Finished runs of all prompts that end without a person; made once. */
  samples(): Promise<readonly Sample[]>;
  /** The one with this name. @throws Skip */
  sample(name: PromptName): Promise<Sample>;
  /** `GET /v1/responses/{id}`, checked. */
  getResponse(responseId: string): Promise<ChatResponse>;
  /** Polls until the response has ended. */
  waitForEnd(responseId: string): Promise<ChatResponse>;
  /** Called before each check. */
  beginCheck(): void;
  /** Why a failed check is inconclusive: runs of the prompt "long" end before they can be examined. */
  findShortRun(): Promise<string | undefined>;
}

/** A shorter run proves nothing about runs in progress. Milliseconds. */
const LEAST_LONG = 400;

export function createContext(options: ContextOptions): Context {
  const http = createHttp(options);
  const samples = new Map<PromptName, Promise<Sample>>();
  let hasLongRun = false;

  const toRequest = (name: PromptName, fields: Partial<ChatRequest> = {}): ChatRequest => {
    const prompt = options.profile[name];
    if (!prompt) throw new Skip(`the profile has no prompt "${name}"`);
    return { ...prompt, ...fields };
  };

  const start = async (name: PromptName, fields: Partial<ChatRequest> = {}, headers = {}): Promise<Run> => {
    const stream = await http.open("POST", "/v1/chat", { body: { ...toRequest(name, fields), stream: true }, headers });
    if (name === "long") hasLongRun = true;
    return { stream, ...readIds(stream.headers) };
  };

  const makeSample = async (name: PromptName): Promise<Sample> => {
    const run = await start(name);
    return { name, ...run, events: await run.stream.readToEnd() };
  };

  const sample = async (name: PromptName): Promise<Sample> => {
    const known = samples.get(name) ?? makeSample(name);
    samples.set(name, known);
    return known;
  };

  const getResponse = async (responseId: string): Promise<ChatResponse> => {
    const path = `/v1/responses/${responseId}`;
    const answer = await http.expect(200, "N3", "GET", path);
    return readResponse(answer, `GET ${path}`);
  };

  return {
    http,
    options,
    toRequest,
    start,
    async startApproval(fields = {}) {
      const run = await start("approval", { approvals: "ask", ...fields });
      const event = await run.stream.find(
        ({ event: name }) => name === "approval_request" || name === "done",
        "an approval_request",
      );
      if (event.event === "approval_request") return { ...run, approvalId: event.data.approvalId };
      const { documents } = await getResponse(run.responseId);
      const isRefused = documents.some(
        ({ type, metadata }) => type === "error" && metadata.errorCode === "PERMISSION_DENIED",
      );
      demand(!isRefused, "X8", 'with approvals "ask", a call was refused without a request for approval');
      throw new Skip('the run of the prompt "approval" needed no approval');
    },
    async samples() {
      const names = sampleNames.filter((name) => options.profile[name] !== undefined);
      if (names.length === 0) throw new Skip("the profile has no prompt");
      const made: Sample[] = [];
      for (const name of names) made.push(await sample(name));
      return made;
    },
    sample,
    getResponse,
    async waitForEnd(responseId) {
      const until = performance.now() + options.waitMs;
      for (;;) {
        const response = await getResponse(responseId);
        if (response.status !== "streaming") return response;
        demand(performance.now() < until, "N3", `${responseId} is still streaming after ${options.waitMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    beginCheck: () => void (hasLongRun = false),
    async findShortRun() {
      if (!hasLongRun) return undefined;
      // A run without interference.
      const { responseId } = await sample("long");
      const { status, metadata } = await getResponse(responseId);
      if (status !== "completed" || metadata.duration_ms >= LEAST_LONG) return undefined;
      return `the run of the prompt "long" takes ${metadata.duration_ms} ms: use a longer one, see --profile`;
    },
  };
}

/** The ids in the headers of an answer to `POST /v1/chat` (N49, section 7). */
export function readIds(headers: Headers): { readonly responseId: string; readonly conversationId: string } {
  const responseId = headers.get("x-response-id") ?? "";
  const conversationId = headers.get("x-conversation-id") ?? "";
  demand(responseId !== "", "N49", "the answer to POST /v1/chat has no header X-Response-Id");
  demand(conversationId !== "", "N49", "the answer to POST /v1/chat has no header X-Conversation-Id");
  return { responseId, conversationId };
}

/** Reads the response in an answer (R2, R3). */
export function readResponse({ headers, json }: Answer, address: string): ChatResponse {
  const type = headers.get("content-type") ?? "none";
  demand(/^application\/json\b/i.test(type), "R2", `${address}: the content type is ${type}, not application/json`);
  demandNone(explainChatResponse(json), "R2", address);
  return json as ChatResponse;
}
