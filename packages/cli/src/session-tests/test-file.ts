/** The file of a test: a stored session that runs again without a model (C190). */
import { parse, stringify } from "yaml";
import { formatProblem, listProblems } from "@sheaf/protocol/check-value";
import * as s from "@sheaf/protocol/schema";
import { SheafError } from "@sheaf/base/errors";
import { hookSettings } from "@sheaf/agent/config/hook-settings";
import { afterEditCommands, budgetSettings, verifyCommands } from "@sheaf/agent/config/user-config";
import { type TestResponse, testResponse } from "@sheaf/agent/output/session-tests/test-response";
import { readNamedFile } from "@sheaf/base/read-named-file";

const filledText = s.string({ minLength: 1 });
const texts = s.list(s.string());
const patterns = s.list(s.refine(s.string(), "a regular expression", isPattern));

/** A file of the workspace: its text, or another form if it isn't plain text. */
const startFile = s.either([
  s.string(),
  s.strict(s.object({ program: s.string() })),
  s.strict(s.object({ base64: s.base64() })),
  s.strict(s.object({ link: filledText })),
]);

const expectations = s.strict(
  s.object({
    end: s.optional(filledText),
    /** Names of tools that must be called in this order; other calls may be between them. */
    calls: s.optional(texts),
    /** Rules, such as `Shell(git push)`: the run refuses calls that they cover, and the test fails. */
    never: s.optional(texts),
    /** Contents of files after the last response; null if a file must not exist. */
    files: s.optional(s.record(s.nullable(s.string()))),
    /** Regular expressions that must match the last answer. */
    answer: s.optional(patterns),
    /** Regular expressions that must match the last request to the model, including its system prompt. */
    sees: s.optional(patterns),
    max_turns: s.optional(s.number({ minimum: 0 })),
    max_tokens: s.optional(s.number({ minimum: 0 })),
    max_cost_usd: s.optional(s.number({ minimum: 0 })),
  }),
);

const config = s.strict(
  s.object({
    permissions: s.optional(
      s.strict(s.object({ allow: s.optional(texts), ask: s.optional(texts), deny: s.optional(texts) })),
    ),
    agents: s.optional(s.boolean()),
    budgets: s.optional(budgetSettings),
    hooks: s.optional(s.refine(hookSettings, 'hooks without "sandbox"', isContained)),
    afterEdit: s.optional(afterEditCommands),
    verify: s.optional(verifyCommands),
  }),
);

/** A case of `sheaf permissions check`. */
const ruleCase = s.strict(
  s.object({
    command: s.optional(s.string()),
    path: s.optional(s.string()),
    access: s.optional(s.choice(["read", "write"])),
    url: s.optional(s.string()),
    mcp: s.optional(s.string()),
  }),
);

const testFile = s.strict(
  s.object({
    description: s.optional(s.string()),
    /** Files of the workspace before the first response. */
    files: s.optional(s.record(startFile)),
    /** True if the files are a commit of a repository. */
    git: s.optional(s.boolean()),
    /** Settings as in the user's configuration. Hooks run in the sandbox. */
    config: s.optional(config),
    force: s.optional(s.boolean()),
    /** True if the user doesn't trust the workspace. */
    untrusted: s.optional(s.literal(true)),
    /** Names of tools by the name of their server; the calls contain their results. */
    servers: s.optional(s.record(texts)),
    responses: s.list<TestResponse>(testResponse, { minItems: 1 }),
    expect: s.optional(expectations),
    rules: s.optional(
      s.strict(
        s.object({
          allow: s.optional(s.list(ruleCase)),
          ask: s.optional(s.list(ruleCase)),
          deny: s.optional(s.list(ruleCase)),
        }),
      ),
    ),
  }),
);

export interface TestFile extends s.ValueOf<typeof testFile> {}
export type Expectations = NonNullable<TestFile["expect"]>;

/** Reads a test. @throws SheafError CONFIG_INVALID with the file and the place in it. */
export async function readTestFile(file: string): Promise<TestFile> {
  const fail = (reason: string, cause?: unknown): never => {
    throw new SheafError("CONFIG_INVALID", `the test ${file} ${reason}`, { cause });
  };
  let value: unknown;
  try {
    // Aliases could make a small file a large value.
    value = parse(await readNamedFile(file), { maxAliasCount: 0 });
  } catch (error) {
    return fail(`cannot be read: ${(error as Error).message.split("\n")[0]}`, error);
  }
  const [problem] = listProblems(testFile, value);
  return problem ? fail(`is not valid: ${formatProblem(problem)}`) : (value as TestFile);
}

export function formatTestFile(test: TestFile): string {
  return stringify(test, { lineWidth: 0, blockQuote: "literal", aliasDuplicateObjects: false });
}

function isPattern(text: string): boolean {
  try {
    return Boolean(new RegExp(text, "u"));
  } catch {
    return false;
  }
}

/** True if hooks stay in the sandbox: a repository's file must not open a way out of it. */
function isContained(hooks: unknown): boolean {
  return !JSON.stringify(hooks).includes('"sandbox":');
}
