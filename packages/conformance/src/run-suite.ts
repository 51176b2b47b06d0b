/** Runs checks against one server. */
import { levels, type Check, type Level } from "./check.ts";
import { Context, type ContextOptions } from "./context.ts";
import { suite } from "./suite.ts";
import { Skip, Violation } from "./violation.ts";

export interface SuiteOptions extends ContextOptions {
  /** The highest level to check. Default `interactive`. */
  readonly level?: Level;
  /** Ids of checks, or clauses; default: all. */
  readonly only?: readonly string[];
}

/** The way one check ended. */
export interface Outcome extends Omit<Check, "run"> {
  readonly status: "passed" | "failed" | "skipped";
  /** The broken clause, if the check failed. */
  readonly clause?: string;
  /** The problem, or the reason why the check was skipped. */
  readonly message?: string;
  /** Duration of the check. Milliseconds. */
  readonly durationMs: number;
}

/** Yields one outcome per check. The checks run one at a time, because a server has its limits. */
export async function* runSuite(options: SuiteOptions): AsyncGenerator<Outcome> {
  const context = new Context(options);
  for (const check of selectChecks(options)) {
    const { id, level, clauses, title } = check;
    const startedAt = performance.now();
    const result = await runCheck(check, context);
    yield { id, level, clauses, title, ...result, durationMs: Math.round(performance.now() - startedAt) };
  }
}

export function selectChecks({ level = "interactive", only }: Pick<SuiteOptions, "level" | "only">): readonly Check[] {
  return suite.filter((check) => {
    if (levels.indexOf(check.level) > levels.indexOf(level)) return false;
    return only === undefined || only.some((each) => each === check.id || check.clauses.includes(each));
  });
}

async function runCheck(check: Check, context: Context): Promise<Pick<Outcome, "status" | "clause" | "message">> {
  context.beginCheck();
  try {
    await check.run(context);
    return { status: "passed" };
  } catch (error) {
    const excuse = error instanceof Skip ? undefined : await context.findShortRun().catch(() => undefined);
    return toResult(check, excuse === undefined ? error : new Skip(excuse));
  }
}

function toResult({ clauses }: Check, error: unknown): Pick<Outcome, "status" | "clause" | "message"> {
  if (error instanceof Violation) return { status: "failed", clause: error.clause, message: error.message };
  if (error instanceof Skip) return { status: "skipped", message: error.message };
  // An answer so malformed that a check throws is also a failure.
  return { status: "failed", clause: clauses[0]!, message: `the check could not continue: ${String(error)}` };
}
