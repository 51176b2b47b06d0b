/** `sheaf acp`: speaks the Agent Client Protocol on stdin and stdout, for editors. */
import { Readable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { createToolServers } from "@sheaf/agent/assemble/wire-servers";
import { createAcpAgent } from "../acp/agent.ts";
import type { ParsedArguments } from "../arguments.ts";
import type { CommandIo } from "../io.ts";
import { runLogin } from "./login.ts";
import { reportNotices } from "../report-error.ts";
import { toConfig } from "../run-config.ts";
import type { RunControl } from "../signals.ts";

/** Serves one editor until it leaves; `login PROVIDER` stores a key (C56). @throws SheafError USAGE, CONFIG_INVALID. */
export async function runAcp(parsed: ParsedArguments, io: CommandIo, control: RunControl): Promise<number> {
  const [word, ...rest] = parsed.positionals;
  if (word === "login") return runLogin({ ...parsed, positionals: rest }, io);
  // A wrong setting fails before the first message.
  const { notices } = toConfig(parsed.flags, io);
  reportNotices(notices, new Set(), io.writeError);
  const input = Readable.toWeb(io.openInput()) as ReadableStream<Uint8Array>;
  const lines = io.openOutput();
  const text = new TextDecoder();
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => lines.write(text.decode(chunk, { stream: true })),
  });
  const toolServers = createToolServers(io.environment, { maxResting: 8 }, new Map());
  const connection = createAcpAgent(parsed.flags, io, toolServers).connect(ndJsonStream(output, input));
  control.signal.addEventListener("abort", () => connection.close(), { once: true });
  await connection.closed;
  await toolServers.close();
  return control.exitCode ?? 0;
}
