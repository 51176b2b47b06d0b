/** Notices a model that makes the same calls and gets the same results, over and over (C41). */
import { hash } from "node:crypto";
import type { ToolResult } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { ToolInvocation } from "../tools/tool.ts";

/** Numbers of turns in a row without anything new. Each warns the model; the last ends the run. */
const TURNS_TO_WARN: ReadonlySet<number> = new Set([2, 4, 6]);
const TURNS_TO_END = 8;

export interface LoopGuard {
  addTurn(calls: readonly ToolInvocation[], results: readonly ToolResult[]): void;
  /** Note for the model before the next turn; undefined: none. */
  readonly note: string | undefined;
  /** The reason why the run ends; undefined: it continues. */
  readonly failure: SheafError | undefined;
}

/**
 * A turn is idle when each of its calls was made before with the same arguments and gave the same result. The count
 * restarts after anything new, such as an edit or another file. A turn that waits for a running command does not change
 * it.
 */
export function createLoopGuard(): LoopGuard {
  const seen = new Set<string>();
  /** The last result of each call, by tool and arguments. */
  const last = new Map<string, string>();
  let idleTurns = 0;
  let lastNames = "";
  return {
    addTurn(calls, results) {
      const byId = new Map(results.map((result) => [result.callId, result]));
      if (calls.every((call) => isWaiting(call, byId.get(call.callId)))) return;
      let isIdle = true;
      for (const call of calls) {
        const result = byId.get(call.callId);
        const [made, key] = [toKey(call), toKey(call, result)];
        // The output of a command that changes, and changes back, shows that something happens.
        const isKnown = result?.effect?.kind === "command" ? last.get(made) === key : seen.has(key);
        if (!isKnown) isIdle = false;
        seen.add(key);
        last.set(made, key);
      }
      idleTurns = isIdle ? idleTurns + 1 : 0;
      lastNames = [...new Set(calls.map(({ toolName }) => toolName))].join(", ");
    },
    get note() {
      if (!TURNS_TO_WARN.has(idleTurns)) return undefined;
      return (
        `The last ${idleTurns} turns made calls (${lastNames}) that were made before, with the same results. ` +
        `Do something else, or end and list what you still need. After ${TURNS_TO_END} such turns the run ends.`
      );
    },
    get failure() {
      if (idleTurns < TURNS_TO_END) return undefined;
      const message = `the model repeated the same calls (${lastNames}) with the same results for ${idleTurns} turns: say more exactly what to do, or use another model`;
      return new SheafError("LOOP_DETECTED", message, { source: "provider" });
    },
  };
}

/** Milliseconds that a call must be ready to wait for output. */
const WAIT_MS = 1000;

function isWaiting({ arguments: args }: ToolInvocation, result: ToolResult | undefined): boolean {
  const isRunning = result?.effect?.kind === "terminal" && result.effect.isRunning;
  return isRunning && Number(args["wait_ms"]) >= WAIT_MS;
}

function toKey({ toolName, arguments: args, rawArguments }: ToolInvocation, result?: ToolResult): string {
  const { status, output, note, bytes, error } = result ?? {};
  // The note has the exit code, and the bytes also count a middle that the output lacks.
  return hash(
    "sha256",
    JSON.stringify([toolName, args, rawArguments, status, output, note, bytes, error?.message]),
    "base64",
  );
}
