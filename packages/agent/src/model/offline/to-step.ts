/** A task to its next step. */
import { toCode } from "./phrases/format-number.ts";
import type { Action, Phrases } from "./phrases/phrases.ts";
import { toAnswer, type Step } from "./step.ts";
import { toDeleteStep, toEditStep, toRenameStep, toRunScriptStep, toRunStep, toWriteStep } from "./step-change.ts";
import { toLayoutStep } from "./step-layout.ts";
import { toPlanStep, toQuestionStep, toTodoStep } from "./step-plan.ts";
import { toFindFilesStep, toFindTextStep, toListStep, toShowStep } from "./step-search.ts";
import { toSummaryStep } from "./step-summary.ts";
import type { Task } from "./task.ts";

/** What the model says and calls next; without calls it is done. */
export function toStep(task: Task, phrases: Phrases): Step {
  const step = toWantedStep(task, phrases);
  if (step.calls.length === 0) return step;
  const missing = step.calls.find(({ toolName }) => !task.tools.has(toolName));
  if (missing) return toAnswer(`${phrases.introduction}\n\n${phrases.toolMissing(missing.toolName, task.mode)}`);
  if (task.isLastTurn) return toLastTurn(step, phrases);
  return step;
}

function toWantedStep(task: Task, phrases: Phrases): Step {
  const { intent } = task;
  switch (intent.kind) {
    case "summarise":
      return toSummaryStep(task, intent, phrases);
    case "show":
      return toShowStep(task, intent, phrases);
    case "find_text":
      return toFindTextStep(task, intent, phrases);
    case "find_files":
      return toFindFilesStep(task, intent, phrases);
    case "list_folder":
      return toListStep(task, intent.folder, phrases);
    case "explain_layout":
      return toLayoutStep(task, intent.folder, phrases);
    case "run":
      return toRunStep(task, intent.command, phrases);
    case "run_script":
      return toRunScriptStep(task, intent.script, phrases);
    case "write":
      return toWriteStep(task, intent, phrases);
    case "edit":
      return toEditStep(task, intent, phrases);
    case "delete":
      return toDeleteStep(task, intent, phrases);
    case "rename":
      return toRenameStep(task, intent, phrases);
    case "plan":
      return toPlanStep(task, intent, phrases);
    case "todo_list":
      return toTodoStep(task, intent, phrases);
    case "missing":
      return toQuestionStep(task, intent, phrases);
    case "greeting":
      return toAnswer(formatHelp(phrases.greeting, phrases));
    case "thanks":
      return toAnswer(phrases.thanks);
    case "help":
      return toAnswer(formatHelp(phrases.introduction, phrases));
    case "unknown":
      return toAnswer(
        formatHelp(
          task.hasContext ? `${phrases.notUnderstood} ${phrases.contextNotUnderstood}` : phrases.notUnderstood,
          phrases,
        ),
      );
  }
}

function formatHelp(head: string, phrases: Phrases): string {
  const abilities = phrases.abilities.map((ability) => `- ${ability}`).join("\n");
  return `${head}\n\n${phrases.abilitiesTitle}\n\n${abilities}\n\n${phrases.realModel}`;
}

const actions: Readonly<Record<string, Action>> = {
  read_file: "read",
  write_file: "write",
  edit_file: "edit",
  delete_file: "delete",
  rename_file: "rename",
  list_dir: "list",
  glob_search: "search",
  grep_search: "search",
  run_terminal_cmd: "run",
  create_plan: "plan",
  todo_write: "todo",
};

/** In the last turn of the budget nothing is called any more: says what is left (C24). */
function toLastTurn({ calls }: Step, phrases: Phrases): Step {
  const left = calls.map(({ toolName, args }) => {
    const object = Object.values(args).find((value) => typeof value === "string") ?? "";
    const action = actions[toolName];
    return action === undefined ? toCode(toolName) : phrases.announce(action, object);
  });
  return toAnswer(`\n\n${phrases.introduction}\n\n${phrases.budgetEnds(left.join(" "))}`);
}
