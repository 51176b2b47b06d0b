/** Tests that need something of the machine: the only place where a test is skipped. */
import { describe, type RunnerTestCase as Test, test, type TestFunction, TestRunner } from "vitest";
import { isDeep } from "./depth.ts";

/** Something that a test needs and this machine does not have. */
export interface Missing {
  /** For people, without a full stop: what is missing, and how to get it if no package brings it. */
  readonly reason: string;
  /** Debian packages that bring it. */
  readonly packages?: readonly string[];
  /** `.ci/run` does not bring it either, so its tests are skipped with CI=true, too. */
  readonly isOptional?: boolean;
}

declare module "vitest" {
  interface TaskMeta {
    /** Why the test was skipped, for `report-skipped.ts`. */
    missing?: Missing;
  }
}

/** Runs `body` if nothing is missing. Otherwise one skipped test shows what is; with CI=true it fails. */
export function describeWhere(title: string, missing: Missing | undefined, body: () => void): void {
  describe(title, () => {
    if (missing === undefined) body();
    else test(missing.reason, () => skipIfMissing(missing));
  });
}

/** Skips the test that calls it, if something is missing; with CI=true the test fails. */
export function skipIfMissing(missing: Missing | undefined): void {
  if (missing === undefined) return;
  if (process.env.CI === "true" && missing.isOptional !== true) throw new Error(missing.reason);
  const { meta, context } = TestRunner.getCurrentTest<Test>();
  meta.missing = missing;
  context.skip(missing.reason);
}

/** Describes a test that only some systems or users can run: it is skipped elsewhere, also in CI. */
export function unless(isPossible: boolean, reason: string): Missing | undefined {
  return isPossible ? undefined : { reason, isOptional: true };
}

export const notLinux = unless(process.platform === "linux", "this system is not Linux");

export const notRoot = unless(process.getuid?.() === 0, "only root can give files to other users");

const notDeep = unless(isDeep, "only npm run test:deep runs it");

/** Describes tests that take long: each night runs them, and no change needs to wait for them. */
export function describeDeep(title: string, body: () => void): void {
  describeWhere(title, notDeep, body);
}

/** A test that takes long: each night runs it. `timeout` is in milliseconds. */
export function testDeep(title: string, body: TestFunction, timeout?: number): void {
  test(title, notDeep ? () => skipIfMissing(notDeep) : body, timeout);
}
