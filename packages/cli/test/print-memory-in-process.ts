/** Starts itself with small memory, and prints the result. */
import { readdirSync } from "node:fs";
import { useSmallMemory } from "../src/small-memory.ts";

useSmallMemory();
const { MALLOC_ARENA_MAX: inherited, UV_THREADPOOL_SIZE: inheritedThreads } = process.env;
const threads = process.platform === "linux" ? readdirSync("/proc/self/task").length : 0;
process.stdout.write(JSON.stringify({ options: process.execArgv, inherited, inheritedThreads, threads }));
process.stdin.resume();
