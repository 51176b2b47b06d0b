/** What the policy decides. The one place that imports it. */
import { parseRule } from "../../packages/agent/src/guard/permissions/rule.ts";
import type { PermissionOptions, Permissions } from "../../packages/agent/src/guard/permissions/permissions.ts";
import { createPolicy, toRequest } from "../../packages/agent/test/guard/permissions/policy.ts";

const programs = [
  "git", "git status", "npm test", "ls", "cat", "echo", "find", "grep", "rg", "sed", "xargs", "sort", "tar", "env", "head", "make", "node",
  "timeout 5", "nice -n 10", "bash", "sudo", "time", "awk", "curl", "test", "true", "printf", "npm", "sh", "python3", "perl",
]; // prettier-ignore

const forbidden = ["git push", "rm", "npm publish", "docker push", "kubectl delete", "sudo", "terraform destroy"];

const toRules = (words: readonly string[]) => words.map((text) => `Shell(${text})`);

const gitObstacle: PermissionOptions["findGitObstacle"] = (folder, words) =>
  folder === undefined || words.includes(undefined) || words[0] === "diff"
    ? { reason: `git in ${folder}: ${words.join(" ")}`, cause: { code: "not_readable" }, advice: "look" }
    : undefined;

const commandPolicies: Readonly<Record<string, Permissions>> = {
  "no rules": createPolicy(),
  "allowed programs": createPolicy({ allow: toRules(programs) }),
  "allowed and denied": createPolicy({ allow: toRules(programs), deny: [...toRules(forbidden), "Read(.env)"] }),
  "force, denied": createPolicy({ force: true, deny: toRules(forbidden) }),
  "force, one denied": createPolicy({ force: true, deny: ["Shell(git push)"] }),
  "sandbox, denied": createPolicy({ sandbox: "enabled", deny: toRules(["rm", "git push"]) }),
  "everything allowed, some asked": createPolicy({ allow: ["Shell(*)"], ask: toRules(["git", "npm publish", "curl"]) }),
  "trusted, git in the way, reads denied": createPolicy({
    trusted: true,
    allow: toRules(["npm test", "git commit"]),
    deny: ["Read(secret/**)", "Read(**/*.key)"],
    findGitObstacle: gitObstacle,
  }),
  "debug mode": createPolicy({ mode: "debug", allow: toRules(["ls", "cat"]) }),
};

/** One line for each policy. */
export async function decideCommand(command: string): Promise<string> {
  const request = toRequest({ toolName: "run_terminal_cmd", access: "command", arguments: { command } });
  const lines: string[] = [];
  for (const [name, policy] of Object.entries(commandPolicies)) {
    lines.push(`${name}: ${JSON.stringify(await policy.decide(request))}\n`);
  }
  return lines.join("");
}

const rules = [
  "Read(.env)", "Read(**/.env*)", "Read(secret/**)", "Write(src/**)", "Write(*.ts)", "Write(**/*.{ts,js})", "Read(a/*/b)", "Read(a/**/b)", "Write([a-c]x/?.md)", "Read(/etc/**)", "Read(~/.ssh/**)", "Write(./x/)", "Read({a,b}/{c,d})",
  "Read(**)", "Write(größe.txt)", "Read(a\\*b)", "Read([!a]*)", "Read(..)", "Read()", "Read(x//)", "Read(a/.)", "Read([a-z]*)", "Read([^a]x)", "Read({a)", "Read({a,b}{c,d}/**)", "Read(a/../b)", "Read(../x)", "Read(/w/**)", "Read(\\[x])", "Read([])", "Read([a]d)", "Read([]a])", "Read(*.*)", "Read(**/a)", "Read(a**)", "Read(./.env)", "Write(**/b/**)", "Reed(x)", "Shell(a; b)", "Shell($x)", "WebFetch(example.com)", "WebFetch(*.example.com)", "Network(example.com:443)", "Network(@npm)", "Mcp(files:read)", "Mcp(files)",
  "Credentials(@npm)", "PrivateNetwork(mirror.local)", "WebFetch(*)", "Mcp(a b)",
]; // prettier-ignore

const paths = [
  ".env", "a/.env.local", "secret/key", "secret", "src/a.ts", "src", ".", "a/x/b", "a/b", "a/x/y/b", "ax/1.md", "/etc/passwd", "x/y", "x", "a/c", "größe.txt", "a*b", "b", "../x", "", "a.TS", "SECRET/key", "ac/x", "ad", "a.", "[x]", "]", "{a", "a/b/c/d", "x/a", "x.y.z", "a\nb", "./src/a.ts", "src/../.env", "/w/src/a.ts", "src\\a.ts",
]; // prettier-ignore

const fileTools = [
  ["read_file", "read", "target_file"],
  ["edit_file", "write", "target_file"],
  ["rename_file", "write", "destination_file"],
  ["list_dir", "read", "target_directory"],
  ["grep_search", "read", "path"],
  ["glob_search", "read", "target_directory"],
  ["codebase_search", "read", "target_directories"],
  ["unknown_tool", "write", "x"],
] as const;

const addresses = [
  "https://example.com/", "http://a.example.com/x", "https://EXAMPLE.com.", "https://user@example.com", "http://127.0.0.1/", "http://localhost:1", "http://[::1]/", "https://xn--grn-ioa.example", "ftp://example.com", "x", "http://0x7f.1/", "https://evil.com/?example.com",
]; // prettier-ignore

const modes = ["agent", "ask", "plan", "debug"] as const;

const otherTools = [
  ["ask_question", "state"],
  ["create_plan", "state"],
  ["todo_write", "state"],
  ["run_agent", "state"],
  ["add_instrumentation", "write"],
  ["run_terminal_cmd", "command"],
  ["web_fetch", "network"],
  ["read_file", "read"],
] as const;

/** Decisions on rules, files, addresses, tools of servers and modes, by what was asked. */
export async function* decideOthers(): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  for (const mode of modes) {
    for (const [toolName, access] of otherTools) {
      const request = { toolName, access, arguments: { command: "ls", url: "https://example.com" } };
      yield {
        key: `${mode} ${toolName}`,
        text: JSON.stringify(await createPolicy({ mode }).decide(toRequest(request))),
      };
    }
  }
  for (const rule of rules) {
    yield { key: `rule ${rule}`, text: describe(() => parseRule(rule)) };
    for (const effect of ["allow", "deny", "ask"] as const) {
      const policy = tryPolicy({ [effect]: [rule] });
      if (typeof policy === "string") yield { key: `${effect} ${rule}`, text: policy };
      else yield* decideUnder(policy, `${effect} ${rule}`);
    }
  }
}

async function* decideUnder(policy: Permissions, name: string): AsyncGenerator<{ key: string; text: string }> {
  const texts: string[] = [];
  for (const path of paths) {
    for (const [toolName, access, field] of fileTools) {
      const decision = await policy.decide(toRequest({ toolName, access, arguments: { [field]: path } }));
      texts.push(`${toolName} ${path}: ${JSON.stringify(decision)}\n`);
    }
  }
  for (const url of addresses) {
    const decision = await policy.decide(toRequest({ toolName: "web_fetch", access: "network", arguments: { url } }));
    texts.push(`${url}: ${JSON.stringify(decision)}\n`);
  }
  for (const tool of ["read", "write", "a b"]) {
    const request = { toolName: tool, access: "mcp", arguments: {}, mcp: { server: "files", tool } } as const;
    texts.push(`files:${tool}: ${JSON.stringify(await policy.decide(toRequest(request)))}\n`);
  }
  yield { key: name, text: texts.join("") };
}

function tryPolicy(options: Partial<PermissionOptions>): Permissions | string {
  try {
    return createPolicy(options);
  } catch (error) {
    return `refused: ${String(error)}`;
  }
}

/** A rule holds functions, which JSON leaves out. */
function describe(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return `refused: ${String(error)}`;
  }
}
