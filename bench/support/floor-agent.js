/**
 * The floor of the agent: the least Node program that does the same work. Plain JavaScript, so that nothing is compiled.
 * It asks the model, writes a line to its log and one to stdout for each delta, call and result, runs the tool, and asks
 * again. It checks nothing, waits for no disk, and loads no module that it does not need.
 * Words: the base URL, the file of the log.
 */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";

const [url, logFile] = process.argv.slice(2);
const { request, Agent } = process.getBuiltinModule("node:http");
const agent = new Agent({ keepAlive: true });
const log = openSync(logFile, "a");
const messages = [{ role: "user", content: "go" }];

/** A line in the log, and on stdout. */
function tell(line) {
  const text = `${JSON.stringify(line)}\n`;
  writeSync(log, text);
  writeSync(1, text);
}

/** The data of each event of one answer. */
async function* ask() {
  const body = JSON.stringify({ model: "m", stream: true, messages });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const response = await new Promise((resolve, reject) => {
    request(`${url}/chat/completions`, { method: "POST", headers, agent }, resolve).on("error", reject).end(body);
  });
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
    }
  }
}

async function runTool(name, args) {
  if (name === "read_file") {
    return readFileSync(args.target_file, "utf8").split("\n").slice(0, args.limit).join("\n");
  }
  if (name === "edit_file") {
    let text = readFileSync(args.target_file, "utf8");
    for (const edit of args.edits) text = text.replace(edit.old_string, edit.new_string);
    writeFileSync(args.target_file, text);
    return "edited";
  }
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn("bash", ["-c", args.command], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await new Promise((resolve) => {
    child.on("close", resolve);
  });
  return output;
}

for (let isOpen = true; isOpen;) {
  isOpen = false;
  let text = "";
  let call;
  for await (const { choices } of ask()) {
    const { delta } = choices[0];
    if (delta.content) {
      text += delta.content;
      tell({ type: "assistant", text: delta.content });
    }
    if (delta.tool_calls) call = delta.tool_calls[0];
  }
  messages.push({ role: "assistant", content: text, ...(call && { tool_calls: [call] }) });
  if (!call) continue;
  const args = JSON.parse(call.function.arguments);
  tell({ type: "tool_call", subtype: "started", call: { name: call.function.name, args } });
  const output = await runTool(call.function.name, args);
  tell({ type: "tool_call", subtype: "completed", output });
  messages.push({ role: "tool", tool_call_id: call.id, content: output });
  isOpen = true;
}
tell({ type: "result", subtype: "success" });
closeSync(log);
agent.destroy();
