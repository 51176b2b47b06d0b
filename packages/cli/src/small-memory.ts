/** Memory of programs that run for long, so that they take little (docs/performance.md). */

/**
 * MiB of one half of the space for new objects. With hundreds of streams, 8 MiB take a fifth more CPU time; 32 MiB save
 * little, and each MiB counts three times.
 */
const nurseryOption = "--max-semi-space-size=16";

/** The C library would give each thread a heap of its own, and what is free in one is not free for the others. */
const heapsVariable = "MALLOC_ARENA_MAX";
const heaps = "2";

/** Node's 4 threads for reads, writes and names of hosts would all wait for one slow disk. */
const threadsVariable = "UV_THREADPOOL_SIZE";
const threads = "32";

/** The user's own size for new objects. */
function hasChosenNursery(): boolean {
  return `${process.execArgv.join(" ")} ${process.env.NODE_OPTIONS ?? ""}`.includes("semi-space-size");
}

/** Options that V8 reads at each collection. Its own values let 100 MB of garbage wait in a run whose objects take 13 MB. */
const earlyCollection = ["--semi-space-growth-factor=1", "--heap-growing-percent=30"];

/**
 * Garbage of this process is collected early from now on, because each turn writes a request as long as the conversation.
 * Costs no restart, which would delay the first request. What the user has chosen stays.
 */
export function collectEarly(): void {
  if (hasChosenNursery()) return;
  // Not by `import`, which takes longer.
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  for (const option of earlyCollection) setFlagsFromString(option);
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
  if (execArgv.includes(nurseryOption) && env[threadsVariable] === threads) {
    // The first read starts the threads.
    process.getBuiltinModule("node:fs").access("/", () => undefined);
    delete env[threadsVariable];
  }
  if (!process.execve || hasChosenNursery() || argv.some((word) => passedOn.test(word))) return;
  // Its only warning says that the call is new.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    // The user's own choice stays.
    const environment = { [heapsVariable]: heaps, [threadsVariable]: threads, ...env };
    process.execve(execPath, [execPath, nurseryOption, ...execArgv, ...argv.slice(1)], environment);
  } catch {
    process.emitWarning = emitWarning;
  }
}
