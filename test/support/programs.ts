/** Programs that tests start. `programs.txt` lists them with their packages, for `.ci/run` as well. */
import { accessSync, constants, globSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describeWhere, type Missing } from "./describe-where.ts";

const packages = readFileSync(join(import.meta.dirname, "programs.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [name = "", ...programs] = line.split(" ");
    return { name, programs };
  });

/** Path of a program, or of another program that the list has in its place. */
export function findProgram(program: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const { programs } = packages.find((other) => other.programs.includes(program)) ?? { programs: [program] };
  return programs
    .flatMap((name) => (name.startsWith("/") ? globSync(name) : folders.map((folder) => join(folder, name))))
    .find(isExecutable);
}

/** Describes a program that is not installed. If it is, but `problem` stops the test, that is the reason. */
export function findMissing(program: string, problem?: string): Missing | undefined {
  if (findProgram(program) !== undefined) return problem === undefined ? undefined : { reason: problem };
  const { name } = packages.find(({ programs }) => programs.includes(program)) ?? {};
  return {
    reason: `${program} is not installed`,
    packages: name === undefined ? [] : [name],
    isOptional: name === undefined,
  };
}

/** Runs `body` if a program is installed; otherwise one skipped test shows that, and with CI=true it fails. */
export function describeWithProgram(program: string, body: () => void): void {
  describeWhere(program, findMissing(program), body);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
