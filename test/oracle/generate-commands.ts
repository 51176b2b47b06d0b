/** Command lines for the oracle: those of the tests' tables, those of the fuzz, and both of them wrapped, joined and damaged. */
import fc from "fast-check";
import { arbitraryCommand } from "../../packages/agent/test/guard/permissions/command-arbitrary.ts";
import { everyday, marking, unclear, unnamed } from "../../packages/agent/test/guard/permissions/command-table.ts";
import { everydayLines, pushEvasions } from "../../packages/agent/test/guard/permissions/deny-table.ts";

const seed = 20_260_223;

const table: readonly string[] = [
  ...new Set([
    ...marking,
    ...unclear,
    ...everydayLines,
    ...pushEvasions,
    ...[...everyday, ...unnamed].map(([command]) => command),
  ]),
];

/** `$` is where the command goes. */
const wrappers: readonly string[] = [
  "sudo $", "sudo -u x $", "sudo -D src $", "env -C src $", "GIT_DIR=x $", "env A=1 $", "env -i $", "A=1 B=$x $", "timeout 5 $", "timeout -k 1 5 $", "nice -n 5 $", "nohup $ &", "time -p $", "xargs -n 1 $", "xargs -I{} $ {}",
  "find . -name x -exec $ {} +", "find . -exec $ \\;", "bash -c '$'", "sh -c \"$\"", "bash -lc '$'", "eval \"$\"", "command $", "exec $", "stdbuf -oL $", "setsid $", "ionice -c 3 $", "watch -n 1 '$'",
  "ssh host '$'", "docker run --rm x $", "docker exec x sh -c '$'", "npx $", "npm exec -- $", "npm exec -c '$'", "git -C src $", "git -c a.b=c $", "make -C src SHELL='$'", "cd src && $", "cd /tmp && $", "(cd src; $)",
  "x=$($)", "echo \"$($)\"", "echo `$`", "cat <($)", "$ > out.txt", "$ 2>&1", "$ >> out.txt 2>/dev/null", "$ | tee x", "$ | xargs $", "cat x | $", "$ < /dev/null", "if $; then $; fi", "for x in a b; do $; done",
  "while read -r x; do $; done < a", "$ && $", "$ || $", "$; $", "$ & $", "$\n$", "! $", "{ $; }", "( $ )", "f() { $; }; f", "trap '$' EXIT", "cat <<E\n$\nE\n", "cat <<'E' | sh\n$\nE\n", "# $\n$", "$ # $", "[[ -n $($) ]] && $",
]; // prettier-ignore

/** Words that make a difference to rules. */
const words: readonly string[] = [
  "--", "-c", "-e", "-exec", "-i", "-o", "x", "push", "rm", "git", "npm", "sudo", "$x", "\"$x\"", "'a b'", "*", "~", "../x", "/etc/passwd", ".env", "secret/key", "src/a.ts", "{a,b}", "$(ls)", "`ls`", "\\\n", "2>&1", ">x", "|", ";", "&&",
  "größe", "\u00a0", "\u202e", "\t", "\r", "\r\n", "'", "\"", "\\", "$'\\x41'", "${x:-y}", "a=b",
]; // prettier-ignore

/** `count` different lines, the same ones in every run. */
export function generateCommands(count: number): string[] {
  const commands = new Set(table);
  const random = createRandom(seed);
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)]!;
  const fuzzed = fc.sample(arbitraryCommand, { seed, numRuns: count / 2 });
  const makers: readonly (() => string)[] = [
    () => pick(fuzzed),
    () => pick(fuzzed),
    () => wrap(pick(table), pick),
    () => wrap(wrap(pick(table), pick), pick),
    () => damage(pick(table), random, pick),
    () => damage(wrap(pick(table), pick), random, pick),
    () => Array.from({ length: 1 + Math.floor(random() * 8) }, () => pick(words)).join(random() < 0.8 ? " " : ""),
  ];
  while (commands.size < count) commands.add(makers[Math.floor(random() * makers.length)]!());
  return [...commands].slice(0, count);
}

function wrap(command: string, pick: (list: readonly string[]) => string): string {
  return pick(wrappers).replaceAll(/\$(?![({\w])/g, () => (command.length > 200 ? pick(table) : command));
}

/** One to three words put in, taken out, doubled, or put in the place of another. */
function damage(command: string, random: () => number, pick: (list: readonly string[]) => string): string {
  let text = command;
  for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) {
    const at = Math.floor(random() * (text.length + 1));
    const removed = random() < 0.5 ? 0 : 1 + Math.floor(random() * 3);
    text = text.slice(0, at) + (random() < 0.3 ? "" : pick(words)) + text.slice(at + removed);
  }
  return text;
}

/** Numbers from 0 to 1: a linear congruential generator, whose high bits are good enough here. */
function createRandom(start: number): () => number {
  let state = BigInt(start);
  return () => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
}
