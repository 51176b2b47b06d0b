/** Commands of plain words: the only ones that a rule can judge, because the shell changes nothing in them (S-11). */

/** ASCII without anything that a shell reads, and letters and digits of every script. */
const plainText = /^[\p{L}\p{M}\p{N}_./:@%+=, \t-]*$/u;

/**
 * The words of a command, as the shell will see them (S-12). Undefined if it holds anything else: operators, quotes,
 * expansions, comments, several lines, control or invisible characters, or a variable set in front. Linear time.
 */
export function parseWords(command: string): string[] | undefined {
  if (!plainText.test(command)) return undefined;
  const words = command.split(/[ \t]+/).filter((word) => word !== "");
  return words[0]?.includes("=") ? undefined : words;
}
