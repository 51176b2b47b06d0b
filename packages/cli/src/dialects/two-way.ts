/** `sheaf -p --input-format stream-json`: a program at both ends, message by message, in any dialect (C65, C66). */
import type { ControlCancelLine, ControlResponseLine, UserMessage } from "@sheaf/protocol";
import { createToolServers } from "@sheaf/agent/assemble/wire-servers";
import { SheafError } from "@sheaf/base/errors";
import { encodeLine } from "@sheaf/agent/output/projection";
import type { ParsedArguments } from "../arguments.ts";
import { printRun } from "../commands/prompt.ts";
import type { FlagName, FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { checkCommandLine, chooseWord } from "../command-flags.ts";
import { chooseSession } from "../run-tree.ts";
import { printRefusedRun, runOrRefuse } from "../refused-run.ts";
import { toConfig, type RunConfig } from "../run-config.ts";
import type { RunControl } from "../signals.ts";
import type { LineOutput } from "../standard-output.ts";
import type { Command, Speech } from "./dialect.ts";
import { createLineError, readInputLines } from "./input-lines.ts";
import { createLineApprover, type LineApprover } from "./line-approver.ts";
import { createProgramRequests, type ProgramRequests, type RequestLine } from "./program-requests.ts";
import { sheafDialect } from "./sheaf/sheaf.ts";
import { openSheafSpeech } from "./sheaf/speech.ts";

/** Number of messages that may wait for their turn. */
const MAX_WAITING = 16;

/** Flags for one message only, which have no place here. */
const otherFlags: readonly FlagName[] = ["file", "image", "no-save"];

/** Runs messages until the program closes stdin; returns the exit code of the last run. */
export async function runTwoWay(parsed: ParsedArguments, given: CommandIo, control: RunControl): Promise<number> {
  // A dialect without lines for both directions translates only names and keys: every message has its result line.
  const io: CommandIo = given.openSpeech ? given : { ...given, dialect: sheafDialect };
  const prepare = (): Promise<OpenTalk> => openTalk(parsed, given, io, control);
  return runOrRefuse(prepare, runTalk, "stream-json", parsed, io);
}

async function runTalk(talk: OpenTalk): Promise<number> {
  const { control, flags, io } = talk;
  const reading = readAll(talk);
  let code = 0;
  for (let next = await talk.inbox.take(); next && !control.signal.aborted; next = await talk.inbox.take()) {
    code = (await answerNext(next, talk)) ?? code;
  }
  io.openInput().destroy();
  await reading;
  await talk.toolServers.close();
  if (talk.fault && !talk.isFaultTold) {
    return printRefusedRun(talk.fault, "stream-json", { command: "prompt", flags, positionals: [] }, io);
  }
  return control.exitCode ?? code;
}

type Waiting = Extract<Command, { kind: "message" }>;

/** The interface of a talk for a dialect. */
export interface Talk {
  readonly io: CommandIo;
  readonly config: RunConfig;
  /** Flags of each run, with the session's id. */
  readonly flags: FlagValues;
  readonly sessionId: string;
  readonly requests: ProgramRequests;
  /** Sends a response. `result`: its content, or an error. */
  readonly respond: (id: string, result: string | Readonly<Record<string, unknown>>) => void;
  /** Cancels the current run. */
  readonly interrupt: () => void;
  readonly isRunning: () => boolean;
}

interface OpenTalk extends Talk {
  readonly control: RunControl;
  readonly speech: Speech;
  readonly inbox: Inbox;
  readonly output: LineOutput;
  readonly approver: LineApprover;
  readonly toolServers: ReturnType<typeof createToolServers>;
  readonly seen: Set<string>;
  /** Controller of the current run. */
  current: AbortController | undefined;
  /** The error of an invalid line. */
  fault: SheafError | undefined;
  /** True if a result line contains the error. */
  isFaultTold: boolean;
}

/** Opens the talk. @throws SheafError USAGE and others, before it reads any input. */
async function openTalk(
  parsed: ParsedArguments,
  given: CommandIo,
  io: CommandIo,
  control: RunControl,
): Promise<OpenTalk> {
  checkCommandLine(parsed);
  const { flags, positionals } = parsed;
  chooseWord("--input-format", flags["input-format"] ?? "", ["stream-json"], "text or stream-json");
  if ((flags["output-format"] ?? "stream-json") !== "stream-json") {
    throw new SheafError("USAGE", "--input-format stream-json needs --output-format stream-json");
  }
  const other = otherFlags.find((name) => flags[name] !== undefined);
  if (other !== undefined || positionals.length > 0) {
    const what = other === undefined ? "a prompt in the arguments" : `--${other}`;
    throw new SheafError(
      "USAGE",
      `${what} does not go with --input-format stream-json: messages come as lines on stdin`,
    );
  }
  const config = toConfig(flags, given);
  const { continue: _, "session-id": __, ...rest } = flags;
  const sessionId = await chooseSession(flags, config);
  const output = createOrderedOutput(io.openOutput({ isEnding: () => control.exitCode !== undefined }));
  const write = async (line: RequestLine | ControlCancelLine | ControlResponseLine): Promise<void> => {
    try {
      await output.write(encodeLine(line));
    } catch {
      // The next run that prints notices that stdout is closed, and ends.
    }
  };
  const interrupt = (): void => {
    talk.current?.abort(new SheafError("CANCELLED", "cancelled by a request on stdin", { source: "user" }));
  };
  const shared: Talk = {
    io,
    config,
    flags: { ...rest, "output-format": "stream-json", resume: sessionId },
    sessionId,
    requests: createProgramRequests(sessionId, (line) => void write(line)),
    respond(id, result) {
      const head = { request_id: id };
      const response =
        typeof result === "string"
          ? { subtype: "error" as const, ...head, error: result }
          : { subtype: "success" as const, ...head, response: result };
      void write({ type: "control_response", response, session_id: sessionId });
    },
    interrupt,
    isRunning: () => talk.current !== undefined,
  };
  const speech = (given.openSpeech ?? openSheafSpeech)(shared);
  const talk: OpenTalk = {
    ...shared,
    control,
    speech,
    inbox: createInbox(),
    output,
    approver: createLineApprover({
      toQuestion: speech.toQuestion,
      toArguments: speech.toArguments,
      requests: shared.requests,
      interrupt,
    }),
    toolServers: createToolServers(io.environment, { maxResting: 1 }, new Map(), speech.openTransport),
    seen: new Set(),
    current: undefined,
    fault: undefined,
    isFaultTold: false,
  };
  control.signal.addEventListener("abort", () => talk.inbox.end());
  return talk;
}

/** Reads during runs. An invalid line ends the current run. */
async function readAll(talk: OpenTalk): Promise<void> {
  const { inbox, requests, speech } = talk;
  try {
    let isEmpty = true;
    for await (const { value, number } of readInputLines(talk.io.openInput())) {
      isEmpty = false;
      const command = speech.readLine(value, number);
      if (command.kind === "message") await inbox.put(command);
      else if (command.kind === "now") await command.run();
      else if (!requests.answer(command.response)) {
        const id = JSON.stringify(command.response.request_id.slice(0, 100));
        throw createLineError(number, `answers the request ${id}, which Sheaf never sent`);
      }
      if (talk.control.signal.aborted) break;
    }
    if (isEmpty) throw createLineError(1, "is missing");
  } catch (error) {
    // Stdin closed at its end or by a signal throws another error, which must not end the run.
    if (error instanceof SheafError) {
      talk.fault = error;
      inbox.clear();
      talk.current?.abort(error);
    }
  }
  requests.end();
  inbox.end();
}

/** Runs a message; returns the exit code, or undefined if it needs no run. */
async function answerNext(next: Waiting, talk: OpenTalk): Promise<number | undefined> {
  const message = await next.open();
  if (!message) return undefined;
  const { io, control, approver, speech, toolServers, output, seen } = talk;
  let { config, flags } = talk;
  try {
    const order = speech.order?.();
    if (order) {
      ({ flags } = order);
      config = toConfig(flags, { ...io, ...order });
    }
  } catch (error) {
    if (!(error instanceof SheafError)) throw error;
    const parsed = { command: "prompt", flags, positionals: [message.prompt] } as const;
    return printRefusedRun(error, "stream-json", parsed, { ...io, openOutput: () => output });
  }
  const current = new AbortController();
  talk.current = current;
  const own = {
    signal: AbortSignal.any([control.signal, current.signal]),
    abort: (reason: SheafError) => current.abort(reason),
    get exitCode() {
      return control.exitCode;
    },
  };
  return printRun({ message, config, flags }, io, own, {
    approver: speech.asks === false ? undefined : approver,
    takeMessage: async () => talk.inbox.takeAdded(),
    toolServers,
    seen,
    output,
    onEvents(events) {
      for (const event of events) {
        approver.observe(event);
        if (event.type !== "run_end") continue;
        talk.current = undefined;
        talk.isFaultTold = event.error !== undefined && event.error.message === talk.fault?.message;
      }
    },
    onOutputError: () => talk.inbox.end(),
  });
}

/** Orders lines of several writers, one after another. */
function createOrderedOutput(output: LineOutput): LineOutput {
  let last: Promise<void> | undefined;
  return {
    write(line) {
      const written = last ? last.catch(() => undefined).then(() => output.write(line)) : output.write(line);
      last = written;
      const forget = (): void => {
        if (last === written) last = undefined;
      };
      written?.then(forget, forget);
      return written;
    },
  };
}

/** Messages that wait for their turn. */
interface Inbox {
  /** Adds a message; resolves when there is room for more. */
  put(item: Waiting): Promise<void>;
  /** Waits for the next message; undefined after the last one. */
  take(): Promise<Waiting | undefined>;
  /** Takes the next message for the running answer. */
  takeAdded(): Omit<UserMessage, "type"> | undefined;
  clear(): void;
  end(): void;
}

function createInbox(): Inbox {
  const items: Waiting[] = [];
  const state = { hasEnded: false };
  let change = Promise.withResolvers<void>();
  const announce = (): void => {
    change.resolve();
    change = Promise.withResolvers();
  };
  return {
    async put(item) {
      // A message that comes too late for the running answer starts the next one.
      const at = item.added ? items.findIndex(({ added }) => !added) : -1;
      items.splice(at < 0 ? items.length : at, 0, item);
      announce();
      while (items.length >= MAX_WAITING && !state.hasEnded) await change.promise;
      // The next line may be about this run, so let it start.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
    async take() {
      while (items.length === 0 && !state.hasEnded) await change.promise;
      const item = items.shift();
      announce();
      return item;
    },
    takeAdded() {
      const [{ added } = {}] = items;
      if (!added) return undefined;
      items.shift();
      announce();
      const { prompt, attachments } = added;
      return { message: prompt, ...(attachments && { attachments }) };
    },
    clear: () => void items.splice(0),
    end() {
      state.hasEnded = true;
      announce();
    },
  };
}
