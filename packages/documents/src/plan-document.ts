/** Documents of type plan (R10, N40). */
import type { PlanMetadata, PlanTodo, TodoStatus } from "@sheaf/protocol";
import { type ContentDocument, startContentDocument } from "./content-document.ts";
import { createJsonScanner, type JsonScanner } from "./incremental-json.ts";
import { pickDefined } from "./pick-defined.ts";
import type { StreamWriter } from "./stream-writer.ts";
import {
  findTextArgument,
  type ToolArguments,
  toListArgument,
  toTextArgument,
  toTextListArgument,
} from "./tool-arguments.ts";
import type { ToolDocument, ToolOrigin } from "./tool-document.ts";

type Plan = Omit<PlanMetadata, "toolName" | "toolCallId" | "providerToolCallId">;

/** Starts with the first character of the plan, while the model writes it. */
export function createPlanDocument(writer: StreamWriter, origin: ToolOrigin): ToolDocument {
  let scanner: JsonScanner | undefined;
  let document: ContentDocument | undefined;
  /** Strings that the model has begun to write, and those that are complete, by JSON pointer. */
  const written = new Map<string, string>();
  const complete = new Map<string, string>();
  let given: ToolArguments | undefined;

  function open(): ContentDocument {
    const format = "markdown";
    // Before the arguments are complete, only what is complete of them is certain.
    const draft = { ...pickDefined({ title: complete.get("/title"), overview: complete.get("/overview") }), format };
    document ??= startContentDocument(writer, "plan", { ...(given === undefined ? draft : toPlan(given)), ...origin });
    return document;
  }

  return {
    get documentId() {
      return document?.id;
    },
    start: () => open().id,
    pushArguments: (delta) => {
      scanner ??= createJsonScanner();
      for (const event of scanner.push(delta)) {
        const { type, path } = event;
        const before = written.get(path) ?? "";
        if (type === "string_end") complete.set(path, before);
        else if (type !== "string_delta") continue;
        else if (path === "/plan") open().write(event.delta);
        else written.set(path, before + event.delta);
      }
    },
    setArguments: (event) => {
      if (given !== undefined) return;
      given = event.arguments;
      if (event.rawArguments === undefined) open().complete(toTextArgument(given, "plan"));
    },
    end: ({ effect }) => {
      const opened = open();
      if (effect?.kind === "plan") {
        const { title, overview, todos, planId, revision, plan } = effect;
        opened.end({ title, overview, todos, format: "markdown", planId, revision, ...origin }, plan);
      } else {
        opened.end({ ...toPlan(given), ...origin }, findTextArgument(given, "plan"));
      }
    },
  };
}

const statuses: ReadonlySet<string> = new Set<TodoStatus>(["pending", "in_progress", "completed", "cancelled"]);

function isStatus(value: string): value is TodoStatus {
  return statuses.has(value);
}

/** The plan as the model wrote it. */
function toPlan(values: ToolArguments | undefined): Plan {
  return {
    title: toTextArgument(values, "title"),
    overview: toTextArgument(values, "overview"),
    todos: toListArgument(values, "todos").map(toTodo),
    format: "markdown",
  };
}

function toTodo(values: ToolArguments): PlanTodo {
  const status = toTextArgument(values, "status");
  return {
    id: toTextArgument(values, "id"),
    content: toTextArgument(values, "content"),
    status: isStatus(status) ? status : "pending",
    dependencies: toTextListArgument(values, "dependencies"),
  };
}
