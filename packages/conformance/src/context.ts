/** Shared parts of the checks: the server, the prompts, and runs that many checks use. */
import type { ChatRequest, ChatResponse, StreamEvent } from "@sheaf/protocol";
import { explainChatResponse } from "@sheaf/protocol/validate";
import type { EventStream } from "./event-stream.ts";
import { Http, type Answer, type HttpOptions } from "./http.ts";
import { sampleNames, type Profile, type PromptName } from "./profile.ts";
import { demand, demandNone, Skip } from "./violation.ts";

export interface ContextOptions extends HttpOptions {
  readonly profile: Profile;
}

/** A run that may still be in progress. */
export interface Run {
  readonly stream: EventStream;
  readonly responseId: string;
  readonly conversationId: string;
}

/** A finished run, as streamed and as stored. */
export interface Sample extends Run {
  readonly name: PromptName;
  readonly events: readonly StreamEvent[];
}

/** Shortest run that can prove anything about runs in progress. Milliseconds. */
const LEAST_LONG = 400;

export class Context {
  readonly http: Http;
  readonly options: ContextOptions;
  readonly #samples = new Map<PromptName, Promise<Sample>>();
  #hasLongRun = false;

  constructor(options: ContextOptions) {
    this.options = options;
    this.http = new Http(options);
  }

  /** Resets the state for the next check. */
  beginCheck(): void {
    this.#hasLongRun = false;
  }

  /** Makes the request body for a prompt. @throws Skip if the profile does not have it. */
  toRequest(name: PromptName, fields: Partial<ChatRequest> = {}): ChatRequest {
    const prompt = this.options.profile[name];
    if (!prompt) throw new Skip(`the profile has no prompt "${name}"`);
    return { ...prompt, ...fields };
  }

  async start(name: PromptName, fields: Partial<ChatRequest> = {}, headers = {}): Promise<Run> {
    const body = { ...this.toRequest(name, fields), stream: true };
    const stream = await this.http.open("POST", "/v1/chat", { body, headers });
    if (name === "long") this.#hasLongRun = true;
    return { stream, ...readIds(stream.headers) };
  }

  /** Sends a prompt that needs an approval, and reads until the request. @throws Skip if none comes. */
  async startApproval(fields: Partial<ChatRequest> = {}): Promise<Run & { readonly approvalId: string }> {
    const run = await this.start("approval", { approvals: "ask", ...fields });
    const event = await run.stream.find(
      ({ event: name }) => name === "approval_request" || name === "done",
      "an approval_request",
    );
    if (event.event === "approval_request") return { ...run, approvalId: event.data.approvalId };
    const { documents } = await this.getResponse(run.responseId);
    const isRefused = documents.some(
      ({ type, metadata }) => type === "error" && metadata.errorCode === "PERMISSION_DENIED",
    );
    demand(!isRefused, "X8", 'with approvals "ask", the server refused a call without a request for approval');
    throw new Skip('the run of the prompt "approval" needed no approval');
  }

  /** Ends a run that the check no longer needs. */
  async cancel(responseId: string): Promise<ChatResponse> {
    await this.http.send("POST", `/v1/responses/${responseId}/cancel`, { body: {} });
    return this.waitForEnd(responseId);
  }

  /** Returns finished runs of all prompts that end without a person; they run once. */
  async samples(): Promise<readonly Sample[]> {
    const names = sampleNames.filter((name) => this.options.profile[name] !== undefined);
    if (names.length === 0) throw new Skip("the profile has no prompt");
    const made: Sample[] = [];
    for (const name of names) made.push(await this.sample(name));
    return made;
  }

  async eachResponse(check: (response: ChatResponse, sample: Sample) => void): Promise<void> {
    for (const sample of await this.samples()) check(await this.getResponse(sample.responseId), sample);
  }

  /** Returns the sample with this name. @throws Skip */
  async sample(name: PromptName): Promise<Sample> {
    const known = this.#samples.get(name) ?? this.#makeSample(name);
    this.#samples.set(name, known);
    return known;
  }

  async #makeSample(name: PromptName): Promise<Sample> {
    const run = await this.start(name);
    return { name, ...run, events: await run.stream.readToEnd() };
  }

  /** Reads and checks `GET /v1/responses/{id}`. */
  async getResponse(responseId: string): Promise<ChatResponse> {
    const path = `/v1/responses/${responseId}`;
    return readResponse(await this.http.expect(200, "N3", "GET", path), `GET ${path}`);
  }

  /** Polls until the response has ended. */
  async waitForEnd(responseId: string): Promise<ChatResponse> {
    const { waitMs } = this.options;
    const until = performance.now() + waitMs;
    for (;;) {
      const response = await this.getResponse(responseId);
      if (response.status !== "streaming") return response;
      demand(performance.now() < until, "N3", `${responseId} is still streaming after ${waitMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The reason why a failed check is inconclusive: runs of the prompt "long" end before they can be examined. */
  async findShortRun(): Promise<string | undefined> {
    if (!this.#hasLongRun) return undefined;
    // The sample is a run without interference.
    const { responseId } = await this.sample("long");
    const { status, metadata } = await this.getResponse(responseId);
    if (status !== "completed" || metadata.duration_ms >= LEAST_LONG) return undefined;
    return `the run of the prompt "long" takes ${metadata.duration_ms} ms: use a longer one, see --profile`;
  }
}

/** Reads the ids in the headers of an answer to `POST /v1/chat` (N49, section 7). */
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
