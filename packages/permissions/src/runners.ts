/** Programs that run others, or run text, and where that is in their words. The tests of deny rules go through it. */

/** How a program takes what it runs. Options are separated by blanks; one that is not listed may have a value or not. */
export interface Runner {
  /** Options whose value is the next word. */
  readonly valued?: string;
  /** Options whose value a shell reads. */
  readonly texts?: string;
  /** Operands before the program. */
  readonly skips?: number;
  /** `NAME=value` may come before the program. */
  readonly takesSettings?: true;
  /** A shell reads all the words, joined. */
  readonly isJoined?: true;
  /** A shell reads each operand. */
  readonly isEachText?: true;
  /** It adds words that it reads. */
  readonly isAppending?: true;
  /** Without a program it reads commands. */
  readonly readsInput?: true;
  /** With such an option before the program, nothing runs. */
  readonly idle?: string;
}

/** How an interpreter takes what it runs. Letters are those of options with one dash. */
export interface Interpreter {
  /** Letters of options whose value is code. */
  readonly code: string;
  /** Letters of other options with a value, in the same word or the next. */
  readonly valued?: string;
  /** Letters of options with a value in the same word. */
  readonly joined?: string;
  readonly longCode?: string;
  readonly longValued?: string;
  /** With such an option it runs nothing that a rule could name. */
  readonly idle?: string;
  /** The letter of the option that names a module; its words follow. */
  readonly module?: string;
}

function toTable<T>(rows: readonly (readonly [names: string, value: T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries(rows.flatMap(([names, value]) => names.split(", ").map((name) => [name, value])));
}

const inContainer =
  "-a -c -e -h -m -p -u -v -w --add-host --cap-add --cap-drop --cpus --device --dns --env --env-file --expose --gpus --group-add --hostname --index --ip --ipc --label --link --log-driver --memory --mount --name --net --network --pid --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --tmpfs --ulimit --user --userns --volume --volumes-from --workdir";

/** By program, or by program and subcommand. */
export const runners: Readonly<Record<string, Runner>> = toTable<Runner>([
  ["command", { idle: "-v -V -pv" }],
  ["exec", { valued: "-a" }],
  ["env, genv", { valued: "-C -P -a -u --argv0 --chdir --unset", takesSettings: true }],
  ["cross-env", { takesSettings: true }],
  ["sudo", { valued: "-C -D -R -T -U -g -h -p -r -t -u --chdir --chroot --close-from --command-timeout --group --host --other-user --prompt --role --type --user", idle: "-K -V -k -l -v", takesSettings: true, readsInput: true }],
  ["doas", { valued: "-C -u", readsInput: true }],
  ["su", { valued: "-G -g -s -w --group --shell --supp-group --whitelist-environment", texts: "-c --command --session-command", skips: 1, readsInput: true }],
  ["sg", { texts: "-c", skips: 1, isJoined: true, readsInput: true }],
  ["time", { valued: "-f -o --format --output", takesSettings: true }],
  ["gnice, nice", { valued: "-n --adjustment" }],
  ["ionice", { valued: "-P -c -n -p -u --class --classdata" }],
  ["gtimeout, timeout", { valued: "-k -s --kill-after --signal", skips: 1 }],
  ["gstdbuf, stdbuf", { valued: "-e -i -o --error --input --output" }],
  ["chroot, chrt, envdir, faketime, gosu, ip netns exec, s6-setuidgid, setuidgid, su-exec, taskset", { skips: 1 }],
  ["flock", { valued: "-E -w --conflict-exit-code --timeout --wait", texts: "-c --command", skips: 1 }],
  ["watch", { valued: "-n -q --equexit --interval", isJoined: true }],
  ["gxargs, xargs", { valued: "-E -I -J -L -P -R -S -a -d -n -s --arg-file --delimiter --max-args --max-chars --max-lines --max-procs --process-slot-var", isAppending: true }],
  ["autossh, ssh", { valued: "-B -D -E -F -I -J -L -O -Q -R -S -W -b -c -e -i -l -m -o -p -w", idle: "-G -N -O -Q -V", skips: 1, isJoined: true, readsInput: true }],
  ["script", { texts: "-c --command", skips: Number.POSITIVE_INFINITY, readsInput: true }],
  ["concurrently, hyperfine, start-server-and-test", { isEachText: true }],
  ["cargo watch", { valued: "-i -w -x", texts: "-s --shell" }],
  ["nodemon", { texts: "-x --exec" }],
  ["chokidar, entr, watchman-make", { texts: "-c -s --command --run" }],
  ["nix-shell", { texts: "--command --run", readsInput: true }],
  ["vagrant ssh", { texts: "-c --command", readsInput: true }],
  ["npm explore", { skips: 1 }],
  ["npx, npm exec, npm x", { valued: "-p -w --package --workspace", texts: "-c --call", readsInput: true }],
  ["yarn workspace", { skips: 1 }],
  ["bun x, bunx, pnpm dlx, pnpm exec, pnpx, yarn dlx, yarn exec, yarn workspaces foreach", { valued: "-C -F -p --dir --filter --package" }],
  ["bundle exec, cabal exec, mise exec, mise x, nodenv exec, nx exec, opam exec, pyenv exec, rbenv exec, stack exec, volta run", {}],
  ["conda run, devbox run, doppler run, foreman run, hatch run, honcho run, infisical run, mamba run, op run, pdm run, pipenv run, pipx run, poetry run, rye run, uv run, uvx", {}],
  ["aws-vault exec, chamber exec, direnv exec, lxc exec, nvm exec, rustup run, uv tool", { skips: 1 }],
  ["heroku run", { valued: "-a -r -s -e --app", isJoined: true }],
  ["docker compose exec, docker compose run, docker create, docker exec, docker run, docker-compose exec, docker-compose run, nerdctl exec, nerdctl run, podman create, podman exec, podman run", { valued: inContainer, texts: "--health-cmd", skips: 1 }],
  ["kubectl debug, kubectl run, limactl shell, lxc-attach, machinectl shell, mosh, multipass exec, onchange, rsh, systemd-nspawn", { skips: 1 }],
  ["kubectl exec, oc exec, oc rsh", { valued: "-c -f -n --container --filename --namespace", skips: 1 }],
  ["git bisect run", {}],
  ["git submodule foreach, lerna exec", { isJoined: true }],
  ["git shell", { texts: "-c" }],
  ["arch, builtin, busybox, caffeinate, catatonit, capsh, cgexec, chpst, chronic, colima ssh, corepack, dumb-init, eatmydata, proxychains, proxychains4, retry, ssh-agent, tini, wsl, xcrun, catchsegv, choom, cpulimit, dbus-run-session, dotenv, env-cmd, envconsul, fakeroot, firejail, inotifywait, ld.so, lima, linux32, linux64, ltrace, minikube ssh, nohup, nsenter, numactl, perf record, perf stat, pkexec, prlimit, proot, reflex, rlwrap, runcon, rush, sem, setarch, setpriv, setsid, sshpass, strace, systemd-inhibit, systemd-run, torsocks, tox exec, toybox, unbuffer, unshare, valgrind, watchexec, with-contenv, x86_64, xvfb-run, zellij run", {}],
]); // prettier-ignore

/** Programs that read a text as bash does, or much like it. */
export const shells: ReadonlySet<string> = new Set("ash bash csh dash fish ksh mksh rbash sh tcsh zsh".split(" "));

export const interpreters: Readonly<Record<string, Interpreter>> = toTable<Interpreter>([
  ["pypy, python", { code: "c", valued: "QWX", longValued: "--check-hash-based-pycs", idle: "-V -VV -h --help --version", module: "m" }],
  ["node, nodejs, ts-node, tsx", { code: "ep", valued: "CPr", longCode: "--eval --print", longValued: "--conditions --env-file --env-file-if-exists --experimental-loader --import --input-type --loader --project --require --test-name-pattern --test-reporter --test-reporter-destination --tsconfig", idle: "-h -v --help --run --test --v8-options --version" }],
  ["bun", { code: "ep", longCode: "--eval --print", idle: "-h -v --help --revision --version" }],
  ["perl", { code: "Ee", joined: "DFIMVdimx", idle: "-h -v --help --version" }],
  ["ruby", { code: "e", valued: "CEIr", joined: "FKix", idle: "-h -v --help --version" }],
  ["php", { code: "BERr", valued: "Scdtz", idle: "-h -i -m -v -S --help --ini --version" }],
  ["lua, luajit", { code: "e", valued: "l", idle: "-v" }],
  ["r, rscript", { code: "e", valued: "dfg", idle: "--help --version" }],
  ["julia", { code: "Ee", valued: "CHJLpt", longCode: "--eval --print", idle: "-h -v --help --version" }],
  ["expect, groovy, guile, octave, osascript, powershell, pwsh, racket, scala, tclsh, wish", { code: "CEce", longCode: "--eval", idle: "--version" }],
  ["elixir", { code: "e", valued: "r", longCode: "--eval --rpc-eval", idle: "-h -v --help --version" }],
]); // prettier-ignore

/** Programs whose own language can run others, and that read it from their words or their input. */
export const languages: ReadonlySet<string> = new Set([
  "agetty", "at", "batch", "bwrap", "cmd", "crontab", "cscript", "dc", "deno eval", "deno repl", "ed", "emacs", "erl", "ex", "fc", "gdb",
  "ghci", "git for-each-repo", "gnuplot", "iex", "irb", "jshell", "lldb", "m4", "nvim", "parallel", "runuser", "sbcl", "screen",
  "start-stop-daemon", "timeit", "tmux", "vi", "view", "vim", "vimdiff", "xterm",
]); // prettier-ignore

/** Whether all that a program does is run others, or text. */
export function isListedRunner(name: string): boolean {
  return Object.hasOwn(runners, name) || Object.hasOwn(interpreters, name) || shells.has(name) || languages.has(name);
}

/** Options whose value is a command, by program or by program and subcommand. */
export const commandOptions: Readonly<Record<string, string>> = {
  compgen: "-C",
  complete: "-C",
  fish: "-C --command --init-command",
  "git archive": "--exec",
  "git clone": "-u --upload-pack",
  "git difftool": "-x --extcmd",
  "git fetch": "--upload-pack",
  "git fetch-pack": "--exec --upload-pack",
  "git filter-branch": "--commit-filter --env-filter --index-filter --msg-filter --parent-filter --setup --tag-name-filter --tree-filter",
  "git grep": "-O --open-files-in-pager",
  "git ls-remote": "--exec --upload-pack",
  "git pull": "--upload-pack",
  "git push": "--exec --receive-pack",
  "git rebase": "-x --exec",
  go: "-exec -toolexec -vettool",
  helm: "--post-renderer",
  man: "-H -P --html --pager",
  mapfile: "-C",
  npm: "--browser --editor --git --script-shell --shell --viewer",
  readarray: "-C",
  rg: "--hostname-bin --pre",
  rsync: "--rsync-path",
  scp: "-S -o",
  sftp: "-S -o",
  sort: "--compress-program",
  split: "--filter",
  ssh: "-o",
  tar: "-F -I --checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command --use-compress-program",
  wget: "--use-askpass",
  zip: "-TT --unzip-command",
}; // prettier-ignore

/** Options before a subcommand whose value is the next word. */
export const valuedOptions: Readonly<Record<string, string>> = toTable([
  ["git", "-C -c --attr-source --config-env --git-dir --namespace --super-prefix --work-tree"],
  ["npm, npx", "-C -w --access --cache --loglevel --otp --prefix --registry --tag --userconfig --workspace"],
  ["pnpm", "-C -F --dir --filter --filter-prod --loglevel --reporter --workspace-concurrency"],
  ["yarn", "--cache-folder --cwd --modules-folder --mutex --use-yarnrc"],
  ["docker, docker-compose, podman", "-H -c -f -l -p --config --connection --context --env-file --file --host --log-level --profile --project-directory --project-name --url"],
  ["kubectl, oc", "-n -s --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --cluster --context --kubeconfig --namespace --password --request-timeout --server --tls-server-name --token --user --username -v"],
  ["helm", "-n --kube-apiserver --kube-context --kube-token --kubeconfig --namespace --registry-config --repository-cache --repository-config"],
  ["cargo", "-C -Z --color --config --explain"],
  ["go", "-C"],
  ["gh", "-R --hostname --repo"],
  ["terraform, tofu, terragrunt", ""],
  ["apt, apt-get", "-a -c -o -t --config-file --default-release --host-architecture --option --target-release"],
  ["pip", "--cache-dir --cert --client-cert --exists-action --keyring-provider --log --proxy --python --retries --timeout --trusted-host"],
  ["poetry", "-C -P --directory --project"],
  ["systemctl, journalctl", "-H -M -P -n -o -p -s -t --host --job-mode --kill-whom --lines --machine --output --property --root --signal --state --type --what"],
  ["aws", "--ca-bundle --cli-connect-timeout --cli-read-timeout --color --endpoint-url --output --profile --query --region"],
  ["gcloud", "--account --billing-project --configuration --format --project --verbosity"],
  ["make, gmake", "-C -E -I -W -f -j -l -o --assume-new --directory --eval --file --include-dir --makefile --old-file"],
  ["mvn, mvnw", "-P -T -f -gs -pl -rf -s -t --activate-profiles --file --projects --settings --threads"],
  ["gradle, gradlew", "-I -b -c -g -p -x --exclude-task --gradle-user-home --init-script --project-dir"],
]); // prettier-ignore

/** Programs each of whose operands is a task, in any order. */
export const taskPrograms: ReadonlySet<string> = new Set([
  "ant", "doit", "fab", "gmake", "gradle", "gradlew", "grunt", "gulp", "invoke", "just", "make", "mvn", "mvnw", "ninja", "npm-run-all", "rake", "run-p", "run-s", "scons", "task",
]); // prettier-ignore

/** What git knows by itself: any other subcommand may be an alias. */
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

/** Programs that take subcommands that are cut short. */
export const shorteningPrograms: ReadonlySet<string> = new Set(["bundle", "composer", "gem", "hg", "ip", "npm", "svn"]);

/** Words before a subcommand that may be left out: `docker image push`. */
export const subcommandGroups: Readonly<Record<string, readonly string[]>> = {
  docker: ["container", "image"],
  podman: ["container", "image"],
};
