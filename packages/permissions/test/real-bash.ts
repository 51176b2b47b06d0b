/** Commands in a real bash, many in one sandbox, with a look at what each did. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "../../base/test/files/temporary-workspace.ts";

/** The forbidden program. What runs it, or writes to a file, leaves the marker of the command. */
const mark = "#!/bin/sh\n: >/work/MARK\n";

/** Notes the number of the command, then each argument, each with a NUL behind it. */
const recordArguments = "#!/bin/sh\nprintf '%s\\0' \"$INDEX\" \"$@\" >>/sheaf/log\nprintf '\\001' >>/sheaf/log\n";

/**
 * Runs each command as Sheaf does (`bash --noprofile --norc -c --`, fixed PATH, no input) in an empty folder, all in one
 * sandbox without network. Gives whether a file MARK was there afterwards. `programs`: those of the system on the path.
 */
export function runInRealBash(commands: readonly string[], programs: readonly string[]): boolean[] {
  const lines = runDriver(commands, programs, { mark }).trimEnd().split("\n");
  const indexes = new Set(lines.map((line) => (line === "" ? -1 : Number(line))));
  return commands.map((_, index) => indexes.has(index));
}

/** The words that bash gives to the program `args`, by command; undefined where it does not run it exactly once. */
export function readInRealBash(commands: readonly string[]): (readonly string[] | undefined)[] {
  const text = runDriver(commands, [], { args: recordArguments });
  const calls = Map.groupBy(text.split("\u0001").slice(0, -1), (call) => Number(call.slice(0, call.indexOf("\0"))));
  return commands.map((_, index) => {
    const [call, ...more] = calls.get(index) ?? [];
    return call === undefined || more.length > 0 ? undefined : call.split("\0").slice(1, -1);
  });
}

/** Runs the commands, and gives what they left in the log of the sandbox. */
function runDriver(
  commands: readonly string[],
  programs: readonly string[],
  own: Readonly<Record<string, string>>,
): string {
  const folder = createTemporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, body] of Object.entries(own)) writeFileSync(join(bin, name), body, { mode: 0o755 });
  for (const name of programs) {
    const file = ["/usr/bin", "/bin"].map((place) => join(place, name)).find(existsSync);
    if (file !== undefined) symlinkSync(file, join(bin, name));
  }
  writeFileSync(join(folder, "commands"), commands.map((command) => `${command}\0`).join(""));
  writeFileSync(join(folder, "driver"), driver);
  for (const name of ["log", "end"]) writeFileSync(join(folder, name), "");
  const result = spawnSync("bwrap", [...toBubblewrapWords(folder), "/bin/bash", "/sheaf/driver"], {
    encoding: "utf8",
    timeout: 60_000 + commands.length * 100,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (readFileSync(join(folder, "end"), "utf8") !== `ran ${commands.length}\n`) {
    throw new Error(`the sandbox broke off: ${result.stderr.slice(-500)}`);
  }
  return readFileSync(join(folder, "log"), "utf8");
}

/** Of the machine only its programs are there, and only those of the test are on the search path. */
function toBubblewrapWords(folder: string): string[] {
  const system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].map((path) => `--ro-bind-try ${path} ${path}`);
  const own = [
    "--unshare-all --die-with-parent --new-session --clearenv --setenv PATH /sheaf/bin",
    "--dev /dev --proc /proc --tmpfs /work --tmpfs /home --tmpfs /tmp --chdir /work",
    `--ro-bind ${folder} /sheaf --bind ${join(folder, "log")} /sheaf/log --bind ${join(folder, "end")} /sheaf/end`,
  ];
  return [...system, ...own].join(" ").split(" ");
}

/**
 * Descriptor 9 is a pipe that is read to its end, so that what runs on in the background is waited for too.
 * A loop without end is ended with all that it started.
 * `/work` is emptied only where something was left in it: most commands leave nothing, and a process costs time.
 */
const driver = `
exec >/dev/null 2>&1 </dev/null
ulimit -t 5
mapfile -d '' commands </sheaf/commands
shopt -s nullglob dotglob
for index in "\${!commands[@]}"; do
  cd /work
  held=$(INDEX=$index /usr/bin/timeout -s KILL 2 /bin/bash --noprofile --norc -c -- "\${commands[index]}" 9>&1 >/dev/null)
  if [ -e /work/MARK ]; then echo "$index" >>/sheaf/log; fi
  left=(/work/*)
  if [ \${#left[@]} -gt 0 ]; then /bin/rm -rf -- "\${left[@]}"; fi
done
echo "ran \${#commands[@]}" >>/sheaf/end
`;
