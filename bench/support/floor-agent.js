/**
 * The floor of the command line: the smallest Node program that does the same work. It writes a line to its log and one
 * to stdout for each delta, call and result, checks nothing, and does not wait for the disk.
 * Arguments: the model's endpoint, the log file.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { agent, runPrompt } from "./floor-model.js";

const [url, logFile] = process.argv.slice(2);
const log = openSync(logFile, "a");

function tell(line) {
  const text = `${JSON.stringify(line)}\n`;
  writeSync(log, text);
  writeSync(1, text);
}

await runPrompt(url, tell);
tell({ type: "result", subtype: "success" });
closeSync(log);
agent.destroy();
