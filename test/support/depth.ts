/** Which tests only `npm run test:deep` runs: they take long, so they run each night and not for each change. */

/** A soak (`soak.ts`) is deeper still. */
export const isDeep = ["SHEAF_DEEP", "SHEAF_SOAK", "SHEAF_SOAK_RUNS", "SHEAF_SOAK_HOURS", "SHEAF_SOAK_MINUTES"].some(
  (name) => process.env[name] !== undefined,
);

/** Files that are deep as a whole. Single tests and blocks are `testDeep` and `describeDeep` (`describe-where.ts`). */
export const deepFiles: readonly string[] = [
  "test/conformance/acp-clients.test.ts",
  "test/conformance/cluster-kit.test.ts",
  "test/page/two-servers.test.ts",
  "test/published/failure-matrix.test.ts",
  "test/reliability/*.test.ts",
];

/** All rows of a family in a deep run; else this many, spread over the family. */
export function chooseRows<Row>(rows: readonly Row[], count: number): Row[] {
  const step = isDeep ? 1 : Math.ceil(rows.length / count);
  return rows.filter((_, index) => index % step === 0);
}

/** Removes deep tests from the text of a test file, to see which clauses the other tests cite. */
export function removeDeepTests(text: string): string {
  return text.replaceAll(/^( *)(?:test|describe)Deep\((?:.*\);|[\s\S]*?\n\1[)}].*)$/gm, "");
}
