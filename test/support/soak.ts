/** How often a test repeats its case: as the contract says in a soak, a few times in a deep run, else a tenth of that. */
import { isDeep } from "./depth.ts";

/** `SHEAF_SOAK=1` asks for the figures of the contract; a number in `SHEAF_SOAK_RUNS` for that many. */
export function chooseRuns(deep: number, full = deep): number {
  const { SHEAF_SOAK, SHEAF_SOAK_RUNS } = process.env;
  if (SHEAF_SOAK_RUNS !== undefined) return Number(SHEAF_SOAK_RUNS);
  if (SHEAF_SOAK === "1") return full;
  return isDeep ? deep : Math.ceil(deep / 10);
}

/** Longest time that such a test may take. Milliseconds. */
export const soakTimeout =
  process.env.SHEAF_SOAK === "1" || process.env.SHEAF_SOAK_RUNS !== undefined ? 3_600_000 : 120_000;

/** A soak that lasts, with its seed: `SHEAF_SOAK=1 SHEAF_SOAK_MINUTES=30 SHEAF_SOAK_SEED=7`. */
export const soakMinutes = Number(process.env.SHEAF_SOAK_MINUTES ?? 0);
export const soakSeed = Number(process.env.SHEAF_SOAK_SEED ?? 11);

/** A figure for docs/reliability.md, printed in a soak. */
export function reportFigure(clause: string, text: string): void {
  if (process.env.SHEAF_SOAK === "1") process.stderr.write(`${clause}: ${text}\n`);
}

/** Numbers that are the same in every run, from 0 up to but not including 1. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
