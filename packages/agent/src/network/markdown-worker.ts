/** The thread that converts one page to Markdown (S-72). */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { htmlToMarkdown, initSync } from "mdream/wasm";

/** Elements whose contents are for browsers, and images inside their address, which would fill the model's window. */
const exclude = [
  "nav", "button", "select", "datalist", "object", "canvas", "audio", "video", "svg", "iframe", "noscript", "template",
  "[hidden]", 'img[src^="data:"]', 'img[src^="javascript:"]',
]; // prettier-ignore

const program = import.meta.url.endsWith(".ts")
  ? new URL(import.meta.resolve("mdream/wasm/mdream_edge_bg.wasm"))
  : new URL("./mdream_edge_bg.wasm", import.meta.url);
initSync({ module: readFileSync(program) });
const html = workerData as string;
// The title of a page mostly repeats its first heading.
if (/<h1[\s>]/i.test(html)) exclude.push("title");
// If a page has no `main` element, the library looks for one by headings, and can lose the text before them.
const main = /<main[\s>]/i.test(html) ? convert(true) : "";
const port = parentPort!;
port.postMessage(main.trim() === "" ? convert(false) : main);

function convert(isolateMain: boolean): string {
  const clean = { emptyLinks: true, emptyLinkText: true, emptyImages: true };
  return htmlToMarkdown(html, { clean, plugins: { isolateMain, filter: { exclude } } });
}
