/** Makes documents of type plan (R10, N40). */
import type { PlanMetadata, PlanTodo, TodoStatus } from "@sheaf/protocol";
import { createJsonScanner } from "./incremental-json.ts";
import {
  findTextArgument,
  type ToolArguments,
  toListArgument,
  toTextArgument,
  toTextListArgument,
} from "./tool-arguments.ts";
import type { ToolCall, ToolDocument } from "./tool-document.ts";

type Plan = Omit<PlanMetadata, "toolName" | "toolCallId" | "providerToolCallId">;

const format = "markdown";

/** Starts the document with the first character of the plan, while the model writes it. */
export function createPlanDocument(call: ToolCall): ToolDocument {
  const scanner = createJsonScanner();
  /** The string that the model is writing, unless it is the plan. The map has complete ones by JSON pointer. */
  let written = "";
  const complete = new Map<string, string>();
  return {
    open: () => {
      // An unfinished call has certain values only in its complete strings.
      const draft = { title: complete.get("/title"), overview: complete.get("/overview"), format };
      return call.start(call.arguments === undefined ? draft : toPlan(call.arguments));
    },
    pushArguments: (delta) => {
      for (const event of scanner.push(delta)) {
        if (event.type === "string_end") {
          complete.set(event.path, written);
          written = "";
        } else if (event.path === "/plan") {
          call.open().write(event.delta);
        } else {
          written += event.delta;
        }
      }
    },
    takeArguments: () => {
      call.open().complete(toTextArgument(call.arguments, "plan"));
    },
    end: ({ effect }) => {
      if (effect?.kind === "plan") {
        const { title, overview, todos, planId, revision, plan } = effect;
        call.end({ title, overview, todos, format, planId, revision }, plan);
      } else {
        call.end(toPlan(call.arguments), findTextArgument(call.arguments, "plan"));
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
    format,
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
