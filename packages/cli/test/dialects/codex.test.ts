/** The profile `codex-2026`: arguments as those of a prompt, and a run as lines. */
import { describe, expect, test } from "vitest";
import { codexDialect } from "../../src/dialects/codex/codex.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const read = (line: string, environment: Record<string, string> = {}) => {
  const words = line.match(/'[^']*'|\S+/g) ?? [];
  const { parsed, notices } = codexDialect.readArguments(
    words.map((word) => word.replaceAll("'", "")),
    { environment, cwd: "/" },
  );
  const { print: _, "exclude-tools": __, ...flags } = parsed.flags;
  return { flags, words: parsed.positionals, losses: notices.map(({ message }) => message.split(" is ignored: ")[0]) };
};
const base = { sandbox: "enabled" };

describe("arguments", () => {
  test.each([
    ["exec 'Fix it'", {}, ["Fix it"]],
    ["e -", {}, ["-"]],
    ["-m a/b exec --color never --skip-git-repo-check go", { model: "a/b" }, ["go"]],
    ["exec --json go", { "output-format": "stream-json", "include-thinking": true }, ["go"]],
    ["exec -C d --add-dir a --add-dir b -i x.png,y.png -i z.png -- -", dirs(), ["-"]],
    ["exec --experimental-json --ephemeral -o out.md --output-schema s.json go", files(), ["go"]],
    ["exec resume 1f go", { resume: "1f" }, ["go"]],
    ["exec resume --last go", { continue: true }, ["go"]],
    ["exec resume 1f --image a.png", { resume: "1f", image: ["a.png"] }, []],
    ["exec -c model=m -c 'model_reasoning_effort=\"xhigh\"' go", { model: "m", effort: "max" }, ["go"]],
    [
      "exec -c model_reasoning_effort=minimal -c tools.web_search=true go",
      { effort: "low", "web-search": true },
      ["go"],
    ],
    ["exec -c 'web_search=\"disabled\"' -c 'approval_policy=\"never\"' -a on-request go", {}, ["go"]],
  ])(verifies("C210", "%s"), (line, flags, words) => {
    expect(read(line)).toEqual({ flags: { ...base, ...flags }, words, losses: [] });
  });

  function dirs() {
    return { workspace: ["d"], "add-dir": ["a", "b"], image: ["x.png", "y.png", "z.png"] };
  }

  function files() {
    const json = { "output-format": "stream-json", "include-thinking": true };
    return { ...json, "no-save": true, "output-last-message": "out.md", "output-schema": "s.json" };
  }

  test.each([
    ["exec -p work --enable x --disable=y go", ["-p", "--enable", "--disable"]],
    [
      "exec --thread-source user --newest -c hide_agent_reasoning=true go",
      ["--thread-source", "--newest", "--config hide_agent_reasoning"],
    ],
    ["exec --newest=1 -c mcp_servers.a.command=x -c mcp_servers.a.args=[] go", ["--newest", "mcp_servers"]],
    ["exec -c shell_environment_policy.inherit=all go", ["--config shell_environment_policy.inherit"]],
  ])(verifies("C210", "%s has a notice for each part without an effect"), (line, losses) => {
    const found = read(line);
    expect(found).toEqual({ flags: base, words: ["go"], losses });
  });

  test.each([
    ["go", /codex go does not work here/],
    ["", /^codex does not work here/],
    ["login status", /codex login/],
    ["exec review", /codex exec review/],
    ["exec go on", /the word "on" .*quotes/],
    ["exec --newest go", /write --newest=VALUE, or put the prompt after --/],
    ["exec --oss go", /name a local model/],
    ["exec --remote host go", /--remote does not work here/],
    ["exec go --no-approvals", /may limit the run/],
    ["exec --dangerously-bypass-hook-trust -m m go", /may limit the run/],
    ["exec -c sandbox_workspace_write.exclude_slash_tmp=true go", /--config sandbox_workspace_write.exclude_slash_tmp/],
    ["exec -c shell_environment_policy.exclude=[] go", /may limit the run/],
    ["exec -s open go", /--sandbox "open" is unknown: use one of read-only/],
    ["exec -c approval_policy=granular go", /approval_policy "granular" is unknown/],
    ["exec -o", /-o needs a value/],
    ["exec -c openai_base_url=http://127.0.0.1/v1 go", /openai_base_url without a model/],
  ])(verifies("C210", "codex %s is a usage error"), (line, message) => {
    expect(() => read(line)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) as string }),
    );
  });

  test.each([
    ["exec go", { sandbox: "enabled" }, []],
    ["exec -s read-only -c sandbox_workspace_write.network_access=true go", { sandbox: "enabled" }, []],
    ["exec -c sandbox_mode=workspace-write go", {}, []],
    ["exec --full-auto go", {}, []],
    ["exec -s read-only --full-auto go", { sandbox: "enabled" }, []],
    ["exec -s workspace-write -c sandbox_workspace_write.network_access=true go", { allow: ["Network(*)"] }, []],
    ['exec -c \'sandbox_workspace_write.writable_roots=["a","b"]\' --full-auto go', { "add-dir": ["a", "b"] }, []],
    ["exec -s danger-full-access go", {}, ["danger-full-access"]],
    ["exec --dangerously-bypass-approvals-and-sandbox go", {}, ["danger-full-access"]],
    ["--yolo exec go", {}, ["danger-full-access"]],
    ["exec --full-auto -c approval_policy=untrusted go", { ask: ["Shell(*)"] }, []],
  ])(verifies("C211", "%s never opens the sandbox"), (line, flags, losses) => {
    expect(read(line)).toEqual({ flags, words: ["go"], losses });
  });

  test(verifies("C211", "only read-only denies writing, and only it asks for the sandbox"), () => {
    const place = { environment: {}, cwd: "/" };
    expect(codexDialect.readArguments(["exec", "go"], place).settings).toEqual({ deny: ["Write(**)"] });
    expect(codexDialect.readArguments(["exec", "-s", "workspace-write", "go"], place).settings).toBeUndefined();
  });

  test(verifies("C213", "a key goes only to the address that came with it"), () => {
    const environment = { CODEX_API_KEY: "sk-x" };
    const address = "-c 'openai_base_url=\"http://127.0.0.1:1/v1\"'";
    expect(read("exec -m gpt-5 go", environment)).toMatchObject({
      flags: { model: "gpt-5" },
      losses: ["CODEX_API_KEY"],
    });
    expect(read("exec -m gpt-5 go", environment).flags).not.toHaveProperty("api-key");
    const { flags, losses } = read(`exec ${address} -m gpt-5 go`, environment);
    expect(flags).toMatchObject({ "base-url": "http://127.0.0.1:1/v1", "api-key": "sk-x", model: "gpt-5" });
    expect(losses).toEqual([]);
  });
});
