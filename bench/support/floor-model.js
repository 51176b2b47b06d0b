/**
 * What both floors share: it calls the model and runs tools, and does nothing else. Plain JavaScript that imports only
 * what it needs, so that nothing is compiled or loaded for comfort.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const { request, Agent } = process.getBuiltinModule("node:http");
export const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Yields the frames of one answer. `url` is the endpoint: `…/chat/completions` or `…/messages`. */
async function* callModel(url, messages) {
  const body = JSON.stringify({ model: "m", stream: true, messages });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const response = await new Promise((resolve, reject) => {
    request(url, { method: "POST", headers, agent }, resolve).on("error", reject).end(body);
  });
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
  }
}

/** Text, and the parts of a tool call, in a frame of either provider. */
function readFrame(frame) {
  if (frame.choices) {
    const delta = frame.choices[0]?.delta;
    const call = delta?.tool_calls?.[0];
    return { text: delta?.content, id: call?.id, name: call?.function.name, json: call?.function.arguments };
  }
  const { delta, content_block: block } = frame;
  return { text: delta?.text, id: block?.id, name: block?.name, json: delta?.partial_json };
}

/** Runs one prompt: `tell` gets a line for each delta, call and result. */
export async function runPrompt(url, tell) {
  const messages = [{ role: "user", content: "go" }];
  for (;;) {
    let text = "";
    let call;
    for await (const frame of callModel(url, messages)) {
      const part = readFrame(frame);
      if (part.text) {
        text += part.text;
        tell({ type: "assistant", text: part.text });
      }
      if (part.id) call = { id: part.id, name: part.name, json: "" };
      if (part.json) call.json += part.json;
    }
    messages.push({ role: "assistant", content: text, ...(call && { tool_calls: [call] }) });
    if (!call) return;
    const args = JSON.parse(call.json);
    tell({ type: "tool_call", subtype: "started", name: call.name, args });
    const output = await runTool(call.name, args);
    tell({ type: "tool_call", subtype: "completed", output });
    messages.push({ role: "tool", tool_call_id: call.id, content: output });
  }
}

async function runTool(name, args) {
  switch (name) {
    case "read_file":
      return readFileSync(args.target_file, "utf8").split("\n").slice(0, args.limit).join("\n");
    case "edit_file": {
      let text = readFileSync(args.target_file, "utf8");
      for (const edit of args.edits) text = text.replace(edit.old_string, edit.new_string);
      writeFileSync(args.target_file, text);
      return "edited";
    }
    case "run_terminal_cmd":
      return runCommand("bash", ["-c", args.command]);
    case "glob_search":
      return readdirSync(".", { recursive: true }).join("\n");
    case "grep_search":
      return runCommand("rg", ["--count", args.pattern]);
    default:
      throw new Error(`the floor has no tool ${name}`);
  }
}

async function runCommand(program, words) {
  const child = process.getBuiltinModule("node:child_process").spawn(program, words, {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await new Promise((resolve) => {
    child.on("close", resolve);
  });
  return output;
}
