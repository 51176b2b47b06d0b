/** Makes documents from a model's text (N15 to N27). */
import type { CodePurpose, Mode, PartialMetadata, ReferenceCheck } from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import { FenceParser } from "./fence-parser.ts";
import type { StreamWriter } from "./stream-writer.ts";
import type { SegmentEnd, SegmentSink, TextSegment } from "./text-segment.ts";
import { toWorkspacePath } from "./workspace-path.ts";

export interface TextDocuments {
  /** Starts a model request, whose text is independent of all text before it (N27). */
  startTurn(): void;
  push(text: string): void;
  /** Records if a code reference, by its 0-based number in the turn, matches its file, and where (N22, N61). */
  checkReference(check: Omit<ReferenceCheck, "type">): void;
  /** Ends the open document (N18); more text may follow. */
  end(): void;
}

export interface TextDocumentsOptions {
  readonly mode: Mode;
  /** Absolute path. */
  readonly workspace: string;
}

export function createTextDocuments(writer: StreamWriter, options: TextDocumentsOptions): TextDocuments {
  return new Documents(writer, options);
}

/** Purpose of code blocks by mode (N23). */
const purposes: Readonly<Record<Mode, CodePurpose>> = {
  agent: "new_code",
  debug: "new_code",
  plan: "suggestion",
  ask: "example",
};

class Documents implements TextDocuments, SegmentSink {
  readonly #writer: StreamWriter;
  readonly #options: TextDocumentsOptions;
  #parser: FenceParser | undefined;
  #document: ContentDocument | undefined;
  #metadata: PartialMetadata = {};
  /** Number of the turn's code references that have started. */
  #references = 0;
  #checks = new Map<number, Omit<ReferenceCheck, "type">>();

  constructor(writer: StreamWriter, options: TextDocumentsOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  startTurn(): void {
    this.end();
    this.#references = 0;
    this.#checks = new Map();
  }

  push(text: string): void {
    this.#parser ??= new FenceParser(this);
    this.#parser.push(text);
  }

  checkReference(check: Omit<ReferenceCheck, "type">): void {
    this.#checks.set(check.index, check);
  }

  end(): void {
    this.#parser?.end();
    this.#parser = undefined;
  }

  startSegment(segment: TextSegment): void {
    this.#metadata = this.#toMetadata(segment);
    this.#document = startContentDocument(this.#writer, segment.type, this.#metadata);
    if (segment.type === "code_reference") this.#references += 1;
  }

  writeDelta(delta: string): void {
    this.#document?.write(delta);
  }

  endSegment(end: SegmentEnd): void {
    this.#document?.end(this.#toEndMetadata(end));
    this.#document = undefined;
  }

  #toMetadata(segment: TextSegment): PartialMetadata {
    if (segment.type === "text") return { format: "markdown" };
    if (segment.type === "code_block") {
      const { language, info, purpose = purposes[this.#options.mode] } = segment;
      return info === undefined ? { language, purpose } : { language, purpose, info };
    }
    const { startLine, endLine, language, filePath: rawPath } = segment;
    const filePath = toWorkspacePath(rawPath, this.#options.workspace);
    return { filePath, startLine, endLine, language, ...(filePath === rawPath ? {} : { rawPath }) };
  }

  #toEndMetadata({ closed, codeBlocks }: SegmentEnd): PartialMetadata {
    const check = "filePath" in this.#metadata ? this.#checks.get(this.#references - 1) : undefined;
    const isPlain = closed && codeBlocks === undefined && check === undefined;
    if (isPlain) return this.#metadata;
    const { verified, correction } = check ?? {};
    const shared = { codeBlocks, verified, closed: closed ? undefined : (false as const) };
    if (!correction) return { ...this.#metadata, ...shared };
    const [startLine = 0, endLine = 0] = [this.#metadata.startLine, this.#metadata.endLine];
    const { startLine: start, endLine: end } = correction;
    return { ...this.#metadata, startLine: start, endLine: end, ...shared, writtenLines: { startLine, endLine } };
  }
}
