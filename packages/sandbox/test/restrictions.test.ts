/** Each restriction of the sandbox, by a command that would get through without it (S-30, S-34). */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { planMounts } from "../src/hold/mounts.ts";
import { listOwnFolders, makeRunFolder } from "../src/hold/own-folders.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, openHeldRun, runHeld } from "./sandbox-run.ts";

const source = join(import.meta.dirname, "../src");

describeWithSandbox("files", () => {
  test(verifies("S-30", "the workspace is writable, and nothing else of the machine is"), async () => {
    const workspace = createFolder("workspace");
    const outside = createFolder("outside", { "file.txt": "old" });
    symlinkSync(outside, join(workspace, "link"));
    const commands = [
      "echo new > inside.txt",
      `echo new > ${outside}/file.txt`,
      "echo new > link/file.txt",
      "echo new > /etc/sheaf-test",
      "echo new > /usr/bin/sheaf-test",
      'echo new > "$HOME/.bashrc"',
    ];
    for (const command of commands) await runHeld(command, workspace, {}, { ...environment, HOME: outside });
    expect(readFileSync(join(workspace, "inside.txt"), "utf8")).toBe("new\n");
    expect(readFileSync(join(outside, "file.txt"), "utf8")).toBe("old");
    for (const path of ["/etc/sheaf-test", "/usr/bin/sheaf-test", join(outside, ".bashrc")])
      expect(existsSync(path)).toBe(false);
    expect((await runHeld("touch /etc/x", workspace)).stderr).toMatch(/Read-only file system/);
  });

  test(verifies("S-30", "/tmp and shared memory are the run's own, and gone with it"), async () => {
    const { stdout } = await runHeld(
      "echo x > /tmp/own; echo x > /dev/shm/own; echo x > /var/tmp/own; ls /tmp /var/tmp /dev/shm",
    );
    expect(stdout).toBe("/dev/shm:\nown\n\n/tmp:\nown\n\n/var/tmp:\nown\n");
    for (const path of ["/tmp/own", "/dev/shm/own", "/var/tmp/own"]) expect(existsSync(path)).toBe(false);
  });

  test(verifies(["S-78", "S-250"], "no command replaces temporary folders of Sheaf, wherever TMPDIR is"), async () => {
    const workspace = createFolder("workspace", { "tmp/x": "" });
    vi.stubEnv("TMPDIR", join(workspace, "tmp"));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await runHeld("ls tmp; echo y > /tmp/y; cat /tmp/y", workspace)).stdout).toBe("x\ny\n");
    const [first = "", second = ""] = listOwnFolders({ writable: [] });
    const make = (stateFolder: string | undefined, ...writable: string[]): string => {
      const folder = makeRunFolder({ stateFolder, writable });
      onTestFinished(() => rmSync(folder, { recursive: true }));
      return folder.replace(/\/runs\/.*/, "");
    };
    expect(make(undefined, workspace, "/")).toBe(first);
    expect(make(undefined, first)).toBe(second);
    expect(make(join(workspace, "state"), workspace)).toBe(join(workspace, "state"));
    expect(make(join(workspace, "state"), join(workspace, "state"))).toBe(first);
    expect(make("/proc/none", workspace)).toBe(first);
    expect(() => make(workspace, workspace, first, second)).toThrow(/start in another folder/);
  });

  test.each([
    ["another folder", () => createFolder("workspace")],
    ["the folder of all temporary files", () => "/tmp"],
    ["a folder around the state folder", dirname],
  ])(verifies("S-250", "%s shows no file of another run, whatever TMPDIR is"), async (_, toWorkspace) => {
    const state = createFolder("state");
    const variables = { ...environment, SHEAF_HOME: state };
    vi.stubEnv("TMPDIR", createFolder("temporary"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const spy = `find /tmp /var/tmp ${state} ${dirname(state)} ${process.env.TMPDIR} -name sheaf-canary 2>/dev/null`;
    for (const stateFolder of [state, undefined]) {
      const run = openHeldRun(createFolder("workspace"), { stateFolder }, variables);
      await run.run("echo x > /tmp/sheaf-canary; echo x > /dev/shm/sheaf-canary");
      const { stdout } = await runHeld(spy, toWorkspace(state), {}, variables, { stateFolder: state });
      expect(stdout).toBe("");
    }
  });

  test(verifies("S-30", "what is protected in the workspace cannot be changed, moved or replaced"), async () => {
    const files = {
      ".git/HEAD": "x",
      ".git/config": "old",
      ".git/hooks/pre-commit": "old",
      ".vscode/tasks.json": "old",
      ".envrc": "old",
    };
    const workspace = createFolder("workspace", files);
    for (const name of Object.keys(files).slice(1)) {
      const other = name.replace(/^[^/]+/, "other");
      await runHeld(`echo new > ${name}`, workspace);
      await runHeld(`echo new > new; mv new ${name}`, workspace);
      await runHeld(`ln -f new ${name}; ln -sf new ${name}`, workspace);
      await runHeld(`rm -rf ${name}; rm -rf ${name.split("/")[0]}`, workspace);
      await runHeld(
        `mv ${name.split("/")[0]} ${other.split("/")[0]}; mkdir -p $(dirname ${name}); echo new > ${name}`,
        workspace,
      );
      expect(readFileSync(join(workspace, name), "utf8")).toBe("old");
    }
  });

  test(verifies("S-250", "nor does a run with another SHEAF_HOME"), async () => {
    const home = createFolder("home", { ".local/share/sheaf/runs/canary": "x" });
    const variables = { ...environment, HOME: home, SHEAF_HOME: createFolder("other") };
    const { stdout } = await runHeld(`find ${home} -name canary`, createFolder("workspace"), {}, variables);
    expect(stdout).toBe("");
  });

  test(verifies("S-34", "secret folders and files of the user cannot be read"), async () => {
    const home = createFolder("home", {
      ".ssh/id_ed25519": "CANARY-KEY",
      ".netrc": "CANARY-NETRC",
      "linked/credentials": "CANARY-LINKED",
      ".config/gh/hosts.yml": "CANARY-GH",
      ".config/Code/User/globalStorage/state.vscdb": "CANARY-CODE",
      ".databrickscfg": "CANARY-DATABRICKS",
      ".local/share/fish/fish_history": "CANARY-FISH",
      ".pulumi/credentials.json": "CANARY-PULUMI",
      "sheaf/credentials.json": "CANARY-SHEAF",
      "refusals.txt": "readable",
    });
    symlinkSync("linked", join(home, ".aws"));
    const variables = { ...environment, HOME: home, SHEAF_HOME: join(home, "sheaf") };
    const { output } = await runHeld(
      'cat "$HOME/refusals.txt"; grep -r CANARY "$HOME"; cat "$HOME/.netrc" "$HOME/.aws/credentials"',
      createFolder("workspace"),
      {},
      variables,
    );
    expect(output).toContain("readable");
    expect(output).not.toContain("CANARY-");
  });

  test(verifies("S-34", "of a secret folder around the workspace, only the workspace is seen"), async () => {
    const home = createFolder("home", {
      ".cursor/worktrees/one/file": "old",
      ".cursor/worktrees/two/file": "CANARY-TWO",
      ".cursor/key": "CANARY-KEY",
    });
    const workspace = join(home, ".cursor/worktrees/one");
    const variables = { ...environment, HOME: home };
    const { stdout } = await runHeld(
      "cat ../../key ../two/file; ls -A ../..; ls -A ..; cat file",
      workspace,
      {},
      variables,
    );
    expect(stdout).toBe("worktrees\none\nold");
    await runHeld("echo new > file; echo new > ../beside; echo new > ../../key", workspace, {}, variables);
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("new\n");
    expect(readFileSync(join(home, ".cursor/key"), "utf8")).toBe("CANARY-KEY");
    const { stdout: beside } = await runHeld("touch ../beside ../../beside 2>&1; ls ..", workspace, {}, variables);
    expect(beside).toContain("Read-only file system");
    expect(beside).toMatch(/\none\n$/);
  });

  test(verifies("S-34", "a link with a protected name opens no secret folder"), async () => {
    const home = createFolder("home", { ".ssh/id_ed25519": "CANARY-KEY", ".ssh/more/key": "CANARY-MORE" });
    symlinkSync(".ssh/more", join(home, ".vscode"));
    symlinkSync(join(home, ".ssh"), join(home, ".idea"));
    const { output } = await runHeld(
      "cat .vscode/* .idea/* .ssh/* .ssh/more/*",
      home,
      {},
      { ...environment, HOME: home },
    );
    expect(output).not.toContain("CANARY-");
  });
});

describeWithSandbox("later commands of a run", () => {
  test(verifies(["S-30", "S-34"], "a secret place and the processes are hidden where they are mounted again"), () => {
    const home = createFolder("home", { ".ssh/key": "x", "work/denied": "x" });
    const others = createFolder("others", { "proc/x": "", "covered/.ssh/key": "x" });
    // Stands for the mount's content.
    symlinkSync(home, join(others, "all"));
    const toEntry = (root: string, type = "ext4") => [{ device: "8:1", root, type, isWritable: true }];
    const mounts = planMounts({
      workspace: join(home, "work"),
      secretPlaces: [join(home, ".ssh")],
      copies: new Map(),
      privateMounts: [{ path: join(others, "private"), access: "writable" }],
      writableMounts: [],
      cacheMounts: [],
      held: { kept: [], mounts: [{ path: join(home, "work/denied"), access: "hidden-file" }] },
      table: new Map([
        [home, toEntry("/home")],
        [join(others, "all"), toEntry("/home")],
        [join(others, "covered"), toEntry("/home")],
        [join(others, "private/all"), toEntry("/home")],
        ["/proc", toEntry("/", "proc")],
        [join(others, "proc"), toEntry("/", "proc")],
        [join(others, "gone"), toEntry("/", "proc")],
      ]),
    });
    const hidden = mounts.filter(({ access }) => access.startsWith("hidden")).map(({ path }) => path);
    const wanted = ["home/.ssh", "home/work/denied", "all/.ssh", "all/work/denied", "proc"];
    expect(hidden.toSorted()).toEqual(
      wanted.map((name) => (name.startsWith("home/") ? join(home, name.slice(5)) : join(others, name))).toSorted(),
    );
  });

  test(verifies(["S-30", "S-34"], "find hidden and read-only what is new since the command before"), async () => {
    const home = createFolder("home");
    const workspace = createFolder("workspace", { ".git/HEAD": "x", ".git/config": "old" });
    const { run } = openHeldRun(workspace, {}, { ...environment, HOME: home });
    await run("true");
    mkdirSync(join(home, ".ssh"));
    writeFileSync(join(home, ".ssh/id"), "CANARY-NEW");
    writeFileSync(join(workspace, "new"), "new");
    renameSync(join(workspace, "new"), join(workspace, ".git/config"));
    writeFileSync(join(workspace, ".envrc"), "new");
    const { stdout } = await run("cat ~/.ssh/id; ls ~/.ssh; echo changed > .git/config; echo changed > .envrc");
    expect(stdout).toBe("");
    for (const name of [".git/config", ".envrc"]) expect(readFileSync(join(workspace, name), "utf8")).toBe("new");
  });
});

describeWithSandbox("the kernel", () => {
  test(verifies("S-30", "no setting of the machine can be written, also not by root"), async () => {
    // The kernel asks for capabilities at /proc/pressure, and what is there changes nothing of the machine.
    const places = "-path '/proc/[0-9]*' -o -path /proc/pressure";
    const { stdout } = await runHeld(
      `find /proc /sys \\( ${places} \\) -prune -o -type f -writable -print 2>/dev/null`,
    );
    expect(stdout).toBe("");
    // The same value, so that nothing changes where it is written after all.
    const { exitCode } = await runHeld("cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness");
    expect(exitCode).not.toBe(0);
  });
});

describeWithSandbox("processes and network", () => {
  test(verifies("S-30", "other processes cannot be seen"), async () => {
    const { stdout } = await runHeld("ls -d /proc/[0-9]* | wc -l; kill -0 " + process.pid + " || echo unknown");
    expect(Number(stdout.split("\n")[0])).toBeLessThan(10);
    expect(stdout).toContain("unknown");
  });

  test(verifies("S-30", "no address of this machine or of another one can be reached"), async () => {
    const server = createServer((socket) => socket.end("reached"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const outcome = await runHeld(`cat < /dev/tcp/127.0.0.1/${port}; cat < /dev/tcp/192.0.2.1/80`);
    expect(outcome.stdout).toBe("");
    expect(outcome.stderr).toMatch(/Connection refused[\s\S]*Network is unreachable/);
  });

  test(verifies("S-30", "no socket file of the machine can be connected to, and no unix socket be made"), async () => {
    const workspace = createFolder("workspace");
    const path = join(workspace, "socket");
    const server = createServer((socket) => socket.end("reached"));
    await once(server.listen(path), "listening");
    onTestFinished(() => void server.close());
    const connect = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!"; connect(S, sockaddr_un("${path}")) or die; print <S>`;
    expect(await runHeld(`perl -e '${connect}'`, workspace)).toMatchObject({
      stdout: "",
      stderr: expect.stringMatching(/socket: Operation not permitted/),
    });
    const pair = `use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; socket(S, AF_INET, SOCK_STREAM, 0) or die; print "pair"`;
    expect(await runHeld(`perl -e '${pair}'`, workspace)).toMatchObject({ stdout: "pair" });
  });

  test(verifies("S-240", "no socket of a pair sends to a socket file, and connected pairs work"), async () => {
    const workspace = createFolder("workspace");
    const path = join(workspace, "socket");
    const bindSocket = `use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0) or die; bind(S, sockaddr_un("${path}")) or die`;
    const receive = `$| = 1; print "bound\n"; while (defined recv(S, $text, 99, 0)) { exit if $text eq "end"; print "$text\n" }`;
    const receiver = spawn("perl", ["-e", `${bindSocket}; ${receive}`]);
    onTestFinished(() => void receiver.kill());
    let received = "";
    receiver.stdout.on("data", (chunk: Buffer) => void (received += chunk.toString()));
    const ended = once(receiver, "close");
    await once(receiver.stdout, "data");
    const pairCall = process.arch === "x64" ? 53 : 199;
    const program = `
        use Socket;
        my $address = sockaddr_un("${path}");
        for my $type (SOCK_DGRAM, SOCK_RAW) {
          for my $flags (0, 0x800, 0x80000, 0x80800) {
            socketpair(A, B, AF_UNIX, $type | $flags, 0) or print("$!\n"), next;
            send(A, "pair $type $flags", 0, $address);
          }
        }
        my $pair = chr(0) x 8;
        if (syscall(${pairCall}, 1 << 32 | 1, 1 << 32 | 2, 0, $pair) == 0) {
          open(C, "+<&=", (unpack "ii", $pair)[0]);
          send(C, "wide", 0, $address);
        } else { print "$!\n" }
        for my $type (SOCK_STREAM, SOCK_SEQPACKET) {
          socketpair(A, B, AF_UNIX, $type, 0) or die;
          connect(A, $address) and send(A, "connected $type", 0);
          send(A, "named $type", 0, $address);
          send(A, "own $type", 0);
          recv(B, my $text, 99, 0);
          print "$text\n";
        }`;
    const { stdout, stderr } = await runHeld(`perl -e '${program}'`, workspace);
    expect(stderr).toBe("");
    expect(stdout).toBe(`${"Operation not permitted\n".repeat(9)}own 1\nnamed 5\n`);
    spawnSync("perl", [
      "-e",
      `use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0); send(S, "end", 0, sockaddr_un("${path}"))`,
    ]);
    await ended;
    expect(received).toBe("bound\n");
  });

  test(verifies("S-30", "no file gets the bit by which it would run with the rights of its owner"), async () => {
    const workspace = createFolder("workspace");
    const outcome = await runHeld(
      [
        "cp /bin/true one; chmod u+s one; chmod 6755 one; chmod 4755 .; install -m 4755 /bin/true two; mknod -m 4644 three p",
        `perl -e 'use Fcntl; sysopen(F, "four", O_CREAT | O_WRONLY, 04755) or print "$!\\n"'`,
        `perl -e 'open(F, ">", "five"); chmod(04755, *F) or print "$!\\n"'`,
        "chmod g+s one; chmod 2755 one; install -m 2755 /bin/true eight; mknod -m 2644 nine p; mkdir team; chmod g+s team",
        `perl -e 'use Fcntl; sysopen(F, "seven", O_CREAT | O_WRONLY, 02755) or print "$!\\n"'`,
        // Ordinary modes go on.
        `perl -e 'use Fcntl; sysopen(F, "six", O_CREAT | O_WRONLY, 0755) or die'`,
        "chmod 751 one; stat -c '%n %a' one six team",
      ].join("\n"),
      workspace,
    );
    const refused = "Operation not permitted\n";
    expect(outcome.stdout).toBe(`${refused.repeat(3)}one 751\nsix 755\nteam 755\n`);
    expect(outcome.stderr).toMatch(/Operation not permitted/);
    for (const name of readdirSync(workspace)) expect(statSync(join(workspace, name)).mode & 0o6000).toBe(0);
    expect(statSync(workspace).mode & 0o6000).toBe(0);
  });

  test(
    verifies(
      "S-30",
      "where the workspace is a team's, its folders keep the bit of the group, and no file is made with it",
    ),
    async () => {
      const workspace = createFolder("workspace");
      chmodSync(workspace, 0o2775);
      const outcome = await runHeld(
        [
          "mkdir inner; chmod 2770 inner; mkdir -p other; chmod -R g+w .; stat -c '%n %a' inner other; touch a; chmod u+s a",
          `perl -e 'use Fcntl; sysopen(F, "one", O_CREAT | O_WRONLY, 02755) or print "$!\\n"'`,
        ].join("\n"),
        workspace,
      );
      expect(outcome.stdout).toMatch(/^inner 2770\nother 277\d\nOperation not permitted\n$/);
      expect(statSync(join(workspace, "a")).mode & 0o6000).toBe(0);
      expect(readdirSync(workspace).toSorted()).toEqual(["a", "inner", "other"]);
    },
  );

  test(
    verifies("S-30", "no capability, no new one by a program, no namespace, no terminal, a session of its own"),
    async () => {
      const { stdout } = await runHeld(
        "grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'; ps -o sid= -p $$ | tr -d ' '",
      );
      const none = "0000000000000000";
      expect(stdout).toContain(
        `CapPrm:${none}\nCapEff:${none}\nCapBnd:${none}\nCapAmb:${none}\nNoNewPrivs:1\nSeccomp:2\n`,
      );
      expect((await runHeld("unshare -U true")).stderr).toMatch(/Operation not permitted/);
      expect((await runHeld("mount -t tmpfs x /mnt")).exitCode).not.toBe(0);
      expect((await runHeld("echo x > /dev/tty")).exitCode).not.toBe(0);
    },
  );
});

describeWithSandbox("descriptors", () => {
  test(verifies("S-30", "nothing that Sheaf has open is handed on, whatever its number"), async () => {
    const outside = createFolder("outside", { "file.txt": "CANARY-OPEN" });
    const program = `
      import { findSandbox } from ${JSON.stringify(join(source, "find/find-sandbox.ts"))};
      import { environment, runCommandIn } from ${JSON.stringify(join(import.meta.dirname, "run-command.ts"))};
      const workingDirectory = ${JSON.stringify(createFolder("workspace"))};
      const sandbox = await findSandbox({ setting: "enabled", workspace: workingDirectory, environment, now: Date.now });
      const command = "ls -l /proc/self/fd; cat /proc/self/fd/{77,200}/file.txt";
      for (const before of [[], ["true", "sleep 0.1"]]) {
        const { stdout } = await runCommandIn(sandbox, command, { workingDirectory }, environment, {}, before);
        process.stdout.write(stdout);
      }
    `;
    const node = [process.execPath, "--conditions=sheaf-source", "--input-type=module-typescript", "-e", program];
    const script = `exec 77<${JSON.stringify(outside)} 200<${JSON.stringify(outside)}; exec "$@"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...node], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout.match(/ 77 -> \/dev\/null/g)).toHaveLength(2);
    expect(stdout.match(/ 200 -> \/dev\/null/g)).toHaveLength(2);
    expect(stdout).not.toContain(outside);
    expect(stdout).not.toContain("CANARY");
  });
});

describeWithSandbox("a working folder that needs care", () => {
  test("has all that the host has", async () => {
    const workspace = createFolder("a b ü $HOME '");
    mkdirSync(join(workspace, "sub"));
    writeFileSync(join(workspace, "sub", "file"), "content");
    expect(await runHeld("cat sub/file; pwd", workspace)).toMatchObject({ stdout: `content${workspace}\n` });
  });
});
