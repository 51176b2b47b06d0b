/** Random commands out of allowed and forbidden parts and everything that the shell has to join them (S-13). */
import fc from "fast-check";

/** What the rules of the fuzz and the closed list let run. */
const allowed: readonly string[] = [
  "ls", "ls -l", "echo a", "echo 'a; b'", 'echo "a && b"', "echo a\\;b", "true", "false", "pwd", "cat", "cat x", "head -n 1 x", "grep -c a x", "grep 'a|b' x",
  "sort x", "wc -l", "printf '%s\\n' a", "basename a/b", "basename 'mark'", "echo mark", "find . -name mark", "find . -type f", "xargs basename", "env basename x",
  "sed -n 1p x", "sort -u x", "echo '> MARK'", "echo \\> MARK", "timeout 5 ls", "time ls", "nice ls", "cd . && ls", "ls 2>&1", "ls >/dev/null", "cat </dev/null",
  "echo 'it'\\''s'", "echo \"it's\"", "echo \"a\\\"b\"", "echo a#b", "ls # mark", "# mark\nls", "ls \\\n  -l",
]; // prettier-ignore

/** What leaves the marker when it runs. */
const forbidden: readonly string[] = [
  "mark", "mark x", "'mark'", '"mark"', "m''ark", "m\\ark", "/sheaf/bin/mark", "echo a > MARK", "echo a >> MARK", "> MARK", "ls &> MARK", "ls 2> MARK",
  "env mark", "xargs mark", "find . -exec mark \\;", "find . -fprint MARK", "sort -o MARK", "sort x -oMARK", "sh -c mark", "bash -c 'mark'", "eval mark", "command mark", "exec mark",
  "FOO=1 mark", "timeout 5 mark", "time mark", "nice mark", "! mark", "builtin eval mark", "trap mark EXIT", "sed -n '1w MARK' /etc/passwd", "find . -exec sh -c mark {} +", "grep -r a . > MARK",
  "basename a > MARK", "cat | mark", "hash -p /sheaf/bin/mark ls; ls", "printf -v 'a[$(mark)]' x", "cd . && mark", "env basename x; mark", "xargs -n 1 mark",
]; // prettier-ignore

const joints: readonly string[] = [
  ";", "; ", " ; ", " && ", "&&", " || ", "||", " | ", "|", " |& ", " & ", "&", "\n", " \n", ";\n", "\\\n", " \\\n", " \\\n;", ";;", "", " ", "\t", "\r\n", " #", "\n#", "\n\n", " -- ", " \\; ", "|\n", "&&\n", "; \\\n",
]; // prettier-ignore

/** `$` stands for the command that is put in. */
const frames: readonly string[] = [
  "($)", "( $ )", "{ $; }", "{ $\n}", "{$;}", "$($)", "`$`", '"$($)"', "echo $($)", "echo `$`", 'echo "$($)"', 'echo "`$`"', "echo '$'", 'echo "$"', "echo $'$'", "cat <($)", "ls > >($)",
  "! $", "if $; then ls; fi", "if true; then $; fi", "for x in a; do $; done", "while $; do break; done", "until $; do break; done", "case x in x) $;; esac", "f() { $; }; f", "f() ( $ )\nf",
  "function f { $; }; f", "eval '$'", 'eval "$"', "eval $", "bash -c '$'", 'sh -c "$"', "cat <<E\n$\nE\n", "cat <<'E'\n$\nE\n", "cat <<-E\n\t$\n\tE\n", "cat <<E\n$($)\nE\n", "cat <<< '$'", 'cat <<< "$($)"',
  "# $\n", "#$", "ls # $\n", "'$'", '"$"', "x='$'; $x", "x='$'; eval \"$x\"", "coproc $; wait", "trap '$' EXIT", "$ > /dev/null", "$ 2>&1", "$ </dev/null", "$ > MARK", "timeout 5 $", "time $", "time -p $", "nice $", "nice -n 5 $",
  "nohup $", "env $", "command $", "exec $", "builtin $", "xargs $", "find . -exec $ \\;", "[[ -n $($) ]]", "[ -z x ] || $", "(( $ ))", "echo $(( $ ))", "echo ${x:-$}", "echo ${x:-`$`}", "a=($)", "a=$ ls", "PATH=. $", "select x in a; do $; break; done",
  "{ $; } | cat", "($) && ls", "cd . && $", "cd src && $", "$ &", "$ & wait", "set -- $; \"$@\"", "alias x='$'\nx", "\\\n$", "$\\\n", "<<X $\nX\n", "echo \\\"$", "echo \\'$", "echo \\\\$", "echo \\\n$", "echo {$,a}", "{$,}", "time { $; }",
]; // prettier-ignore

/** Signs that the shell reads, one of which is put somewhere, or put in the place of another. */
const signs: readonly string[] = [
  ..."'\"`$\\;&|<>(){}[]#!~*?= \t\n\r-^%@,:+".split(""),
  "&&",
  "||",
  "\\\n",
  "<<",
  ">>",
  "$(",
  "${",
  "((",
  "mark",
  " mark ",
  ">MARK",
];

const atom = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...allowed) },
  { weight: 1, arbitrary: fc.constantFrom(...forbidden) },
);

/** Kept small: a command of a few parts meets the same forms as one of many. */
const { command: composed } = fc.letrec<{ command: string; list: string; frame: string }>((tie) => ({
  command: fc.oneof({ maxDepth: 4, depthSize: "small" }, atom, tie("list"), tie("list"), tie("frame")),
  list: fc.tuple(tie("command"), fc.constantFrom(...joints), tie("command")).map((parts) => parts.join("")),
  frame: fc
    .tuple(fc.constantFrom(...frames), tie("command"))
    // In a text with two holes the first is the substitution's own sign.
    .map(([frame, inner]) => frame.replace(/\$(?![({\w"@])/, () => inner)),
}));

const mutation = fc.record({
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  sign: fc.constantFrom(...signs),
  replaced: fc.constantFrom(0, 0, 1),
});

/** A random command. No NUL: the system takes none. */
export const arbitraryCommand: fc.Arbitrary<string> = fc
  .tuple(
    composed,
    fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(mutation, { maxLength: 3 }) }),
  )
  .map(([command, mutations]) =>
    mutations.reduce((text, { place, sign, replaced }) => {
      const at = Math.floor(place * (text.length + 1));
      return text.slice(0, at) + sign + text.slice(at + replaced);
    }, command),
  );

/** The rules under which the allowed parts run. */
export const fuzzRules: readonly string[] = [
  "Shell(basename)", "Shell(find)", "Shell(grep)", "Shell(sort)", "Shell(env basename)", "Shell(xargs basename)", "Shell(sed -n)", "Shell(cat)", "Shell(ls)", "Shell(timeout 5)", "Shell(bash)",
]; // prettier-ignore
