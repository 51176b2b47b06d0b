import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toMarkdown } from "../../src/network/html-to-markdown.ts";

const convert = (html: string) => toMarkdown(html, new AbortController().signal);

describe("a page", () => {
  test.each([
    ["<h1>Title</h1><p>One\n  two &amp; three.</p><p>Four</p>", "# Title\n\nOne two & three.\n\nFour"],
    ["<title>T &lt;1&gt;</title><body><p>text", "T <1>\n\ntext"],
    ["<p>a <b>bold </b>and <em>soft</em>, <b></b><code>x &lt; y</code></p>", "a **bold** and *soft*, `x < y`"],
    ['<a href="other.html">other</a> <a href="/top?a=1&amp;b=2">top</a>', "[other](other.html) [top](/top?a=1&b=2)"],
    [
      '<a href="javascript:run()">run</a> <a href="java\tscript:x()">tab</a> <a href="JaVa&#x0A;script:x()">mix</a>',
      "run tab mix",
    ],
    ["<ul><li>one<li>two <ul><li>inner</ul><li>three</ul>", "- one\n- two\n  - inner\n- three"],
    [
      '<pre><code class="hljs language-ts">const a = 1;\n\n  if (a &lt; 2) {}\n</code></pre>',
      "```ts\nconst a = 1;\n\n  if (a < 2) {}\n```",
    ],
    ["<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"],
    ["<table><tr><th>A<th>B<tr><td>1 | 2<td><p>x</p><p>y</p></table>", "| A | B |\n| --- | --- |\n| 1 \\| 2 | x y |"],
    ['<img src="x.png" alt="A chart"><img src="data:image/png;base64,AAAA" alt=x>', "![A chart](x.png)"],
    [
      "<nav><a href=x>menu</a></nav><p hidden>secret</p><script>var a = '<p>no</p>'</script><style>p{}</style><p>shown",
      "shown",
    ],
    ["<header>top</header><main><p>main part</p></main><footer>end</footer>", "main part"],
    ["<!-- <main> --><p>no main part</p>", "no main part"],
    ["</div></p>text<b>open", "text**open**"],
    ["", ""],
  ])("%j", async (html, expected) => {
    expect((await convert(html)).trim()).toBe(expected);
  });
});

test(verifies("S-72", "a page that is made to be slow ends at the limit, and the next one converts"), async () => {
  await expect(convert("<code>`".repeat(200_000))).rejects.toThrow("it takes longer than 5 s");
  expect(await convert("<p>next")).toBe("next");
});

/** Converts a page in a process with these options. `html` is an expression. */
function convertApart(html: string, options: readonly string[], environment: NodeJS.ProcessEnv = {}): string {
  const address = new URL("../../src/network/html-to-markdown.ts", import.meta.url).href;
  const source = `
    import { toMarkdown } from ${JSON.stringify(address)};
    console.log(await toMarkdown(${html}, new AbortController().signal).catch(({ message }) => message));`;
  const args = [...options, "--conditions=sheaf-source", "--input-type=module", "--eval", source];
  return spawnSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, ...environment } }).stdout;
}

test(verifies("S-72", "a page that needs too much memory is not said to be slow"), () => {
  expect(convertApart('"<p>text".repeat(1e6)', ["--wasm-max-mem-pages=120"])).toBe("unreachable\n");
});

test(verifies("S-224", "the thread loads no file that the user's options for Node name"), () => {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-preload-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "preload.cjs");
  writeFileSync(file, 'process.stdout.write("loaded\\n");');
  // The process itself loads it once.
  expect(convertApart('"<p>text"', [], { NODE_OPTIONS: `--require ${file}` })).toBe("loaded\ntext\n");
});

test("an abort ends the conversion", async () => {
  const aborted = toMarkdown("<code>`".repeat(200_000), AbortSignal.timeout(200));
  await expect(aborted).rejects.toThrow(/timeout/);
});
