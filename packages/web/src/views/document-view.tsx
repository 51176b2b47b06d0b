import { useErrorBoundary } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";
import { ClarificationView } from "./clarification-view.tsx";
import { CodeBlockView } from "./code-block-view.tsx";
import { CodeReferenceView } from "./code-reference-view.tsx";
import { ErrorView } from "./error-view.tsx";
import { FileEditView } from "./file-edit-view.tsx";
import { PlanView } from "./plan-view.tsx";
import { TerminalCommandView } from "./terminal-command-view.tsx";
import { TextView } from "./text-view.tsx";
import { TodoUpdateView } from "./todo-update-view.tsx";
import { ToolCallView } from "./tool-call-view.tsx";
import { UnknownView } from "./unknown-view.tsx";
import type { View, ViewProps } from "./view.ts";

const views: ReadonlyMap<string, View> = new Map([
  ["text", TextView],
  ["code_reference", CodeReferenceView],
  ["code_block", CodeBlockView],
  ["file_edit", FileEditView],
  ["tool_call", ToolCallView],
  ["terminal_command", TerminalCommandView],
  ["plan", PlanView],
  ["clarification", ClarificationView],
  ["error", ErrorView],
  ["todo_update", TodoUpdateView],
]);

/** A document in the view for its type. If one view fails, the others stay. */
export function DocumentView(props: ViewProps) {
  const messages = useMessages();
  const [error] = useErrorBoundary();
  if (error !== undefined) {
    return (
      <div class="notice notice-quiet">
        <p>{messages.documentBroken}</p>
        <pre class="notice-details">{props.document.content}</pre>
      </div>
    );
  }
  const Shown = views.get(props.document.type) ?? UnknownView;
  return <Shown {...props} />;
}
