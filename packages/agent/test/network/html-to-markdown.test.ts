import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { toHtmlTokens } from "../../src/network/html-tokens.ts";
import { toMarkdown } from "../../src/network/html-to-markdown.ts";

const convert = (html: string) => toMarkdown(html, "https://example.org/docs/page.html");

describe("a page", () => {
  test.each([
    ["<h1>Title</h1><p>One\n  two &amp; three.</p><p>Four</p>", "# Title\n\nOne two & three.\n\nFour"],
    ["<title>T &lt;1&gt;</title><body><p>text", "# T <1>\n\ntext"],
    ["<title>Same</title><body><h1>Same</h1>text", "# Same\n\ntext"],
    ["<p>a <b>bold </b>and <em>soft</em>, <b></b><code>x &lt; y</code></p>", "a **bold** and *soft*, `x < y`"],
    [
      '<a href="other.html">other</a> <a href="/top?a=1&amp;b=2">top</a>',
      "[other](https://example.org/docs/other.html) [top](https://example.org/top?a=1&b=2)",
    ],
    [
      '<a href="#part">part</a> <a href="javascript:run()">run</a> <a href="data:text/html,x">data</a> <a>none</a>',
      "part run data none",
    ],
    [
      'see <a href="x"><b>bold</b> and <code>code</code></a>, <i><b>both</b></i>',
      "see [**bold** and `code`](https://example.org/docs/x), ***both***",
    ],
    ["<ul><li>one<li>two <ul><li>inner</ul><li>three</ul>", "- one\n\n- two\n\n  - inner\n\n- three"],
    ["<ol start=3><li>a</li><li>b<p>more</p></li></ol>", "3. a\n\n4. b\n\n   more"],
    ["<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d", "> a\n\n> b\n\n> - c\n\nd"],
    [
      '<pre><code class="hljs language-ts">const a = 1;\n\n  if (a &lt; 2) {}\n</code></pre>',
      "```ts\nconst a = 1;\n\n  if (a < 2) {}\n```",
    ],
    ["<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"],
    ["<table><tr><th>A<th>B<tr><td>1 | 2<td><p>x</p><p>y</p></table>", "| A | B |\n| --- | --- |\n| 1 \\| 2 | x y |"],
    ["a<br>b<hr>c", "a\nb\n\n---\n\nc"],
    ['<img src="x.png" alt="A chart"> <img src="y.png">', "(image: A chart)"],
    [
      "<nav><a href=x>menu</a></nav><p hidden>secret</p><script>var a = '<p>no</p>'</script><style>p{}</style><p>shown",
      "shown",
    ],
    ["<header>top</header><main><p>main part</p></main><footer>end</footer>", "main part"],
    ["<dl><dt>Term<dd>Meaning</dl>", "Term\n\nMeaning"],
    ["&copy; &#8364; &#x41; &unknown; &#0; &#xD800; a&nbsp;b", "© € A &unknown; \uFFFD \uFFFD a b"],
    ["1 < 2 && 3 > 2 <3 </ x>", "1 < 2 && 3 > 2 <3 </ x>"],
    ["<!-- no --><?php no ?><!doctype html><p>yes<!-- open", "yes"],
    ["<p title='a > b' class=\"x\" data-y=z/>text</p>", "text"],
    ["</div></p>text<b>open", "text**open**"],
    ["<textarea>typed</textarea><select><option>one</select>left", "left"],
    ["", ""],
  ])("%j", (html, expected) => {
    expect(convert(html)).toBe(expected);
  });
});

describe("whatever comes", () => {
  test("no text is lost but what is hidden, and nothing throws", () => {
    const tag = fc.constantFrom(
      "p",
      "b",
      "a",
      "li",
      "ul",
      "ol",
      "pre",
      "code",
      "table",
      "tr",
      "td",
      "h2",
      "blockquote",
      "div",
      "x-y",
      "br",
    );
    const piece = fc.oneof(
      tag.map((name) => `<${name}>`),
      tag.map((name) => `</${name}>`),
      fc.constantFrom("<", ">", "&", "&amp;", '<a href="x">', "<!--", "-->", "<p class='", "\n"),
      fc.integer({ min: 0, max: 99 }).map((number) => `word${number} `),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const html = pieces.join("");
        const text = convert(html);
        const shown = [...toHtmlTokens(html)].flatMap((token) => (token.type === "text" ? [token.text] : []));
        const words = shown.join(" ").match(/word\d+/g) ?? [];
        for (const word of words) expect(text).toContain(word);
      }),
      { numRuns: Number(process.env.SHEAF_SOAK_RUNS ?? 500) },
    );
  });

  test(verifies("S-72", "pages that are made to be slow are not"), () => {
    const size = 100_000;
    const pages = [
      "<b>".repeat(size), "<b>x</b>".repeat(size / 4), "<".repeat(size * 4), "<a ".repeat(size), "<a href='".repeat(size),
      "</".repeat(size), "<!--".repeat(size), "<script>".repeat(size / 2), "</script".repeat(size / 2), "&".repeat(size * 4),
      "<li>".repeat(size), "<blockquote>".repeat(size / 3), "<table><tr><td>".repeat(size / 5), "<x>y".repeat(size), "</q>".repeat(size),
      "<pre>".repeat(size) + "`".repeat(size), "<h1>".repeat(size), "<nav>".repeat(size), `<p ${"a=b ".repeat(size)}>`, "<td>x".repeat(size / 2),
      `<a href=x>${"word ".repeat(size / 2)}</a>`, "<b><i><a href=x>y".repeat(size / 10),
    ]; // prettier-ignore
    for (const page of pages) {
      const start = performance.now();
      convert(page.slice(0, 4 * 1024 * 1024));
      expect(performance.now() - start, page.slice(0, 20)).toBeLessThan(10_000);
    }
  });
});
