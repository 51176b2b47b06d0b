/** Settings that limit the memory of programs that run for long (docs/performance.md). */

/**
 * Size of one half of the space for new objects, in MiB, each of which is needed three times. With hundreds of streams,
 * 8 MiB take a fifth more CPU time; 32 MiB save little.
 */
const nurseryOption = "--max-semi-space-size=16";

/** Limits the C library to two heaps: otherwise each thread has one, whose free memory no other thread can use. */
const heapsVariable = "MALLOC_ARENA_MAX";
const heaps = "2";

/** Node's 4 threads for reads, writes and names of hosts would all wait for one slow disk. */
const threadsVariable = "UV_THREADPOOL_SIZE";
const threads = "32";

/** True if the user has chosen the size for new objects. */
function hasChosenNursery(): boolean {
  return `${process.execArgv.join(" ")} ${process.env.NODE_OPTIONS ?? ""}`.includes("semi-space-size");
}

/** Options that V8 reads at each collection. By default, 100 MB of garbage wait in a run whose objects take 13 MB. */
const earlyCollection = ["--semi-space-growth-factor=1", "--heap-growing-percent=30"];

/**
 * Makes this process collect garbage early, since each turn writes a request as long as the conversation. Needs no
 * restart, which would delay the first request. The user's choice has priority.
 */
export function collectEarly(): void {
  if (hasChosenNursery()) return;
  // An `import` takes longer.
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  for (const option of earlyCollection) setFlagsFromString(option);
}

/** Matches paths of descriptors that a shell passed on: these don't survive the restart. */
const passedOn = /\/fd\/\d/;

/**
 * Restarts this process once with small memory, which V8 and the C library set at the very start. Returns if that isn't
 * possible, or if the user has chosen another size.
 */
export function useSmallMemory(): void {
  const { execArgv, argv, env, execPath } = process;
  // Delete it after its effect, so that no child inherits it.
  if (execArgv.includes(nurseryOption) && env[heapsVariable] === heaps) delete env[heapsVariable];
  if (execArgv.includes(nurseryOption) && env[threadsVariable] === threads) {
    // The first read starts the threads.
    process.getBuiltinModule("node:fs").access("/", () => undefined);
    delete env[threadsVariable];
  }
  if (!process.execve || hasChosenNursery() || argv.some((word) => passedOn.test(word))) return;
  // Its only warning is that the call is new.
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
