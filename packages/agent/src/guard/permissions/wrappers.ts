/** Programs that only change how long or how eagerly another one runs: a rule for that one covers both. */

/** Options of each wrapper, and the number of words before the program that are its own. */
const wrappers: Readonly<
  Record<string, { readonly switches: RegExp; readonly valued: RegExp; readonly own: RegExp[] }>
> = {
  time: { switches: /^-p$/, valued: /^$/, own: [] },
  nohup: { switches: /^$/, valued: /^$/, own: [] },
  nice: { switches: /^(?:-\d+|-n-?\d+|--adjustment=-?\d+)$/, valued: /^-n$/, own: [] },
  timeout: {
    switches: /^(?:--foreground|--preserve-status|-v|--verbose|--(?:signal|kill-after)=\w+|-[sk]\w+)$/,
    valued: /^(?:-s|-k)$/,
    own: [/^\d+(?:\.\d+)?[smhd]?$/],
  },
};

/** A wrapper may wrap another one, so many times. */
const MAX_WRAPPERS = 3;

/** The words of the program that a wrapper runs; the same words if there is none, or one of an unknown form. */
export function unwrapCommand(words: readonly string[]): readonly string[] {
  let rest = words;
  for (let depth = 0; depth < MAX_WRAPPERS; depth += 1) rest = unwrapOnce(rest) ?? rest;
  return rest;
}

function unwrapOnce(words: readonly string[]): readonly string[] | undefined {
  const [program = "", ...behind] = words;
  if (!Object.hasOwn(wrappers, program)) return undefined;
  const { switches, valued, own } = wrappers[program]!;
  let at = 0;
  while (at < behind.length) {
    if (valued.test(behind[at]!)) at += 2;
    else if (switches.test(behind[at]!)) at += 1;
    else break;
  }
  if (own.some((pattern, index) => !pattern.test(behind[at + index] ?? ""))) return undefined;
  const inner = behind.slice(at + own.length);
  const first = inner[0] ?? "";
  return first === "" || first.startsWith("-") || first.includes("=") ? undefined : inner;
}
