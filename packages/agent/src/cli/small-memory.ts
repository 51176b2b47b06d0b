/** Memory of a program that runs for days: how its process is started, so that it takes little (docs/performance.md). */

/** MiB of one half of the space for new objects. Larger ones save little time here, and each MiB counts three times. */
const nurseryOption = "--max-semi-space-size=8";

/** The C library would give each thread a heap of its own, and what is free in one is not free for the others. */
const heapsVariable = "MALLOC_ARENA_MAX";
const heaps = "2";

type Environment = Readonly<Record<string, string | undefined>>;

/** Options of Node, and the environment of the process; what the user has chosen stays. */
function toSmallMemory(environment: Environment): {
  readonly options: readonly string[];
  readonly environment: Environment;
} {
  return { options: [nurseryOption], environment: { [heapsVariable]: heaps, ...environment } };
}

/** Paths of descriptors that a shell passed on; they do not survive. */
const passedOn = /\/fd\/\d/;

/**
 * Starts this process again with small memory, once: V8 and the C library read it before anything runs. Returns where
 * that is not possible, or where the user has chosen another size; then all goes on as it is.
 */
export function useSmallMemory(): void {
  const { execArgv, argv, env, execPath } = process;
  // It has done its work: no child inherits it.
  if (execArgv.includes(nurseryOption) && env[heapsVariable] === heaps) delete env[heapsVariable];
  const given = `${execArgv.join(" ")} ${env.NODE_OPTIONS ?? ""}`;
  if (!process.execve || given.includes("semi-space-size") || argv.some((word) => passedOn.test(word))) return;
  // Its only warning says that the call is new.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    const { options, environment } = toSmallMemory(env);
    process.execve(execPath, [execPath, ...options, ...execArgv, ...argv.slice(1)], environment);
  } catch {
    process.emitWarning = emitWarning;
  }
}
