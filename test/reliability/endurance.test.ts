/**
 * A server that works for hours: its memory and its descriptors stay as they are.
 * The whole form: `SHEAF_SOAK_HOURS=8 npx vitest run test/reliability/endurance.test.ts`.
 */
import { readdirSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { describeWhere, notLinux } from "../support/describe-where.ts";
import { readMemory } from "../support/process-memory.ts";
import { startServerProcess, type ServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const hours = Number(process.env.SHEAF_SOAK_HOURS ?? 0);
const isSoak = hours > 0;
const conversationCount = isSoak ? 200 : 5;
/** Between two messages. Milliseconds. */
const pauseMs = isSoak ? 1000 : 20;
/** Messages after the first one of each conversation. */
const messageCount = isSoak ? Math.round((hours * 3_600_000) / pauseMs) : 40;

/** Text, a tool that reads, a command: sockets, files, pipes and the store are all in use. */
const script = {
  turns: [
    {
      events: [
        { text: "I look.", chunk: 2 },
        {
          calls: [
            { tool: "read_file", arguments: { target_file: "a.txt" } },
            { tool: "run_terminal_cmd", arguments: { command: "echo one" } },
          ],
        },
      ],
    },
    { events: [{ text: "Done. ", repeat: 20, chunk: 3 }] },
  ],
  after: "loop",
};

/** A message on its own connection, which ends with the answer; gives the conversation. */
async function send(server: ServerProcess, conversationId?: string): Promise<string> {
  const body = await new Promise<string>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${server.token}`, "Content-Type": "application/json" };
    const outgoing = request(`${server.address}/v1/chat`, { method: "POST", headers, agent: false });
    outgoing.on("response", (response) => void text(response).then(resolve, reject)).on("error", reject);
    outgoing.end(JSON.stringify({ message: "go", conversationId }));
  });
  const answer = JSON.parse(body) as { status: string; conversationId: string };
  expect([answer.status, body]).toEqual(["completed", body]);
  return answer.conversationId;
}

const countDescriptors = (server: ServerProcess): number => readdirSync(`/proc/${server.child.pid!}/fd`).length;

interface Sample {
  readonly hour: number;
  /** MiB. */
  readonly memory: number;
  readonly descriptors: number;
}

/** The lowest memory of each twentieth of the time: between two collections memory swings. */
function toFloor(samples: readonly Sample[]): Sample[] {
  const size = Math.ceil(samples.length / 20);
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
    samples
      .slice(index * size, (index + 1) * size)
      .reduce((lowest, sample) => (sample.memory < lowest.memory ? sample : lowest)),
  );
}

/** Growth of the straight line that fits best. MiB per hour. */
function toSlope(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanHour = mean(samples.map(({ hour }) => hour));
  const meanMemory = mean(samples.map(({ memory }) => memory));
  const joint = mean(samples.map(({ hour, memory }) => (hour - meanHour) * (memory - meanMemory)));
  return joint / mean(samples.map(({ hour }) => (hour - meanHour) ** 2));
}

describeWhere("a server that works for long", notLinux, () => {
  test(
    verifies("R-20", "has as many descriptors as before, and over hours no more memory"),
    async () => {
      const cwd = folders.newFolder({ "a.txt": "text\n" });
      const args = ["--force", "--sandbox", "disabled"];
      const server = await startServerProcess({ cwd, script, args });
      const conversations: string[] = [];
      for (let index = 0; index < conversationCount; index += 1) conversations.push(await send(server));
      await wait(pauseMs);
      const before = countDescriptors(server);

      const begunAt = performance.now();
      const samples: Sample[] = [];
      for (let number = 0; number < messageCount; number += 1) {
        await send(server, conversations[number % conversationCount]);
        await wait(Math.max(0, begunAt + (number + 1) * pauseMs - performance.now()));
        const hour = (performance.now() - begunAt) / 3_600_000;
        const sample = {
          hour,
          memory: readMemory(server.child.pid!) / 2 ** 20,
          descriptors: countDescriptors(server),
        };
        samples.push(sample);
        if (isSoak && number % 60 === 59) {
          const { memory, descriptors } = sample;
          process.stderr.write(`R-20: ${hour.toFixed(2)} h ${memory.toFixed(1)} MiB ${descriptors} descriptors\n`);
        }
      }
      // The kernel takes a moment to tell the server of the last connection's end.
      await expect.poll(() => countDescriptors(server), { timeout: 20_000 }).toBe(before);
      if (!isSoak) return;

      // The first hour is for warming up; of a shorter run, the first half.
      const settled = samples.filter(({ hour }) => hour > Math.min(1, hours / 2));
      const slope = toSlope(toFloor(settled));
      const counts = samples.map(({ descriptors }) => descriptors);
      process.stderr.write(
        `R-20: ${hours} h, ${messageCount} messages in ${conversationCount} conversations: ${slope.toFixed(2)} MiB/h, ` +
          `${settled.at(-1)!.memory.toFixed(0)} MiB at the end, descriptors ${Math.min(...counts)} to ${Math.max(...counts)}\n`,
      );
      if (hours >= 2) expect(slope).toBeLessThan(1);
    },
    isSoak ? (hours + 1) * 3_600_000 : 120_000,
  );
});
