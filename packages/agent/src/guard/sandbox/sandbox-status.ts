/** What bubblewrap and the wrapper tell of a command, outside of its reach. */
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { type ProcessEntry, readProcess } from "./process-table.ts";

export interface SandboxStatus {
  /** First process of the sandbox, once it is there; its parent is bubblewrap. */
  readonly findFirst: () => ProcessEntry | undefined;
  /** Known behind the end, if nobody killed bubblewrap: it tells an exit code only of a program that it started. */
  readonly findExitCode: () => number | undefined;
  /** The signal that ended the shell of the command, if its exit code stands for one. */
  readonly toSignal: (code: number) => NodeJS.Signals | undefined;
}

/** Descriptors of the child: status of bubblewrap, stderr of the wrapper. */
export interface StatusDescriptors {
  readonly status: number;
  readonly notice: number;
}

const maxLength = 4096;

/** Reads both as they come: from bubblewrap one JSON object a line, from the wrapper what its shell prints. */
export function followStatus(child: ChildProcess, descriptors: StatusDescriptors): SandboxStatus {
  let first: ProcessEntry | undefined;
  let status = "";
  let notice = "";
  readStream(child.stdio[descriptors.status], (chunk) => {
    status = append(status, chunk);
    const [, pid] = /"child-pid": (\d+)/.exec(status) ?? [];
    if (pid !== undefined) first ??= readProcess(Number(pid));
  });
  readStream(child.stdio[descriptors.notice], (chunk) => {
    notice = append(notice, chunk);
  });
  return {
    findFirst: () => first,
    findExitCode() {
      const [, code] = /"exit-code": (\d+)/.exec(status) ?? [];
      return code === undefined ? undefined : Number(code);
    },
    // A shell reports there when a signal ended what it ran.
    toSignal: (code) => (notice === "" ? undefined : findSignal(code - 128)),
  };
}

function readStream(stream: ChildProcess["stdio"][number], onChunk: (chunk: Uint8Array) => void): void {
  stream?.on("error", () => undefined);
  stream?.on("data", onChunk);
}

/** As far as it is worth reading. */
function append(text: string, chunk: Uint8Array): string {
  return text.length > maxLength ? text : text + Buffer.from(chunk).toString("latin1");
}

function findSignal(number: number): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  return names.find((name) => constants.signals[name] === number);
}
