/** Memory of a program that runs for days: what lives shortly gets less room than Node gives it (docs/performance.md). */

/** MiB of one half of the space for new objects. Larger ones save little time here, and each MiB counts three times. */
export const nurseryOption = "--max-semi-space-size=8";

/** Paths of descriptors that a shell passed on; they do not survive. */
const passedOn = /\/fd\/\d/;

/**
 * Starts this process again with the option, once: V8 reads it before anything runs. Returns where that is not possible,
 * or where the user has chosen another size; then all goes on as it is.
 */
export function useSmallNursery(): void {
  const { execArgv, argv, env, execPath } = process;
  const given = `${execArgv.join(" ")} ${env.NODE_OPTIONS ?? ""}`;
  if (!process.execve || given.includes("semi-space-size") || argv.some((word) => passedOn.test(word))) return;
  // Its only warning says that the call is new.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    process.execve(execPath, [execPath, nurseryOption, ...execArgv, ...argv.slice(1)], env);
  } catch {
    process.emitWarning = emitWarning;
  }
}
