/** Writes a document whose content is a string. */
import {
  createSha256,
  type DocumentEndData,
  type DocumentType,
  type PartialMetadata,
  type Sha256,
} from "@sheaf/protocol";
import { alwaysFinalLength, maxFinalContent, toUtf8Length } from "./payload-limits.ts";
import type { StreamWriter } from "./stream-writer.ts";

export interface ContentDocument {
  readonly id: string;
  /** The deltas so far, or "" once they exceed 1 MiB. */
  readonly text: string;
  write(delta: string): void;
  /** Sends the rest of `content`, if it starts with the deltas so far. */
  complete(content: string): void;
  /**
   * Ends the document. Its content is `content`, by default the joined deltas (N47); null only without any delta. Above
   * 1 MiB the hash and the length of the joined deltas replace it (N55).
   */
  end(metadata: PartialMetadata, content?: string | null): void;
}

/** Starts a document. `metadata` has the fields known so far (N46). */
export function startContentDocument(
  writer: StreamWriter,
  type: DocumentType,
  metadata: PartialMetadata,
): ContentDocument {
  return new OpenDocument(writer, type, metadata);
}

class OpenDocument implements ContentDocument {
  readonly id: string;
  readonly #writer: StreamWriter;
  text = "";
  /** Size of `text` in UTF-8; 0 until it may be too large. */
  #bytes = 0;
  #length = 0;
  /** Hash of the joined deltas, once they are too large. */
  #hash: Sha256 | undefined;

  constructor(writer: StreamWriter, type: DocumentType, metadata: PartialMetadata) {
    this.#writer = writer;
    this.id = writer.startDocument(type, pickDefined(metadata));
  }

  write(delta: string): void {
    if (delta === "") return;
    this.#writer.writeDelta("content_delta", this.id, delta);
    this.#keep(delta);
  }

  complete(content: string): void {
    if (this.#hash === undefined && content.startsWith(this.text)) this.write(content.slice(this.text.length));
  }

  end(metadata: PartialMetadata, content?: string | null): void {
    this.#writer.endDocument(this.id, pickDefined(metadata), this.#toFinalContent(content));
  }

  #keep(delta: string): void {
    this.#length += delta.length;
    if (this.#hash !== undefined) return this.#hash.update(delta);
    this.text += delta;
    if (this.#length > alwaysFinalLength) this.#limitText(delta);
  }

  /** Replaces the text by its hash, if its last part, `delta`, makes it too large. */
  #limitText(delta: string): void {
    this.#bytes += toUtf8Length(this.#bytes === 0 ? this.text : delta);
    if (this.#bytes <= maxFinalContent) return;
    this.#hash = startHash(this.text);
    this.text = "";
  }

  #toFinalContent(content: string | null | undefined): Partial<DocumentEndData> {
    if (content === null && this.#length === 0) return {};
    if (typeof content !== "string") {
      if (this.#hash === undefined) return { finalContent: this.text };
    } else {
      if (toUtf8Length(content) <= maxFinalContent) return { finalContent: content };
      this.complete(content);
    }
    const finalContentSha256 = (this.#hash ?? startHash(this.text)).digest();
    if (typeof content === "string" && finalContentSha256 !== startHash(content).digest()) {
      // A hash cannot express a large final content that differs from the deltas, so the content itself follows.
      return { finalContent: content };
    }
    return { finalContentSha256, finalContentLength: this.#length };
  }
}

function startHash(text: string): Sha256 {
  const hash = createSha256();
  hash.update(text);
  return hash;
}

/** Drops fields without a value: an unknown field is absent, not undefined. */
function pickDefined(fields: PartialMetadata): PartialMetadata {
  if (!Object.values(fields).includes(undefined)) return fields;
  const found: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name];
  return found;
}
