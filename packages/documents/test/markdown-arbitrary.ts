import fc from "fast-check";

/** What a line may start with, besides the marks that the line before it had. */
const prefixes =
  "> |>|>\t|- |-|-   |-     |* |+ |-\t|1. |1) |2. |10. |1.|123456789. |1234567890. | |  |   |    |      |\t| \t";
const fences =
  "```|```|~~~|````|```js|``` js a|```a`b|~~~ x`|~~~~|``|~~~ 1:2:a b.ts|```1:2:\\a&amp;|```   |~~~  ~|`````|    ```";
const leaves = "foo|foo|||bar  |é🙂|`a` b|===|==|---|--|-|***|* * *|- - -|___|# h|#|####### x|#x|1.|2.|a ```|&|\\";
const tags =
  "<div>|</div>|<div/>|<a>|</a>|<a href='x'>|<a b=c d>|<a|<!-- c|-->|<!-->|<script>|</script>|<pre>|<pre/>|<?x|?>|<!X|<!X>|<![CDATA[|]]>";
const definitions = "[a]: /u|[a]: /u|[a]:|[a]: /u \"t|t\"|/u|'t'|(t)|[a|]: /u|[a]: <u v>|[a]: /u x|[]: /u|[a] b";
const bodies = [fences, fences, leaves, tags, definitions].map((list) => fc.constantFrom(...list.split("|")));

const line = fc.record({
  /** Go on below the marks of the line before: not at all, with the same marks, or with blanks in their place. */
  start: fc.constantFrom("new", "new", "same", "indented"),
  marks: fc.array(fc.constantFrom(...prefixes.split("|")), { maxLength: 3 }),
  body: fc.oneof(...bodies),
  end: fc.nat({ max: 9 }),
});

/** Texts of up to ten lines out of all that matters to the block structure of CommonMark. */
export const markdownText: fc.Arbitrary<string> = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 10 }),
    lineEnds: fc.constantFrom(["\n"], ["\n"], ["\r\n"], ["\n", "\r", "\r\n"]),
    endsWithLineEnd: fc.boolean(),
  })
  .map(({ lines, lineEnds, endsWithLineEnd }) => {
    let marks = "";
    let text = "";
    for (const [at, { start, marks: own, body, end }] of lines.entries()) {
      if (start === "new") marks = own.join("");
      if (start === "indented") marks = marks.replaceAll(/[-+*]|\d+[.)]/g, (mark) => " ".repeat(mark.length));
      text += marks + body;
      if (at < lines.length - 1 || endsWithLineEnd) text += lineEnds[end % lineEnds.length] ?? "";
    }
    return text;
  });
