import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { type MathNode, typeset } from "../../src/math/typeset.ts";

function list(node: MathNode): Exclude<MathNode, string>[] {
  return typeof node === "string" ? [] : [node, ...node.children.flatMap(list)];
}

test("TeX becomes elements of MathML", () => {
  const names = list(typeset(String.raw`\frac{a}{b} + \sqrt{x_i} \begin{pmatrix}1&2\end{pmatrix}`, true)!).map(
    ({ name }) => name,
  );
  expect(names).toEqual(expect.arrayContaining(["math", "mfrac", "msqrt", "msub", "mtable", "mi", "mo"]));
});

test.each([
  String.raw`\href{javascript:hit()}{x}`,
  String.raw`\includegraphics{https://evil.example/m.png}`,
  String.raw`\class{a}{x}`,
  String.raw`\htmlId{page}{x}`,
  String.raw`\style{background:url(https://evil.example/)}{x}`,
  String.raw`\def\a{\a\a}\a`,
  String.raw`\def\a#1{#1#1#1#1#1#1#1#1#1}\a{\a{\a{${"x".repeat(3900)}}}}`,
  String.raw`\\\newcommand{\R}{\mathbb{R}} \R`,
  "\\text{\u202Eabc}",
  String.raw`\char"202E x`,
  String.raw`\textcolor{url(x)}{y}`,
  String.raw`\undefined`,
  "{",
  "{".repeat(3000) + "}".repeat(3000),
])(verifies("S-113", "%j is not typeset"), (source) => {
  expect(typeset(source, true)).toBeUndefined();
});

test("a line break before letters that are also a command stays a line break", () => {
  expect(typeset(String.raw`\begin{matrix}a\\def\\let\end{matrix}`, true)).toBeDefined();
});

test.each([
  String.raw`\text{<script>hit()</script>}`,
  String.raw`\text{<img src=x onerror=hit()>} \label{page}`,
  String.raw`\rule{9999em}{9999em}`,
  String.raw`\kern-9999em x \hspace{-9999em} y`,
  String.raw`\color{red} x \colorbox{red}{y} \tag{1}`,
  String.raw`\raisebox{-9999em}{x}`,
])(verifies("S-113", "%j has only known elements and harmless values"), (source) => {
  const nodes = list(typeset(source, true)!);
  for (const { name, attributes } of nodes) {
    expect(name).toMatch(/^(?:m[a-z]+|none)$/);
    expect(Object.keys(attributes).filter((key) => /^(?:on|id|href|src|style)/.test(key))).toEqual([]);
    for (const value of Object.values(attributes)) expect(value).not.toMatch(/[():;<>]|9999/);
  }
});
