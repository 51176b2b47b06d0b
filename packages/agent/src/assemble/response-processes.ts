/** Prepares responses and runs tools in a process for each workspace: a dead disk delays no other workspace. */
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { readThreadTime } from "@sheaf/base/process-numbers";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import { createPeer, type Peer } from "@sheaf/base/peer";
import { startProcess } from "@sheaf/base/start-thread";
import { toLine } from "@sheaf/base/files/read-folder";
import type { ModelRequest } from "@sheaf/models/provider";
import { openConversation } from "../run/conversations/open-conversation.ts";
import type { PreparedRun } from "../run/conversations/response-runner.ts";
import type { Preparer } from "./preparer.ts";
import { type ResponsePorts, toOwnPorts } from "./prepare-response.ts";

/** Longest silence of a disk. Milliseconds. */
const SILENT_MS = 20_000;

/** The time for which a process stays without a response, longer than its tool servers. Milliseconds. */
const IDLE_MS = 11 * 60 * 1000;

/** Interval of looks at the disk. Their number measures silence: a stopped server doesn't look. Milliseconds. */
const LOOK_MS = 1000;

/** The longest wait for the tool servers of a workspace to end. Milliseconds. */
const CLOSE_MS = 6000;

interface ResponseProcess {
  /** A channel for one response; `abort` learns that the process is lost. */
  open(abort: ResponsePorts["abort"]): Peer & { end(): void };
  readonly control: Peer;
  close(): Promise<void>;
}

/** Starts the process of a workspace with its first response. `silentMs`: how long its disk may be silent. */
export function createResponseProcesses(environment: Environment, silentMs = SILENT_MS): Preparer {
  const processes = new Map<string, ResponseProcess>();
  const findProcess = (place: string): ResponseProcess => {
    const known = processes.get(place);
    if (known) return known;
    const opened: ResponseProcess = openProcess(place, { environment, silentMs }, () => {
      if (processes.get(place) === opened) processes.delete(place);
    });
    processes.set(place, opened);
    return opened;
  };
  return {
    async prepare(request, given, place, signal) {
      const { store, now, abort, approver, cut } = given;
      const model = given.model.forRun?.() ?? given.model;
      const own = toOwnPorts({ ...given, model });
      const { newCallId } = own;
      const conversation = await openConversation(store, request.conversationId, now, cut?.start.responseId);
      const peer = findProcess(place).open(abort);
      const shared = {
        abort,
        cut,
        conversation,
        model: {
          ...model,
          forRun: undefined,
          stream: (asked: ModelRequest, ended: AbortSignal) => model.stream({ ...asked, newCallId }, ended),
        },
        approver: approver && { expiresAfterMs: approver.expiresAfterMs, ask: approver.ask.bind(approver) },
        store: { getConversation: store.getConversation.bind(store) },
      };
      try {
        const prepared = await peer.call("prepare", request, shared, signal);
        const { settings, tools, ports } = withFallbacks(prepared as PreparedRun);
        return {
          settings: { ...settings, cut, history: conversation.messages },
          ports: { ...ports, ...own, tools },
          tools,
          close: () => peer.end(),
        };
      } catch (error) {
        peer.end();
        throw error;
      }
    },
    async look(place) {
      const peer = findProcess(place).open(() => undefined);
      try {
        await peer.call("look", place);
      } finally {
        peer.end();
      }
    },
    async end(conversationId) {
      await Promise.allSettled([...processes.values()].map(({ control }) => control.call("end", conversationId)));
    },
    async close() {
      await Promise.all([...processes.values()].map((one) => one.close()));
    },
  };
}

/** Once the process is lost, the run ends by its abort, and not by the calls that no longer have an answer. */
function withFallbacks({ settings, tools, ports }: PreparedRun): PreparedRun {
  const { hooks } = ports;
  return {
    settings,
    tools: {
      ...tools,
      accessOf: (call) => orElse(tools.accessOf(call), "state"),
      review: (call) => orElse(tools.review(call), undefined),
      settle: () => orElse(tools.settle(), undefined),
      ...(tools.refresh && { refresh: (signal) => orElse(tools.refresh!(signal), tools.definitions) }),
    },
    ports: {
      ...ports,
      hooks: hooks && { ...hooks, run: (occasion, signal) => orElse(hooks.run(occasion, signal), []) },
      findQuote: (quote) => orElse(ports.findQuote(quote), undefined),
      keepState: ports.keepState && ((moment) => orElse(ports.keepState!(moment), undefined)),
    },
  };
}

async function orElse<Value>(asked: Value | Promise<Value>, fallback: Value): Promise<Value> {
  try {
    return await asked;
  } catch {
    return fallback;
  }
}

function openProcess(
  place: string,
  { environment, silentMs }: { readonly environment: Environment; readonly silentMs: number },
  onEnd: () => void,
): ResponseProcess {
  const kept = Object.entries(environment).filter(([name]) => !/^NODE_(?!EXTRA_CA_CERTS$|USE_SYSTEM_CA$)/.test(name));
  const child = startProcess(import.meta.url, "response-process", {
    ...Object.fromEntries(kept),
    UV_THREADPOOL_SIZE: "32",
  });
  const channels = new Map<number, { readonly peer: Peer; readonly abort: ResponsePorts["abort"] }>();
  let last = 0;
  let lost: SheafError | undefined;
  let silentLooks: number | undefined;
  let seenWork = "";
  let hasLoaded = false;

  const fail = (problem: string): void => {
    const advice = `look at its disk with ls ${JSON.stringify(place)}, then send the message again`;
    lost ??= new SheafError("INTERRUPTED", `${problem}: ${advice}`, { source: "server" });
    for (const { peer, abort } of channels.values()) {
      peer.close(lost);
      abort(lost);
    }
    child.kill("SIGKILL");
  };
  const open: ResponseProcess["open"] = (abort) => {
    if (lost) throw lost;
    const channel = (last += 1);
    const peer = createPeer((message) => child.send({ channel, message }));
    channels.set(channel, { peer, abort });
    const end = (): void => {
      peer.close(new SheafError("CANCELLED", "the response has ended"));
      if (channels.delete(channel) && child.connected) child.send({ channel });
    };
    return { ...peer, end };
  };
  const control = open(() => undefined);
  let usedAt = performance.now();
  const timer = setInterval(() => {
    if (channels.size > 1) usedAt = performance.now();
    else if (performance.now() - usedAt > IDLE_MS) {
      clearInterval(timer);
      onEnd();
      void close();
    }
    const work = readThreadTime(child.pid);
    // A thread that works is only busy, for example with a hundred starts of commands; a dead disk stops it.
    if (work !== seenWork) silentLooks &&= 0;
    seenWork = work;
    if (silentLooks === undefined && hasLoaded && channels.size > 1) {
      silentLooks = 0;
      control.call("look", place).then(
        () => (silentLooks = undefined),
        () => undefined,
      );
    } else if (silentLooks !== undefined && (silentLooks += 1) * LOOK_MS > silentMs)
      fail(`the workspace ${toLine(place)} did not answer for ${silentMs / 1000} s`);
  }, LOOK_MS);
  const note = (): void => fail(`the process of the workspace ${toLine(place)} ended`);
  child.on("error", note);
  child.once("message", () => (hasLoaded = true));
  child.on("message", ({ channel, message }: { readonly channel: number; readonly message: unknown }) =>
    channels.get(channel)?.peer.receive(message),
  );
  child.once("exit", () => {
    clearInterval(timer);
    note();
    onEnd();
  });
  const close = async (): Promise<void> => {
    if (!lost)
      await waitAtMost(
        control.call("close").catch(() => undefined),
        CLOSE_MS,
      );
    child.kill("SIGKILL");
    child.unref();
    child.channel?.unref();
  };
  return { open, control, close };
}
