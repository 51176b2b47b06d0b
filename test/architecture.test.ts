/** Who may import whom, and who may touch the outside: design rules of docs/architecture.md, checked on every source file. */
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { findViolations } from "./support/import-rules.ts";
import { readSources } from "./support/repository-files.ts";

const root = join(import.meta.dirname, "..");

describe("imports", () => {
  test("every source file keeps the rules", () => {
    const sources = readSources();
    expect(sources.length).toBeGreaterThan(60);
    expect(findViolations(sources)).toEqual([]);
  });

  // A gate that cannot fail proves nothing: each planted import must be found.
  const planted: readonly (readonly [string, string, string])[] = [
    ["packages/protocol/src/planted.ts", 'import { x } from "@sheaf/documents";', "@sheaf/documents"],
    ["packages/protocol/src/planted.ts", 'import { readFileSync } from "node:fs";', "node:fs"],
    ["packages/documents/src/planted.ts", 'import { x } from "zod";', "zod"],
    ["packages/documents/src/planted.ts", "const x = process.env.X;", "process"],
    ["packages/agent/src/run/planted.ts", 'import { x } from "../output/projection.ts";', "output/projection.ts"],
    ["packages/sandbox/src/planted.ts", 'import type { X } from "@sheaf/agent/tools/tool";', "tools/tool"],
    ["packages/agent/src/workspace/planted.ts", 'import { x } from "../index.ts";', "src/index.ts"],
    ["packages/base/src/planted.ts", 'import { x } from "@sheaf/store/store";', "@sheaf/store/store"],
    ["packages/store/src/planted.ts", 'import { x } from "@sheaf/models/provider";', "@sheaf/models/provider"],
    ["packages/agent/src/run/planted.ts", 'import { x } from "@sheaf/server/app";', "@sheaf/server/app"],
    ["packages/server/src/planted.ts", 'import { x } from "sheaf";', "sheaf"],
    ["packages/agent/src/elsewhere/planted.ts", 'import { x } from "../base/errors.ts";', "base/errors.ts"],
    ["packages/agent/src/output/planted.ts", 'import { x } from "../../../cli/src/io.ts";', "cli/src/io.ts"],
    ["packages/agent/src/tools/planted.ts", 'import { spawn } from "node:child_process";', "node:child_process"],
    ["packages/agent/src/tools/planted.ts", 'import { Worker } from "node:worker_threads";', "node:worker_threads"],
    ["packages/agent/src/tools/planted.ts", 'import { x } from "../run/run.ts";', "run/run.ts"],
    ["packages/store/src/planted.ts", 'import { createServer } from "node:http";', "node:http"],
    ["packages/agent/src/tools/planted.ts", 'const x = process.getBuiltinModule("node:http");', "node:http"],
    ["packages/agent/src/tools/planted.ts", "const x = process.env.X;", "process.env"],
    ["packages/agent/src/tools/planted.ts", 'const x = await import("./read-file.ts");', "import()"],
    ["packages/agent/src/tools/planted.ts", 'import { x } from "@sheaf/client";', "@sheaf/client"],
    ["packages/client/src/planted.ts", 'import { x } from "sheaf";', "sheaf"],
    ["packages/client/src/planted.ts", 'import { x } from "react";', "react"],
    ["packages/web/src/planted.tsx", 'import { x } from "@sheaf/documents";', "@sheaf/documents"],
    ["packages/web/src/planted.tsx", 'import { x } from "node:fs";', "node:fs"],
    ["packages/web/src/planted.tsx", 'const x = await import("./app.tsx");', "import()"],
  ];
  test.each(planted)("a forbidden import is found: %s: %s", (path, text, target) => {
    const violations = findViolations([{ path, text }]);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(path);
    expect(violations[0]).toContain(target);
  });

  test("an allowed import is not a violation", () => {
    const text = 'import { z } from "zod";\nimport type { Store } from "@sheaf/store/store";';
    expect(findViolations([{ path: "packages/agent/src/run/allowed.ts", text }])).toEqual([]);
  });
});

describe("packages", () => {
  test("no import leads out of its package by a path", () => {
    const outside = readSources().flatMap(({ path, text }) =>
      [...text.matchAll(/from "(\.[^"]+)"/g)]
        .map(([, target = ""]) => relative(join(root, path, "../../../.."), join(root, dirname(path), target)))
        .filter((target) => target.startsWith("../../..")),
    );
    expect(outside).toEqual([]);
  });

  test("protocol and documents name no module of Node", () => {
    const names = readSources()
      .filter(({ path }) => /packages\/(protocol|documents)\//.test(path))
      .flatMap(({ text }) => [...text.matchAll(/from "([^"]+)"/g)].map(([, name]) => name));
    expect(names.filter((name) => builtinModules.includes(name!.replace("node:", "")))).toEqual([]);
  });
});
