/** A real terminal for tests: a private tmux server, keys in, screen out. */
import { execFileSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { sheafProgram } from "./sheaf.ts";

export interface Terminal {
  /** Types text as it is; names such as `Enter`, `C-c`, `Down` go through `press`. */
  type(text: string): void;
  press(...keys: readonly string[]): void;
  /** Bytes as a keyboard or a paste sends them. */
  send(bytes: Buffer): void;
  resize(columns: number, rows: number): void;
  /** The screen once it shows this. @throws when it does not within 20 s; the message has the screen. */
  waitFor(text: string | RegExp): Promise<string>;
  /** What is on the screen and above it. */
  read(): string;
  /** The process of the program in it; undefined once it has ended. */
  readPid(): number | undefined;
  /** What `stty -a` says of the terminal. */
  readModes(): string;
  close(): void;
}

let opened = 0;

/** Opens a terminal with a shell, in which Sheaf is started; the shell stays when Sheaf ends. */
export function openTerminal(options: {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}): Terminal {
  const { columns, rows, cwd, args, environment = {} } = options;
  // A server that was told to end may hold its socket for a moment longer.
  opened += 1;
  const socket = `${cwd}/tmux-${opened}`;
  const tmux = (...words: readonly string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: cwd, TERM: "xterm-256color", LANG: "C.UTF-8" },
    });
  const command = [process.execPath, sheafProgram, ...args].map(quote).join(" ");
  const variables = Object.entries({ SHEAF_HOME: `${cwd}/home`, PS1: "SHELL> ", ...environment });
  const shell = `cd ${quote(cwd)}; export ${variables.map(([name, value]) => `${name}=${quote(value)}`).join(" ")}; ${command}; exec sh`;
  tmux("-u", "new-session", "-d", "-s", "test", "-x", `${columns}`, "-y", `${rows}`, shell);
  const read = (): string => tmux("capture-pane", "-t", "test", "-p", "-S", "-500");
  const panePid = tmux("display-message", "-t", "test", "-p", "#{pane_pid}").trim();
  return {
    type: (text) => void tmux("send-keys", "-t", "test", "-l", text),
    press: (...keys) => void tmux("send-keys", "-t", "test", ...keys),
    send: (bytes) => void tmux("send-keys", "-t", "test", "-H", ...Array.from(bytes, (byte) => byte.toString(16))),
    resize: (width, height) => void tmux("resize-window", "-t", "test", "-x", `${width}`, "-y", `${height}`),
    read,
    async waitFor(text) {
      const wanted =
        typeof text === "string" ? (screen: string) => screen.includes(text) : (screen: string) => text.test(screen);
      for (const end = Date.now() + 20_000; Date.now() < end; await wait(50)) {
        const screen = read();
        if (wanted(screen)) return screen;
      }
      throw new Error(`the terminal does not show ${String(text)}:\n${read()}`);
    },
    readPid() {
      try {
        const [pid] = execFileSync("pgrep", ["-P", panePid, "-f", "sheaf.js"], { encoding: "utf8" }).split("\n");
        return pid ? Number(pid) : undefined;
      } catch {
        return undefined;
      }
    },
    readModes() {
      const tty = tmux("display-message", "-t", "test", "-p", "#{pane_tty}").trim();
      return execFileSync("stty", ["-F", tty, "-a"], { encoding: "utf8" });
    },
    close: () => void tmux("kill-server"),
  };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
