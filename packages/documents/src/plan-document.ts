/** Documents of type plan (R10, N40). */
import type { PlanMetadata, PlanTodo, TodoStatus, ToolCallArguments, ToolCallStart, ToolResult } from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import { createJsonScanner, type JsonScanner } from "./incremental-json.ts";
import type { StreamWriter } from "./stream-writer.ts";
import { type ToolArguments, toListArgument, toTextArgument, toTextListArgument } from "./tool-arguments.ts";
import { type ToolDocument, toToolOrigin } from "./tool-document.ts";

/** Starts with the first character of the plan, while the model writes it. */
export function createPlanDocument(writer: StreamWriter, call: ToolCallStart): ToolDocument {
  return new PlanWriter(writer, call);
}

type Plan = Omit<PlanMetadata, "toolName" | "toolCallId" | "providerToolCallId">;

class PlanWriter implements ToolDocument {
  readonly #writer: StreamWriter;
  readonly #call: ToolCallStart;
  #scanner: JsonScanner | undefined;
  #document: ContentDocument | undefined;
  /** Strings that the model has written so far, by name. */
  readonly #written = new Map<string, string>();
  readonly #complete = new Set<string>();
  #arguments: ToolArguments | undefined;

  constructor(writer: StreamWriter, call: ToolCallStart) {
    this.#writer = writer;
    this.#call = call;
  }

  get documentId(): string | undefined {
    return this.#document?.id;
  }

  pushArguments(delta: string): void {
    this.#scanner ??= createJsonScanner();
    for (const event of this.#scanner.push(delta)) {
      if (event.type === "string_end") this.#complete.add(event.path);
      if (event.type !== "string_delta") continue;
      if (event.path === "/plan") this.#open().write(event.delta);
      else this.#written.set(event.path, (this.#written.get(event.path) ?? "") + event.delta);
    }
  }

  setArguments(event: ToolCallArguments): void {
    if (this.#arguments !== undefined) return;
    this.#arguments = event.arguments;
    if (event.rawArguments === undefined) this.#open().complete(toTextArgument(event.arguments, "plan") ?? "");
  }

  start(): string {
    return this.#open().id;
  }

  end(result: ToolResult): void {
    const document = this.#open();
    const origin = toToolOrigin(this.#call);
    if (result.effect?.kind === "plan") {
      const { title, overview, todos, planId, revision, plan } = result.effect;
      document.end({ title, overview, todos, format: "markdown", planId, revision, ...origin }, plan);
    } else {
      const values = this.#arguments ?? {};
      document.end({ ...toPlan(values), ...origin }, toTextArgument(values, "plan"));
    }
  }

  #open(): ContentDocument {
    this.#document ??= startContentDocument(this.#writer, "plan", {
      ...(this.#arguments === undefined ? this.#toDraft() : toPlan(this.#arguments)),
      ...toToolOrigin(this.#call),
    });
    return this.#document;
  }

  /** What is certain before the arguments are complete. */
  #toDraft(): Partial<Plan> {
    const title = this.#complete.has("/title") ? { title: this.#written.get("/title") ?? "" } : {};
    const overview = this.#complete.has("/overview") ? { overview: this.#written.get("/overview") ?? "" } : {};
    return { ...title, ...overview, format: "markdown" };
  }
}

const statuses: ReadonlySet<string> = new Set<TodoStatus>(["pending", "in_progress", "completed", "cancelled"]);

function isStatus(value: string): value is TodoStatus {
  return statuses.has(value);
}

/** The plan as the model wrote it. */
function toPlan(values: ToolArguments): Plan {
  return {
    title: toTextArgument(values, "title") ?? "",
    overview: toTextArgument(values, "overview") ?? "",
    todos: toListArgument(values, "todos").map(toTodo),
    format: "markdown",
  };
}

function toTodo(values: ToolArguments): PlanTodo {
  const status = toTextArgument(values, "status") ?? "";
  return {
    id: toTextArgument(values, "id") ?? "",
    content: toTextArgument(values, "content") ?? "",
    status: isStatus(status) ? status : "pending",
    dependencies: toTextListArgument(values, "dependencies"),
  };
}
