/** Collects early, makes garbage of which much survives for a while, and prints by how much the space for new objects grew. */
import { getHeapSpaceStatistics } from "node:v8";
import { collectEarly } from "../src/small-memory.ts";

const readNursery = (): number =>
  getHeapSpaceStatistics().find((space) => space.space_name === "new_space")!.space_size;

collectEarly();
const before = readNursery();
const kept: object[] = [];
for (let index = 0; index < 2_000_000; index += 1) kept[index % 200_000] = { index };
process.stdout.write(JSON.stringify({ growth: readNursery() / before }));
process.stdin.resume();
