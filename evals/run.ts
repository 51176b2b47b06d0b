/**
 * `npm run evals`: plays 40 behaviours with the built program, without a model.
 * `npm run evals -- --model MODEL [--runs 3] [--only NAME]`: lets a model do the tasks of `tasks.ts`.
 */
import { parseArgs } from "node:util";
import { behaviours } from "./behaviours.ts";
import { play } from "./play.ts";
import { runTasks } from "./run-tasks.ts";

const parallel = 3;
const { values } = parseArgs({
  options: { model: { type: "string" }, runs: { type: "string", default: "1" }, only: { type: "string", default: "" } },
});

if (values.model === undefined) {
  const waiting = behaviours.filter(({ name }) => name.includes(values.only));
  const count = waiting.length;
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const played = await play(next);
      if (next.judge(played)) continue;
      failed.push(next.name);
      console.log(`failed: ${next.name}\n${JSON.stringify(played).slice(-1500)}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  console.log(`${count - failed.length} of ${count} behaviours`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} else {
  await runTasks({ model: values.model, runs: Number(values.runs), only: values.only });
}
