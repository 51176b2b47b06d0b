/** Plays the answers of a test instead of a model. */
import { SheafError } from "@sheaf/base/errors";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import { createScriptedModelFrom } from "@sheaf/models/scripted";
import type { TestCall, TestResponse, TestTurn } from "@sheaf/agent/output/session-tests/test-response";

interface Player {
  /** Task of a subagent; undefined for the main run. */
  readonly task: { readonly kind: string; readonly text: string } | undefined;
  readonly turns: readonly TestTurn[];
  next: number;
}

/** Plays one answer after the other; a subagent's answers by its task. */
export function playAnswers(model: Model, { turns }: Pick<TestResponse, "turns">): Model {
  const calls = turns.flatMap(({ calls: made = [] }) => made);
  const players: readonly Player[] = [{ task: undefined, turns, next: 0 }, ...calls.flatMap(toPlayer)];
  return {
    ...model,
    async *stream(request, signal) {
      const player = findPlayer(players, request);
      const turn = player?.turns[player.next];
      if (!player || !turn) throw new SheafError("CONFIG_INVALID", "the run asks for more answers than the test has");
      player.next += 1;
      yield* createScriptedModelFrom({ turns: [toScriptedTurn(turn)], after: "repeat_last" }, "of the test").stream(
        request,
        signal,
      );
    },
  };
}

function toPlayer({ arguments: args, turns }: TestCall): Player[] {
  const { kind, task } = typeof args === "object" ? args : {};
  return turns ? [{ task: { kind: String(kind), text: String(task) }, turns, next: 0 }] : [];
}

/** Finds the answers for a request. Subagents on the same task differ in the number of their answers. */
function findPlayer(players: readonly Player[], { agent, messages }: ModelRequest): Player | undefined {
  const isOfTask = ({ task }: Player): boolean =>
    agent === undefined
      ? task === undefined
      : task?.kind === agent && messages.some(({ role, ...rest }) => role === "user" && "text" in rest && rest.text.includes(task.text)); // prettier-ignore
  const found = players.filter((player) => isOfTask(player) && player.next < player.turns.length);
  const answers = messages.filter(({ role }) => role === "assistant").length;
  return found.find(({ next }) => next === answers) ?? found[0];
}

function toScriptedTurn({ text, calls = [], finish, fails, summary, breaks, sends, usage }: TestTurn) {
  const written = summary ?? text;
  const events = [
    ...(breaks ? [{ reasoning: "." }, { end: "truncated" }] : []),
    ...(written === undefined ? [] : [{ text: written }]),
    ...(calls.length === 0
      ? []
      : [{ calls: calls.map(({ tool, arguments: args = {} }) => ({ tool, arguments: args })) }]),
    ...(fails === undefined ? [] : [{ error: { code: fails, message: "the request failed when the session ran" } }]),
  ];
  return { events: sends ?? events, ...(finish && { finish }), ...(usage && { usage }) };
}
