/** Tests that a machine cannot run: they are skipped in one place, and the end of the run shows why. */
import { expect, test, vi } from "vitest";
import { skipIfMissing, unless } from "./support/describe-where.ts";
import { findMissing } from "./support/programs.ts";
import { readTests } from "./support/repository-files.ts";
import { formatSkipped } from "./support/report-skipped.ts";

test("a missing program names its package; one that .ci/run does not install may be missing in CI", () => {
  vi.stubEnv("PATH", "/nonexistent");
  expect(findMissing("bwrap")).toEqual({
    reason: "bwrap is not installed",
    packages: ["bubblewrap"],
    isOptional: false,
  });
  expect(findMissing("gradle")).toEqual({ reason: "gradle is not installed", packages: [], isOptional: true });
  vi.unstubAllEnvs();
  expect([findMissing("git"), findMissing("git", "it is too old")]).toEqual([undefined, { reason: "it is too old" }]);
});

test("with CI=true a test fails whose program is missing, unless it is optional", () => {
  vi.stubEnv("CI", "true");
  expect(() => skipIfMissing({ reason: "bwrap is not installed" })).toThrow("bwrap is not installed");
  expect(() => skipIfMissing(undefined)).not.toThrow();
  vi.unstubAllEnvs();
  expect([unless(true, "no root"), unless(false, "no root")]).toEqual([
    undefined,
    { reason: "no root", isOptional: true },
  ]);
});

test("a run ends with what was skipped, why, and one command", () => {
  const bwrap = { reason: "bwrap is not installed", packages: ["bubblewrap"] };
  expect(
    formatSkipped([
      { file: "test/page/views.test.ts", missing: { reason: "chromium is not installed", packages: ["chromium"] } },
      { file: "test/conformance/trust.test.ts", missing: bwrap },
      { file: "test/conformance/trust.test.ts", missing: bwrap },
      { file: "test/conformance/hooks.test.ts", missing: bwrap },
      { file: "test/reliability/faults.test.ts", missing: bwrap },
      { file: "test/conformance/skills.test.ts", missing: { reason: "there are no skills of others" } },
    ]),
  ).toBe(`Skipped on this machine:
  bwrap is not installed: test/conformance (2 files), test/reliability/faults.test.ts
  chromium is not installed: test/page/views.test.ts
  there are no skills of others: test/conformance/skills.test.ts
To run them: apt-get install bubblewrap chromium
`);
  expect(formatSkipped([{ file: "a", missing: { reason: "only root can" } }])).not.toContain("apt-get");
});

test("every test is skipped by skipIfMissing or describeWhere, so that the end of the run shows it", () => {
  const way = /\.(?:skip|skipIf|runIf|todo)\(|\{ skip \}|describe\.skip\b/;
  const allowed = new Set([
    "test/support/describe-where.ts",
    "test/skipped-tests.test.ts",
    "test/conformance/cited.ts",
  ]);
  const found = readTests().filter(({ path, text }) => !allowed.has(path) && way.test(text));
  expect(found.map(({ path }) => path)).toEqual([]);
});
