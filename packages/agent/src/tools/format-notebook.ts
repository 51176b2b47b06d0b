/** Jupyter notebooks as text: cells and their output, without images and the JSON around them. */
import { parseJson, toJsonObject } from "@sheaf/protocol/check-value";

/** Most characters of one output. */
const maxOutput = 2000;

/** Returns the cells of a notebook; undefined if the text isn't a notebook of version 4. */
export function formatNotebook(json: string): string | undefined {
  const cells = toJsonObject(parseJson(json))["cells"];
  if (!Array.isArray(cells)) return undefined;
  const texts = cells.map((value: unknown, index) => {
    const cell = toJsonObject(value);
    const type = typeof cell["cell_type"] === "string" ? cell["cell_type"].slice(0, 20) : "unknown";
    const outputs = Array.isArray(cell["outputs"]) ? cell["outputs"].map(formatOutput) : [];
    const parts = [`# %% [${type}] cell ${index + 1}`, toText(cell["source"]), ...outputs];
    return parts.filter((part) => part !== "").join("\n");
  });
  return `${texts.join("\n\n")}\n`;
}

function formatOutput(value: unknown): string {
  const output = toJsonObject(value);
  if (output["output_type"] === "error") {
    return `# error\n${cut(`${toText(output["ename"])}: ${toText(output["evalue"])}`)}`;
  }
  const data = toJsonObject(output["data"]);
  const text = toText(output["text"]) || toText(data["text/plain"]);
  const others = Object.keys(data).filter((type) => type !== "text/plain");
  const left = others.length > 0 ? ` (not shown: ${others.slice(0, 5).join(", ").slice(0, 100)})` : "";
  return text === "" && left === "" ? "" : `# output${left}\n${cut(text)}`.trimEnd();
}

function cut(text: string): string {
  if (text.length <= maxOutput) return text;
  return `${text.slice(0, maxOutput).toWellFormed()}\n# ${text.length - maxOutput} more characters are not shown`;
}

/** Joins a text, which notebooks have as a string, or as a list of lines with their ends. */
function toText(value: unknown): string {
  const text = Array.isArray(value) ? value.filter((line) => typeof line === "string").join("") : value;
  return typeof text === "string" ? text.replace(/\n$/, "") : "";
}
