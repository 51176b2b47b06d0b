/** Starts itself with small memory, and prints the result. */
import { useSmallMemory } from "../src/small-memory.ts";

useSmallMemory();
const { MALLOC_ARENA_MAX: inherited } = process.env;
process.stdout.write(JSON.stringify({ options: process.execArgv, inherited }));
process.stdin.resume();
