/** How a language writes a comment that has a line of its own. */
import { toLanguage } from "@sheaf/documents";

/** What stands before the text of a comment, and behind it. */
export interface CommentForm {
  readonly open: string;
  readonly close: string;
}

const languagesByOpening: Readonly<Record<string, string>> = {
  "//":
    "c cpp csharp cuda d dart fsharp glsl go gradle groovy haxe hlsl java javascript json5 jsonc jsx kotlin less " +
    "objective-cpp php prisma protobuf rescript rust scala scss solidity swift systemverilog thrift tsx typescript v " +
    "wgsl zig",
  "#":
    "awk bash cmake coffeescript crystal dockerfile elixir fish gdscript graphql hcl julia just makefile nginx nim nix " +
    "perl powershell properties puppet python r rego ruby starlark tcl toml yaml zsh",
  "--": "ada elm haskell lua purescript sql vhdl",
  "%": "erlang latex matlab prolog",
  ";": "asm clojure ini lisp racket scheme",
  "!": "fortran",
  '"': "vim",
};

const forms: ReadonlyMap<string, CommentForm> = new Map([
  ...Object.entries(languagesByOpening).flatMap(([open, languages]) =>
    languages.split(" ").map((language): [string, CommentForm] => [language, { open, close: "" }]),
  ),
  ["css", { open: "/*", close: "*/" }],
  ["ocaml", { open: "(*", close: "*)" }],
  ["html", { open: "<!--", close: "-->" }],
  ["xml", { open: "<!--", close: "-->" }],
  ["markdown", { open: "<!--", close: "-->" }],
]);

/** By the name of the file; undefined for a language without comments, with several forms, or that is not known. */
export function findCommentForm(filePath: string): CommentForm | undefined {
  return forms.get(toLanguage(filePath));
}
