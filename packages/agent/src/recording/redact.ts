/** Removes private data from a cassette, for sharing (docs/guide/record-and-replay.md). It still replays. */
import { basename } from "node:path";
import type { Attachment, ModelEvent, OwnEventBody } from "@sheaf/protocol";
import { keyShapes } from "@sheaf/base/key-shapes";
import { findSecrets, type SecretPlace } from "@sheaf/base/text-mask";
import type { Cassette, CassetteHeader, CassetteRecord } from "./cassette.ts";

/** Private text that no pattern recognizes. */
export interface PrivateWords {
  /** Names of the user, replaced where they are a whole word. */
  readonly names: readonly string[];
  /** Values that are replaced wherever they occur. */
  readonly secrets: readonly string[];
}

/** Text to text of the same length. */
type Redact = (text: string) => string;

/** Well-known forms of secrets: the first group stays, the second is replaced. */
const patterns: readonly RegExp[] = [
  ...keyShapes,
  /(:\/\/)([^\s/:@"'\\]+:[^\s/@"'\\]+)(?=@)/g,
  /()([\w.%+-]+@[\w-]+(?:\.[\w-]+)+)/g,
  // The folder of a user, on any system; in JSON text a backslash is doubled.
  /(\/(?:home|Users)\/)([^/\s"'`\\:,;]*[^/\s"'`\\:,;.)])/g,
  /(\b[A-Za-z]:\\{1,2}Users\\{1,2})([^\\\s"'`:,;]*[^\\\s"'`:,;.)])/g,
];

/** Fields whose text belongs to the format. Arguments of tools have none. */
const ownFields: ReadonlySet<string> = new Set([
  "type",
  "callId",
  "providerCallId",
  "toolName",
  "documentType",
  "responseId",
  "conversationId",
  "planId",
  "mode",
  "apiKeySource",
  "permissionMode",
  "sandbox",
  "sheafVersion",
  "status",
  "code",
  "source",
  "kind",
  "operation",
  "signal",
  "stream",
  "access",
  "finishReason",
  "hashBefore",
  "hashAfter",
]);

/**
 * Replaces private words by `x`, and drops digests, raw bytes and opaque provider data, which nobody could review.
 * Lengths and line breaks stay.
 */
export function redactCassette(cassette: Cassette, words: PrivateWords): Cassette {
  const redact = createRedact(words);
  const kept = cassette.records.flatMap(withoutOpaqueData);
  const records = redactDeltas(kept, redact).map((record) =>
    withoutDigest(redactValue(record, redact) as CassetteRecord),
  );
  const header = redactValue(withoutOpaqueHistory(cassette.header), redact) as Cassette["header"];
  return { file: cassette.file, header: { ...header, redacted: true }, records };
}

function withoutOpaqueHistory({ history, ...header }: CassetteHeader): CassetteHeader {
  if (!history) return header;
  const kept = history.map((message) =>
    message.role === "assistant"
      ? { ...message, content: message.content.filter(({ type }) => type !== "provider_data") }
      : message,
  );
  return { ...header, history: kept };
}

function withoutOpaqueData(record: CassetteRecord): readonly CassetteRecord[] {
  if (record.type === "provider_response" || record.type === "provider_bytes") return [];
  if (record.type === "model_events") {
    return [{ ...record, events: record.events.filter(({ type }) => type !== "provider_data") }];
  }
  if (record.type !== "events") return [record];
  const types = record.types.filter((type) => type !== "provider_data");
  return types.length === 0 ? [] : [{ ...record, types }];
}

function createRedact({ names, secrets }: PrivateWords): Redact {
  const literals = secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .toSorted((a, b) => b.length - a.length)
    .map(escapePattern);
  const words = names.map((name) => `(?<![\\p{L}\\p{N}_])${escapePattern(name)}(?![\\p{L}\\p{N}_])`);
  const known = [...literals, ...words];
  const own = known.length === 0 ? [] : [new RegExp(`()(${known.join("|")})`, "gu")];
  const all = [...own, ...patterns];
  return (text) =>
    all.reduce(
      (result, pattern) => result.replace(pattern, (_, kept: string, hidden: string) => kept + toPlaceholder(hidden)),
      findSecrets(text).reduce(hidePlace, text),
    );
}

function hidePlace(text: string, { start, end }: SecretPlace): string {
  return text.slice(0, start) + toPlaceholder(text.slice(start, end)) + text.slice(end);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Lines stay where they are, so that line numbers keep their meaning. */
function toPlaceholder(hidden: string): string {
  return hidden.replaceAll(/[^\r\n]/g, "x");
}

/** Redacts every string of a value; field names stay. */
function redactValue(value: unknown, redact: Redact, isForeign = false): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact, isForeign));
  if (typeof value !== "object" || value === null) return value;
  if (!isForeign && isDelta(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      // Nobody could review an image.
      !isForeign && name === "attachments"
        ? redactAttachments(item, redact)
        : !isForeign && ownFields.has(name)
          ? item
          : redactValue(item, redact, isForeign || name === "arguments"),
    ]),
  );
}

/** Their names and sizes (S-102). */
function redactAttachments(attachments: unknown, redact: Redact): unknown {
  if (!Array.isArray(attachments)) return redactValue(attachments, redact);
  const kept = attachments as readonly Attachment[];
  return kept.map((attachment) => ({ ...attachment, name: redact(attachment.name), sha256: "", data: "" }));
}

type Delta = Extract<
  OwnEventBody,
  { type: "text_delta" | "reasoning_delta" | "tool_call_arguments_delta" | "tool_output_delta" }
>;
type OutputDelta = Extract<CassetteRecord, { type: "tool_output" }>;

/** Pieces of a longer text, which `redactDeltas` has redacted as a whole. */
function isDelta(value: object): value is Delta | OutputDelta {
  const type = "type" in value ? value.type : undefined;
  return (
    type === "text_delta" ||
    type === "reasoning_delta" ||
    type === "tool_call_arguments_delta" ||
    type === "tool_output_delta" ||
    type === "tool_output"
  );
}

/** A word may be cut over several deltas: their joined text is redacted, then cut at the same places. */
function redactDeltas(records: readonly CassetteRecord[], redact: Redact): CassetteRecord[] {
  const texts = new Map<string, string>();
  visitDeltas(records, (key, text) => {
    texts.set(key, (texts.get(key) ?? "") + text);
    return text;
  });
  const redacted = new Map([...texts].map(([key, text]) => [key, redact(text)]));
  const places = new Map<string, number>();
  return visitDeltas(records, (key, text) => {
    const at = places.get(key) ?? 0;
    places.set(key, at + text.length);
    return redacted.get(key)!.slice(at, at + text.length);
  });
}

/** Replaces the text of each delta; the key names the text that it is a piece of. */
function visitDeltas(
  records: readonly CassetteRecord[],
  replace: (key: string, text: string) => string,
): CassetteRecord[] {
  let turn = 0;
  const visitEvent = (event: ModelEvent): ModelEvent => {
    if (!isDelta(event)) return event;
    if (event.type !== "tool_call_arguments_delta") {
      return { ...event, text: replace(`${event.type} ${turn}`, event.text) };
    }
    return { ...event, delta: replace(`arguments ${event.callId}`, event.delta) };
  };
  const visitAgentEvent =
    (agent: string) =>
    (event: OwnEventBody): OwnEventBody => {
      if (event.type === "text_delta" || event.type === "reasoning_delta") {
        return { ...event, text: replace(`${event.type} of ${agent}`, event.text) };
      }
      if (event.type !== "tool_call_arguments_delta" && event.type !== "tool_output_delta") return event;
      return { ...event, delta: replace(`${event.type} ${event.callId}`, event.delta) };
    };
  return records.map((record) => {
    if (record.type === "model_request") turn = record.turn;
    if (record.type === "model_events") return { ...record, events: record.events.map(visitEvent) };
    if (record.type === "agent_events") return { ...record, events: record.events.map(visitAgentEvent(record.callId)) };
    if (record.type !== "tool_output") return record;
    return { ...record, delta: replace(`output ${record.stream} ${record.callId}`, record.delta) };
  });
}

/** The digests of the original text would no longer match. */
function withoutDigest(record: CassetteRecord): CassetteRecord {
  if (record.type === "events") return { type: "events", time: record.time, types: record.types };
  if (record.type === "model_request") return { type: "model_request", turn: record.turn };
  return record;
}

const secretName = /key|token|secret|passw|credential|auth|cookie|private|dsn/i;

/** Shorter values are too common to be secrets. UTF-16 units. */
const MIN_SECRET = 6;

/** Names that identify nobody. */
const commonNames: ReadonlySet<string> = new Set(["root", "user", "home", "node", "runner", "ubuntu"]);

/** @param home the user's folder. */
export function readPrivateWords(
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): PrivateWords {
  const names = [environment.USER, environment.LOGNAME, environment.USERNAME, basename(home)];
  const secrets = Object.entries(environment).flatMap(([name, value = ""]) =>
    // A path or a switch is not a secret, whatever its variable is called.
    secretName.test(name) && value.length >= MIN_SECRET && !value.startsWith("/") ? [value] : [],
  );
  return {
    names: [...new Set(names)].filter(
      (name) => name !== undefined && name.length > 2 && !commonNames.has(name),
    ) as string[],
    secrets: [...new Set(secrets)],
  };
}
