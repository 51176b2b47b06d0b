/** Sandboxes that the guard starts; their wrapper waits for a command, which comes as a line of shell. */
import { closeSync, writeSync } from "node:fs";
import type { CommandGuard } from "./command-guard.ts";
import { markerName } from "./environment.ts";
import type { Fifo, Fifos } from "./fifos.ts";
import type { OutputPipes } from "./output-pipes.ts";
import { sendSignal } from "./process-table.ts";
import { createSandboxTree } from "./sandbox-tree.ts";
import { createStatusReader } from "./sandbox-status.ts";
import type { OpenSandbox } from "./spare-sandbox.ts";
import type { StartedProcess } from "./started-process.ts";
import { openUnnamedFile } from "./unnamed-file.ts";
import { createAdmission, type WorkspaceOwner } from "./workspace-owner.ts";

export interface WaitingSandbox extends OpenSandbox {
  /** Whether its wrapper waits for a command; false if that never comes about. */
  readonly isReady: Promise<boolean>;
  /** When it is ready: the line of its command; without one it ends by itself. */
  tell(line: string): void;
}

export interface WaitingOptions {
  readonly guard: CommandGuard;
  readonly fifos: Fifos;
  readonly outputs: OutputPipes;
  /** Bubblewrap, absolute. */
  readonly file: string;
  /** Before the words of the wrapper. */
  readonly words: readonly string[];
  /** Descriptor of this process: the filter of system calls. */
  readonly filter: number | undefined;
  readonly owner: WorkspaceOwner | undefined;
  /** Numbers in the sandbox, one digit each. */
  readonly descriptors: Readonly<
    Record<"seccomp" | "status" | "notice" | "order" | "words" | "info" | "admission", number>
  >;
}

/** Milliseconds; most often it takes 10. */
const readyPeriod = 1000;

/** Undefined where no FIFOs can be made. @throws What the system says. */
export function openWaitingSandbox(options: WaitingOptions): WaitingSandbox | undefined {
  const { guard, fifos, outputs, descriptors, owner } = options;
  // First: where this fails, nothing else is open.
  const words = openUnnamedFile(options.words.map((word) => `${word}\0`).join(""));
  const pipes = outputs.open();
  const own = Array.from({ length: owner ? 5 : 3 }, () => fifos.open());
  const [status, notice, order, info, admission] = own;
  if (!pipes.paths || !status || !notice || !order || own.includes(undefined)) {
    pipes.close();
    for (const fifo of own) fifo?.close();
    closeSync(words);
    return undefined;
  }
  const reader = createStatusReader();
  const ready = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => ready.resolve(false), readyPeriod).unref();
  status.read((chunk) => {
    reader.takeStatus(chunk);
    // Bubblewrap has its own end now, and none is left when it has ended.
    if (reader.findFirst()) status.closeWriter();
  });
  void status.ended.then(() => ready.resolve(false));
  notice.read((chunk) => {
    reader.takeNotice(chunk);
    ready.resolve(true);
    notice.closeWriter();
  });
  if (owner && info && admission) {
    const admit = createAdmission(owner, () => void writeSync(admission.writer, "x"));
    info.read((chunk) => admit(chunk));
  }
  const redirections = [
    "</dev/null", `>>${pipes.paths[0]}`, `2>>${pipes.paths[1]}`,
    `${descriptors.words}<${toPath(words)}`,
    ...(options.filter === undefined ? [] : [`${descriptors.seccomp}<${toPath(options.filter)}`]),
    `${descriptors.status}>>${status.path}`, `${descriptors.notice}>>${notice.path}`, `${descriptors.order}<${order.path}`,
    ...(info && admission ? [`${descriptors.info}>>${info.path}`, `${descriptors.admission}<${admission.path}`] : []),
  ]; // prettier-ignore
  const variable = `${markerName}=${guard.createMarker()}`;
  const program = `exec ${quote(options.file)} --args ${descriptors.words} -- "$@"`;
  guard.order(`{ ${variable} ${program} ${redirections.join(" ")}; } &\n`);

  const bubblewrap = toProcess({ status, notice, reader, words, own });
  return {
    process: bubblewrap,
    pipes,
    status: reader,
    tree: createSandboxTree(bubblewrap, reader.findFirst),
    isReady: ready.promise.finally(() => clearTimeout(timer)),
    tell(line) {
      if (line !== "") writeSync(order.writer, line);
      order.closeWriter();
    },
  };
}

/** It is known by what it writes, for it is the guard's child. */
function toProcess({
  status,
  notice,
  reader,
  words,
  own,
}: {
  readonly status: Fifo;
  readonly notice: Fifo;
  readonly reader: ReturnType<typeof createStatusReader>;
  readonly words: number;
  readonly own: readonly (Fifo | undefined)[];
}): StartedProcess {
  let isRunning = true;
  const ended = status.ended.then(() => {
    isRunning = false;
    const code = reader.findExitCode() ?? null;
    return { code, signal: code === null ? ("SIGKILL" as const) : null };
  });
  return {
    stdout: null,
    stderr: null,
    isRunning: () => isRunning,
    ended,
    closed: Promise.all([ended, notice.ended]),
    kill() {
      const first = reader.findFirst();
      if (isRunning && first) sendSignal(first.parent, "SIGKILL");
    },
    release() {
      closeSync(words);
      for (const fifo of own) fifo?.close();
    },
  };
}

function toPath(descriptor: number): string {
  return `/proc/${process.pid}/fd/${descriptor}`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
