/** What bubblewrap and the wrapper tell of a command, outside of its reach. */
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { type ProcessEntry, readProcess } from "./process-table.ts";

export interface SandboxStatus {
  /** First process of the sandbox, once it is there. */
  readonly findFirst: () => ProcessEntry | undefined;
  /** Known behind the end, if nobody killed bubblewrap: it tells an exit code only of a program that it started. */
  readonly hasStarted: () => boolean;
  /** The signal that ended the shell of the command, if its exit code stands for one. */
  readonly toSignal: (code: number) => NodeJS.Signals | undefined;
}

/** Descriptors of the child: status of bubblewrap (one JSON object a line), stderr of the wrapper. */
export interface StatusDescriptors {
  readonly status: number;
  readonly notice: number;
}

const maxLength = 4096;

/** Reads both as they come. */
export function followStatus(child: ChildProcess, descriptors: StatusDescriptors): SandboxStatus {
  let first: ProcessEntry | undefined;
  const readStatus = collectText(child, descriptors.status, (text) => {
    const [, pid] = /"child-pid": (\d+)/.exec(text) ?? [];
    if (pid !== undefined) first ??= readProcess(Number(pid));
  });
  // A shell says there when a signal ended what it ran.
  const readNotice = collectText(child, descriptors.notice);
  return {
    findFirst: () => first,
    hasStarted: () => readStatus().includes('"exit-code"'),
    toSignal: (code) => (readNotice() === "" ? undefined : findSignal(code - 128)),
  };
}

/** What comes through a descriptor, as far as it is worth reading. */
function collectText(child: ChildProcess, descriptor: number, onText?: (text: string) => void): () => string {
  let text = "";
  const pipe = child.stdio[descriptor] as Readable | null;
  pipe?.on("error", () => undefined);
  pipe?.on("data", (chunk: Uint8Array) => {
    if (text.length > maxLength) return;
    text += Buffer.from(chunk).toString("latin1");
    onText?.(text);
  });
  return () => text;
}

function findSignal(number: number): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => constants.signals[name] === number);
}
