/** Tables of programs that run others or a text, with the place of these in their words. Deny rules use them. */

/** Place of the program that a runner runs. Blanks separate options; an unlisted option may have a value or not. */
export interface Runner {
  /** Options whose value is the next word. */
  readonly valued?: string;
  /** Number of operands before the program. */
  readonly skips?: number;
  /** True if it adds words from its input. */
  readonly isAppending?: true;
  /** True if it reads commands from its input when it has no program. */
  readonly readsInput?: true;
}

/** Words and values, by the first of these words. */
type ByProgram<T> = ReadonlyMap<string, readonly (readonly [words: readonly string[], value: T])[]>;

export function toTable<T>(rows: readonly (readonly [names: string, value: T])[]): ByProgram<T> {
  const pairs = rows.flatMap(([names, value]) => names.split(", ").map((name) => [name.split(" "), value] as const));
  return Map.groupBy(pairs, ([[program = ""]]) => program);
}

/** Returns a table's values for a command, with the place of the key's last word. Its words may be anywhere. */
export function findEntries<T>(
  table: ByProgram<T>,
  program: string,
  words: readonly string[],
): { readonly at: number; readonly value: T }[] {
  return (table.get(program) ?? []).flatMap(([[, ...subcommands], value]) => {
    let at = 0;
    for (const word of subcommands) at = at < 0 ? at : words.indexOf(word, at + 1);
    return at < 0 ? [] : [{ at, value }];
  });
}

const inContainer =
  "-a -c -e -h -m -p -u -v -w --add-host --cap-add --cap-drop --cpus --device --dns --env --env-file --expose --gpus --group-add --hostname --index --ip --ipc --label --link --log-driver --memory --mount --name --net --network --pid --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --tmpfs --ulimit --user --userns --volume --volumes-from --workdir";

/** Runners by program, or by program and subcommand. */
export const runners: ByProgram<Runner> = toTable<Runner>([
  ["env, genv", { valued: "-C -P -a -u --argv0 --chdir --unset" }],
  ["sudo", { valued: "-C -D -R -T -U -g -h -p -r -t -u --chdir --chroot --close-from --command-timeout --group --host --other-user --prompt --role --type --user", readsInput: true }],
  ["doas, nix-shell, vagrant ssh", { valued: "-C -u", readsInput: true }],
  ["script, sg, su", { valued: "-G -g -s -w --group --shell --supp-group --whitelist-environment", skips: 1, readsInput: true }],
  ["exec, time", { valued: "-a -f -o --format --output" }],
  ["gnice, ionice, nice", { valued: "-P -c -n -p -u --adjustment --class --classdata" }],
  ["gtimeout, timeout", { valued: "-k -s --kill-after --signal", skips: 1 }],
  ["gstdbuf, stdbuf", { valued: "-e -i -o --error --input --output" }],
  ["flock", { valued: "-E -w --conflict-exit-code --timeout --wait", skips: 1 }],
  ["heroku run, watch", { valued: "-a -e -n -q -r -s --app --equexit --interval" }],
  ["gxargs, xargs", { valued: "-E -I -J -L -P -R -S -a -d -n -s --arg-file --delimiter --max-args --max-chars --max-lines --max-procs --process-slot-var", isAppending: true }],
  ["autossh, ssh", { valued: "-B -D -E -F -I -J -L -O -Q -R -S -W -b -c -e -i -l -m -o -p -w", skips: 1, readsInput: true }],
  ["npx, npm exec, npm x", { valued: "-p -w --package --workspace", readsInput: true }],
  ["bun x, bunx, pnpm dlx, pnpm exec, pnpx, yarn dlx, yarn exec, yarn node, yarn workspaces foreach", { valued: "-C -F -p --dir --filter --package" }],
  ["docker compose exec, docker compose run, docker create, docker exec, docker run, docker-compose exec, docker-compose run, nerdctl exec, nerdctl run, podman create, podman exec, podman run", { valued: inContainer, skips: 1 }],
  ["kubectl exec, oc exec, oc rsh", { valued: "-c -f -n --container --filename --namespace", skips: 1 }],
  ["aws-vault exec, chamber exec, chroot, chrt, direnv exec, envdir, faketime, gosu, ip netns exec, kubectl debug, kubectl run, limactl shell, lxc exec, lxc-attach, machinectl shell, mosh, multipass exec, npm explore, nvm exec, onchange, rsh, nix develop, nix run, nix shell, rustup run, s6-setuidgid, setuidgid, su-exec, systemd-nspawn, taskset, uv tool, yarn workspace", { skips: 1 }],
  ["bundle exec, cabal exec, conda run, devbox run, doppler run, foreman run, git bisect run, git shell, git submodule foreach, hatch run, honcho run, infisical run, lerna exec, mamba run, mise exec, mise x, nodenv exec, nx exec, op run, opam exec, pdm run, perf record, perf stat, pipenv run, pipx run, poetry run, pyenv exec, rbenv exec, rye run, stack exec, tox exec, uv run, uvx, volta run", {}],
  ["arch, builtin, busybox, caffeinate, cargo watch, catatonit, catchsegv, capsh, cgexec, chokidar, choom, chpst, chronic, colima ssh, command, corepack, cpulimit, cross-env, dbus-run-session, dotenv, dumb-init, eatmydata, entr, env-cmd, envconsul, fakeroot, firejail, inotifywait, ld.so, lima, linux32, linux64, ltrace, minikube ssh, nodemon, nohup, nsenter, numactl, pkexec, prlimit, proot, proxychains, proxychains4, reflex, retry, rlwrap, runcon, rush, sem, setarch, setpriv, setsid, ssh-agent, sshpass, strace, systemd-inhibit, systemd-run, tini, torsocks, toybox, unbuffer, unshare, valgrind, watchexec, watchman-make, with-contenv, wsl, x86_64, xcrun, xvfb-run, zellij run", {}],
]); // prettier-ignore

/** Programs that read a text as bash does, or much like it. */
export const shells: ReadonlySet<string> = new Set("ash bash csh dash fish ksh mksh rbash sh tcsh zsh".split(" "));

/** Programs that run a file of their language, or code in their words or their input. */
export const interpreters: ReadonlySet<string> = new Set((
  "bun elixir expect groovy guile julia lua luajit node nodejs octave osascript perl php powershell pwsh pypy python r racket rscript " +
  "ruby scala tclsh ts-node tsx wish"
).split(" ")); // prettier-ignore

/** Programs that run others in a special way: commands in their words or input, or a language that can run programs. */
export const languages: ByProgram<true> = toTable([[
  "agetty, at, batch, bwrap, cmd, concurrently, crontab, cscript, dc, deno eval, deno repl, ed, emacs, erl, ex, fc, gdb, ghci, git filter-branch, git for-each-repo, gnuplot, hyperfine, iex, irb, jshell, lldb, m4, nvim, parallel, runuser, sbcl, screen, start-server-and-test, start-stop-daemon, timeit, tmux, vi, view, vim, vimdiff, xterm",
  true,
]]); // prettier-ignore

/** True if the whole purpose of a program is to run others, or text. */
export function isListedRunner(name: string): boolean {
  const isWhole = [runners, languages].some((table) => table.get(name)?.some(([words]) => words.length === 1));
  return isWhole || interpreters.has(name) || shells.has(name);
}

/** True if a subcommand, which may be shortened, runs the words after it. */
export function runsSubcommand(program: string, word: string): boolean {
  return (runners.get(program) ?? []).some(([[, name]]) => name !== undefined && isCutShort(word, name));
}

export function isCutShort(word: string, name: string): boolean {
  return word === name || (word.length > 1 && name.startsWith(word));
}

/** Options before a subcommand with the next word as value, for common programs. For others, it tries both. */
export const valuedOptions = toTable([
  ["git", "-C -c --attr-source --config-env --git-dir --namespace --super-prefix --work-tree"],
  ["npm, pnpm", "-C -F -w --access --dir --filter --prefix --registry --tag --userconfig --workspace"],
  ["docker, podman", "-H -c -l --config --connection --context --host --log-level"],
  ["kubectl, helm, oc", "-n -s --as --cluster --context --kubeconfig --namespace --server --token --user"],
  ["make, gmake, cargo, go, terraform", "-C -f -I --config --directory --file --makefile"],
]); // prettier-ignore

/** Programs with tasks as operands, in any order. */
export const taskPrograms: ReadonlySet<string> = new Set([
  "ant", "doit", "fab", "gmake", "gradle", "gradlew", "grunt", "gulp", "invoke", "just", "make", "mvn", "mvnw", "ninja", "npm-run-all", "rake", "run-p", "run-s", "scons", "task",
]); // prettier-ignore

/** Git's own subcommands: any other one may be an alias. */
export const gitSubcommands: ReadonlySet<string> = new Set((
  "add am apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format " +
  "checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config " +
  "count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch " +
  "fetch-pack filter-branch for-each-ref for-each-repo format-patch fsck gc grep hash-object help hook index-pack " +
  "init interpret-trailers lfs log ls-files ls-remote ls-tree maintenance merge merge-base merge-file merge-tree " +
  "mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune prune-packed " +
  "pull push range-diff read-tree rebase receive-pack reflog remote repack replace rerere reset restore rev-list " +
  "rev-parse revert rm send-email send-pack shell shortlog show show-branch show-ref sparse-checkout stash status " +
  "stripspace submodule subtree switch symbolic-ref tag update-index update-ref var verify-commit verify-pack " +
  "verify-tag version whatchanged worktree write-tree"
).split(" ")); // prettier-ignore

/** Other names of subcommands. */
export const subcommandNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cargo: { b: "build", c: "check", d: "doc", r: "run", rm: "remove", t: "test" },
  helm: { del: "uninstall", delete: "uninstall", ls: "list", un: "uninstall" },
  npm: { add: "install", c: "config", i: "install", in: "install", ins: "install", r: "uninstall", remove: "uninstall", rm: "uninstall", "run-script": "run", t: "test", tst: "test", un: "uninstall", unlink: "uninstall", up: "update", upgrade: "update", x: "exec" },
  pnpm: { i: "install", rm: "remove", "run-script": "run", un: "remove", uninstall: "remove", up: "update", upgrade: "update" },
}; // prettier-ignore

/** Programs whose subcommands may be shortened. */
export const shorteningPrograms: ReadonlySet<string> = new Set(["bundle", "composer", "gem", "hg", "ip", "npm", "svn"]);

/** Optional words before a subcommand: `docker image push`. */
export const subcommandGroups: Readonly<Record<string, readonly string[]>> = {
  docker: ["container", "image"],
  podman: ["container", "image"],
};
