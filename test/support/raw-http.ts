/** Requests byte by byte, as no client library would send them. */
import { connect } from "node:net";

/** How long the server may be silent. Milliseconds. */
const SILENCE_MS = 3000;

/** What came back. */
export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends the bytes, and reads the first answer, or until the server closes the connection. */
export async function sendRaw(port: number, request: string | Uint8Array): Promise<RawAnswer> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  let answer: RawAnswer | undefined;
  await new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      answer = parseAnswer(Buffer.concat(chunks));
      if (answer) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve());
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    socket.write(request);
  });
  return answer ?? { status: 0, headers: new Map(), body: "" };
}

/** Undefined while something is missing. */
function parseAnswer(bytes: Buffer): RawAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [line = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Map(
    lines.map((text) => {
      const colon = text.indexOf(":");
      return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()] as const;
    }),
  );
  const body = bytes.subarray(end + 4);
  if (body.length < Number(headers.get("content-length") ?? 0)) return undefined;
  return { status: Number(line.split(" ")[1]), headers, body: body.toString() };
}
