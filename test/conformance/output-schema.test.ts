/** `--output-schema`: the final answer must be JSON that fits. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder, parseStream, runProgram, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const schema = {
  type: "object",
  properties: { name: { type: "string" }, size: { type: "integer" } },
  required: ["name"],
  additionalProperties: false,
};

async function runAnswers(...answers: readonly string[]) {
  const cwd = folders.newFolder({ "schema.json": JSON.stringify(schema) });
  const list = { tool: "list_dir", arguments: {} };
  const turns = [{ events: [{ text: "I look." }, { call: list }] }, ...answers.map((text) => ({ events: [{ text }] }))];
  writeFileSync(join(cwd, "script.json"), JSON.stringify({ turns }));
  const args = ["-p", "--model", "scripted:script.json", "--output-schema", "schema.json", "go"];
  const result = await runSheaf(args, { cwd });
  return { ...result, cwd, last: parseStream(result.stdout).at(-1)! };
}

test(
  verifies("C10", "an answer that fits is in structured_output; text before tool calls does not matter"),
  async () => {
    const { code, stderr, last } = await runAnswers('{"name":"a","size":1}');
    expect([code, stderr]).toEqual([0, ""]);
    expect(last).toMatchObject({ subtype: "success", structured_output: { name: "a", size: 1 }, num_turns: 2 });
  },
);

test("a single code block counts as the answer", async () => {
  const { last } = await runAnswers('Here:\n\n```json\n{"name":"a"}\n```\n');
  expect(last).toMatchObject({ subtype: "success", structured_output: { name: "a" } });
});

test("an answer that does not fit gets one repair turn, in which the model learns why", async () => {
  const { code, last, cwd } = await runAnswers('{"size":"big"}', '{"name":"a"}');
  expect(code).toBe(0);
  expect(last).toMatchObject({ subtype: "success", structured_output: { name: "a" }, num_turns: 3 });
  // The script's file is read back by no model; the log tells what the model was told.
  const shown = await runSheaf(["show", String(last.session_id), "--output-format", "json"], { cwd });
  expect(parseStream(shown.stdout)[0]).toMatchObject({ structured_output: { name: "a" } });
});

test(
  verifies(["C20", "C21"], "an answer that does not fit after its repair is OUTPUT_INVALID, and says what is wrong"),
  async () => {
    const { code, stderr, last } = await runAnswers("no JSON", '{"name":1,"color":"red"}');
    expect(code).toBe(6);
    expect(stderr).toMatch(/^sheaf: OUTPUT_INVALID: [^\n]+\n$/);
    expect(stderr).toContain("/name must be string");
    expect(stderr).toContain('"color"');
    expect(last).toMatchObject({ subtype: "error", error: { code: "OUTPUT_INVALID", retryable: true } });
  },
);

test("a schema may begin with a byte order mark", async () => {
  const cwd = folders.newFolder({
    "schema.json": `\uFEFF${JSON.stringify({ type: "integer" })}`,
    "script.json": JSON.stringify({ turns: [{ events: [{ text: "7" }] }] }),
  });
  const args = [
    "-p",
    "--model",
    "scripted:script.json",
    "--output-schema",
    "schema.json",
    "--output-format",
    "json",
    "go",
  ];
  const { code, stdout, stderr } = await runSheaf(args, { cwd });
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ structured_output: 7 });
});

test(verifies("C20", "a schema that is not one is CONFIG_INVALID before the model is called"), async () => {
  const cwd = folders.newFolder({
    "schema.json": '{"type":"nonsense"}',
    "broken.json": '{"type":',
    "script.json": '{"turns":[{"events":[]}]}',
  });
  for (const [file, fault] of [
    ["schema.json", "is not a JSON Schema of draft 2020-12 \\("],
    ["broken.json", "is not JSON \\("],
    ["missing.json", "cannot be read \\(the file does not exist\\): check the path after --output-schema"],
  ] as const) {
    const args = ["-p", "--model", "scripted:script.json", "--output-schema", file, "--output-format", "json", "go"];
    const { code, stdout, stderr } = await runSheaf(args, { cwd });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(new RegExp(`^sheaf: CONFIG_INVALID: [^\\n]*${file} ${fault}[^\\n]*\\n$`));
  }
});

/** Matching it takes more than an hour. */
const endlessPattern = "^(a+)+$";
const longAnswer = JSON.stringify(`${"a".repeat(40)}!`);

function createPlace(schemaText: string, text = longAnswer): string {
  return folders.newFolder({
    "schema.json": schemaText,
    "script.json": JSON.stringify({ turns: [{ events: [{ text }] }], after: "loop" }),
  });
}

const withSchema = ["-p", "--model", "scripted:script.json", "--output-schema", "schema.json"];

test(verifies("S-89", "a pattern without end fails after 2 s, and the error names it"), async () => {
  const cwd = createPlace(JSON.stringify({ type: "string", pattern: endlessPattern }));
  const { code, stderr } = await runSheaf([...withSchema, "go"], { cwd });
  expect([code, stderr]).toEqual([
    2,
    `sheaf: CONFIG_INVALID: the schema schema.json takes longer than 2 s to apply, in the pattern "${endlessPattern}": simplify it\n`,
  ]);
});

test(verifies(["S-89", "C24"], "the time budget ends a check of an answer"), async () => {
  const cwd = createPlace(JSON.stringify({ patternProperties: { [endlessPattern]: {} } }), `{${longAnswer}: 1}`);
  const { code, stderr } = await runSheaf([...withSchema, "--timeout", "1", "go"], { cwd });
  expect([code, stderr]).toEqual([7, expect.stringContaining("BUDGET_TIME") as string]);
});

test(verifies(["S-89", "C23"], "a signal ends a check of an answer"), async () => {
  const cwd = createPlace(JSON.stringify({ type: "string", pattern: endlessPattern }));
  const { code, stderr } = await runProgram([...withSchema, "go"], {
    cwd,
    onOutput: (output, child) => {
      if (!child.killed && output.includes('"assistant"')) child.kill("SIGTERM");
    },
  });
  expect([code, stderr]).toEqual([143, "sheaf: CANCELLED: cancelled by SIGTERM\n"]);
});

test.each([
  ['{"$ref":"#"}', "refers to itself without end"],
  ['{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}', "refers to itself without end"],
  ['{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}', "refers to itself without end"],
  ['{"$dynamicRef":"#x","$dynamicAnchor":"x"}', "refers to itself without end"],
  ['{"$ref":"#/nowhere"}', "can't resolve reference #/nowhere"],
  ['{"$ref":"http://127.0.0.1:9/schema.json"}', "can't resolve reference http://127.0.0.1:9/schema.json"],
  ['{"$ref":"file:///etc/passwd"}', "can't resolve reference file:///etc/passwd"],
  ['{"type":"string","pattern":"("}', "Invalid regular expression"],
  ["null", "is not a JSON Schema of draft 2020-12"],
])(verifies("S-89", "%s is an error before the model is called"), async (schemaText, message) => {
  const cwd = createPlace(schemaText);
  const { code, stdout, stderr } = await runSheaf([...withSchema, "--output-format", "json", "go"], { cwd });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^sheaf: CONFIG_INVALID: the schema schema\.json [^\n]+\n$/);
  expect(stderr).toContain(message);
});

test(verifies("S-71", "an answer that is nested without bound does not fit"), async () => {
  const cwd = createPlace("{}", "[".repeat(100_000) + "]".repeat(100_000));
  const { code, stderr } = await runSheaf([...withSchema, "go"], { cwd });
  expect([code, stderr]).toEqual([6, expect.stringContaining("the value is nested too deeply") as string]);
});
