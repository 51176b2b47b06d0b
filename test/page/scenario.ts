/** A workspace and what a scripted model does in it: every type of document, as a person would meet them. */

/** Files by path. */
export const workspace: Readonly<Record<string, string>> = {
  "README.md": "# Greenhouse\n\nReads sensors and waters plants.\n",
  "src/app.py": `from flask import Flask

from src.routes import api

app = Flask(__name__)
app.register_blueprint(api)


def main():
    app.run(port=5000)
`,
  "src/routes.py": `from flask import Blueprint, jsonify

api = Blueprint("api", __name__)


@api.route("/plants")
def list_plants():
    return jsonify([])
`,
  "old/notes.txt": "nothing of interest\n",
};

const plan = {
  title: "Token check for the API",
  overview: "Requests to the API carry a signed token; everything else is refused with 401.",
  plan: "## Steps\n\n1. A decorator `require_token` checks the header `Authorization`.\n2. Every route of `src/routes.py` gets it.\n3. Tests cover a missing, a wrong and an expired token.\n",
  todos: [
    { id: "decorator", content: "Write the decorator", dependencies: [] },
    { id: "routes", content: "Use it in every route", dependencies: ["decorator"] },
    { id: "tests", content: "Test missing, wrong and expired tokens", dependencies: ["decorator"] },
    { id: "docs", content: "Describe the header in the README", dependencies: ["routes", "tests"] },
  ],
};

const colours =
  "printf '\\033[32mok\\033[0m  test_missing_token\\n\\033[32mok\\033[0m  test_wrong_token\\n\\033[31mFAIL\\033[0m test_expired_token\\n'; printf '\\033[1m2 passed, \\033[31m1 failed\\033[0m\\n'; exit 1";

/** One answer with every type but a question. */
export const everyType = {
  name: "Greenhouse",
  turns: [
    {
      events: [
        {
          text: "Let me look at the routes first. The entry point registers one blueprint:\n\n```6:6:src/app.py\napp.register_blueprint(api)\n```\n",
          chunk: 7,
        },
        {
          calls: [
            { tool: "read_file", arguments: { target_file: "src/routes.py" } },
            { tool: "grep_search", arguments: { pattern: "route", path: "src" } },
          ],
        },
      ],
      usage: { promptTokens: 1830, completionTokens: 212 },
    },
    {
      events: [{ call: { tool: "create_plan", arguments: plan } }],
      usage: { promptTokens: 2410, completionTokens: 318 },
    },
    {
      events: [
        { text: "The decorator gets its own file so that tests can import it without the app." },
        {
          call: {
            tool: "write_file",
            arguments: {
              target_file: "src/tokens.py",
              content: `import functools
import os

import jwt
from flask import abort, request


def require_token(view):
    """Lets requests with a valid token through."""

    @functools.wraps(view)
    def check(*args, **kwargs):
        header = request.headers.get("Authorization", "")
        if not header.startswith("Bearer "):
            abort(401)
        try:
            jwt.decode(header[7:], os.environ["TOKEN_KEY"], algorithms=["HS256"])
        except jwt.InvalidTokenError:
            abort(401)
        return view(*args, **kwargs)

    return check
`,
            },
          },
        },
        {
          call: {
            tool: "edit_file",
            arguments: {
              target_file: "src/routes.py",
              edits: [
                {
                  old_string: "from flask import Blueprint, jsonify\n",
                  new_string: "from flask import Blueprint, jsonify\n\nfrom src.tokens import require_token\n",
                },
                {
                  old_string: '@api.route("/plants")\ndef list_plants():\n    return jsonify([])',
                  new_string:
                    '@api.route("/plants")\n@require_token\ndef list_plants():\n    return jsonify(read_plants())',
                },
              ],
            },
          },
        },
        {
          call: {
            tool: "todo_write",
            arguments: {
              merge: true,
              todos: [
                { id: "decorator", status: "completed" },
                { id: "routes", status: "completed" },
                { id: "tests", status: "in_progress" },
              ],
            },
          },
        },
      ],
      usage: { promptTokens: 3120, completionTokens: 901 },
    },
    {
      events: [
        { call: { tool: "run_terminal_cmd", arguments: { command: colours } } },
        {
          call: {
            tool: "rename_file",
            arguments: { source_file: "old/notes.txt", destination_file: "docs/notes.txt" },
          },
        },
        { call: { tool: "read_file", arguments: { target_file: "src/plants.py" } } },
      ],
      usage: { promptTokens: 3604, completionTokens: 127 },
    },
    {
      events: [
        {
          text: `One test fails: an **expired** token still passes on a machine whose clock is behind. A small leeway is usual, but then the check must be explicit:

\`\`\`python purpose=example
jwt.decode(token, key, algorithms=["HS256"], leeway=30)
\`\`\`

| case | answer |
|---|---|
| no header | 401 |
| wrong signature | 401 |
| expired | 401 |

- [x] decorator
- [x] routes
- [ ] tests

More on this in [the library's notes](https://pyjwt.readthedocs.io/en/stable/usage.html).
`,
          chunk: 7,
        },
      ],
      usage: { promptTokens: 4012, completionTokens: 264 },
    },
  ],
};

/** A command that a person must allow. */
export const approval = {
  turns: [
    {
      events: [
        { text: "I need to run the tests." },
        {
          call: { tool: "run_terminal_cmd", arguments: { command: "node -e 'console.log(\"tested\")' # \u202Edone" } },
        },
      ],
    },
    { events: [{ text: "The tests ran." }] },
  ],
  after: "loop",
};

/** Plan mode, then agent mode. */
export const planThenBuild = {
  turns: [
    { events: [{ call: { tool: "create_plan", arguments: plan } }] },
    {
      events: [
        { call: { tool: "todo_write", arguments: { merge: true, todos: [{ id: "decorator", status: "completed" }] } } },
      ],
    },
    { events: [{ text: "Built." }] },
  ],
  after: "repeat_last",
};

/** Text that takes a while, so that something can happen meanwhile. */
export const slow = {
  turns: [
    {
      events: Array.from({ length: 30 }, (_, index) => [
        { text: `Line ${index + 1} of the answer.\n\n` },
        { wait_ms: 80 },
      ]).flat(),
    },
  ],
  after: "loop",
};

/** Text, then nothing more until it is stopped. */
export const endless = { turns: [{ events: [{ text: "This takes a while." }, { stall: true }] }], after: "loop" };

/** The provider fails. */
export const failing = {
  turns: [
    {
      events: [
        { text: "One moment.\n\n> [!NOTE]\n> The **limit** is near.\n" },
        { error: { code: "RATE_LIMITED", message: "too many requests", details: "limit 10 a minute" } },
      ],
    },
  ],
  after: "loop",
};

/** One short answer after the other. */
export const short = { turns: [{ events: [{ text: "A short answer." }] }], after: "loop" };

const rows = Array.from({ length: 60 }, (_, index) => `| Row ${index + 1} | ${(index + 1) * 137} | done |`).join("\n");

/** Tables that fit, that are long and that are wide, and words without a place to break. */
export const wideText = {
  turns: [
    {
      events: [
        {
          text: `Traffic of the last week:

| Region | Requests | Errors | p50 | p99 | Note |
|---|--:|--:|--:|--:|---|
| europe-central-2 | 1,204,331,207 | 12,004 | 41.25 ms | 1,204.75 ms | The second half of the week includes the load test of Wednesday, which is not representative for ordinary traffic. |
| asia-northeast-1 | 331,207,118 | 9,771 | 38.50 ms | 980.10 ms | See \`packages/permissions/src/decide-command.ts\` |
| us-east-1 | 2,980,115,004 | 88,102 | 35.75 ms | 1,877.00 ms | https://status.example.com/incidents/2026/11/${"0123456789".repeat(8)} |

| case | answer |
|---|---|
| no header | 401 |
| expired | 401 |

Run \`npx vitest run --project browser test/page/answers.test.ts --reporter verbose --bail 1 --testNamePattern "tables and long words"\` or open https://example.com/${"a-very-long-path/".repeat(12)}index.html?query=${"z".repeat(120)} in a browser. One word: \`${"abcdef".repeat(30)}\`.

| Step | Bytes | State |
|---|--:|---|
${rows}
`,
        },
      ],
    },
  ],
  after: "loop",
};

/** Three questions of three kinds. */
export const severalQuestions = {
  turns: [
    {
      events: [
        {
          call: {
            tool: "ask_question",
            arguments: {
              title: "Three things are open before I begin.",
              questions: [
                {
                  id: "tests",
                  prompt: "Which tests?",
                  options: [
                    { id: "unit", label: "Unit tests" },
                    { id: "browser", label: "Browser tests" },
                  ],
                  allow_multiple: true,
                },
                {
                  id: "database",
                  prompt: "Which database?",
                  options: [
                    { id: "sqlite", label: "SQLite" },
                    { id: "postgres", label: "PostgreSQL" },
                  ],
                },
                { id: "else", prompt: "Anything else?", options: [] },
              ],
            },
          },
        },
      ],
    },
    { events: [{ text: "Tests it is." }] },
  ],
  after: "repeat_last",
};

/** Three commands that a person must allow, in one turn. */
export const severalApprovals = {
  turns: [
    {
      events: [
        {
          calls: ["one", "two", "three"].map((word) => ({
            tool: "run_terminal_cmd",
            arguments: { command: `node -p "'${word}'"` },
          })),
        },
      ],
    },
    { events: [{ text: "Done." }] },
  ],
  after: "loop",
};

const thought = "The lockfile names two versions of the parser. Which one do the tests import? ";
/** A model that thinks before it answers. */
export const thoughtful = {
  turns: [
    {
      events: [
        { reasoning: thought.repeat(40), chunk: 16, group: 8 },
        { wait_ms: 1500 },
        { text: "The tests import the older version." },
      ],
      usage: { promptTokens: 400, completionTokens: 900, reasoningTokens: 800 },
    },
  ],
};

/** A skill, a command and a subagent of the user. */
export const ownSkills: Readonly<Record<string, string>> = {
  "commands/risks.md":
    "---\ndescription: Look at what changed since main, and name the three largest risks\nargument-hint: [what to think of]\n---\nName risks. $ARGUMENTS\n",
  "skills/release/SKILL.md":
    "---\nname: release\ndescription: How a release is made, step by step\n---\nRaise the version, then tag it.\n",
  "agents/tests.md": "---\ndescription: runs the tests and reports what fails\n---\nRun the tests.\n",
};

const hook = (matcher: string, command: string) => ({ matcher, hooks: [{ type: "command", command }] });
const changed = { hookEventName: "PreToolUse", updatedInput: { file_path: "src/app.py" } };

/** One that speaks, one that refuses, one that changes a call, one that fails. */
export const ownHooks = {
  hooksSandbox: false,
  hooks: {
    UserPromptSubmit: [hook("", "echo Branch: main")],
    PreToolUse: [
      hook("Bash", "if grep -q 'rm -r'; then echo 'Nothing is deleted here: use trash.' >&2; exit 2; fi"),
      hook("Read", `if grep -q old.py; then echo '${JSON.stringify({ hookSpecificOutput: changed })}'; fi`),
    ],
    PostToolUse: [hook("Glob", "exit 3")],
  },
};

/** Seconds: long enough for pictures, if some are taken. */
const pause = process.env.SHEAF_SCREENSHOTS === "1" ? 15 : 1;

const searchTask = "Where are requests checked, and which routes skip the check? Name files and lines.";

/** Reads a skill, is held by hooks, and gives work to three subagents, of which one fails. */
export const delegating = {
  name: "Greenhouse",
  turns: [
    {
      events: [
        { text: "First the way releases are made here, then what changed." },
        {
          calls: [
            { tool: "read_skill", arguments: { name: "release" } },
            { tool: "run_terminal_cmd", arguments: { command: "rm -r build" } },
            { tool: "read_file", arguments: { target_file: "old.py" } },
            { tool: "glob_search", arguments: { pattern: "**/*.py" } },
          ],
        },
      ],
    },
    {
      events: [
        { text: "Three parts do not depend on each other." },
        {
          calls: [
            { tool: "run_agent", arguments: { kind: "search", task: searchTask } },
            { tool: "run_agent", arguments: { kind: "tests", task: "Run the tests of tokens and say what fails." } },
            { tool: "run_agent", arguments: { kind: "review", task: "Review the decorator for holes." } },
          ],
        },
      ],
      usage: { promptTokens: 2100, completionTokens: 260 },
    },
    {
      events: [{ text: "The largest risk: expired tokens pass on a machine whose clock is behind." }],
      usage: { promptTokens: 2600, completionTokens: 90 },
    },
  ],
  agents: {
    search: [
      {
        events: [
          { text: "Looking at the routes." },
          {
            calls: [
              { tool: "grep_search", arguments: { pattern: "route", path: "src" } },
              { tool: "read_file", arguments: { target_file: "src/routes.py" } },
            ],
          },
        ],
        usage: { promptTokens: 600, completionTokens: 40 },
      },
      {
        events: [
          {
            text: "No route is checked yet:\n\n- `src/routes.py:6` lists plants without a token.\n- `src/app.py:6` registers the blueprint as it is.\n",
          },
        ],
        usage: { promptTokens: 800, completionTokens: 50 },
      },
    ],
    tests: [
      {
        events: [
          {
            call: {
              tool: "run_terminal_cmd",
              arguments: { command: `sleep ${pause}; echo 'FAIL test_tokens'; exit 1` },
            },
          },
        ],
      },
      { events: [{ text: "`test_tokens` fails." }] },
    ],
    review: [
      { events: [{ text: "Reading." }, { error: { code: "PROVIDER_REJECTED", message: "the request is too long" } }] },
    ],
  },
};

/** A subagent wants to run a command that a person must allow. */
export const asking = {
  turns: [
    { events: [{ call: { tool: "run_agent", arguments: { kind: "tests", task: "Run the tests." } } }] },
    { events: [{ text: "They pass." }] },
  ],
  agents: {
    tests: [
      { events: [{ call: { tool: "run_terminal_cmd", arguments: { command: "node -e 'console.log(1)'" } } }] },
      { events: [{ text: "All pass." }] },
    ],
  },
};
