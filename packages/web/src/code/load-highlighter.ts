/** Loads each grammar from its own file when a language is first shown. */
import type { LanguageFn } from "highlight.js";
import type { Highlighter } from "./highlighter.ts";

type Loader = () => Promise<{ readonly default: LanguageFn }>;

/** Grammars, each with the name of its language, other names in fences and files, and a loader of its file. */
export const grammars: readonly (readonly [grammar: string, name: string, others: string, load: Loader])[] = [
  ["bash", "Shell", "sh shell zsh shellscript console fish", () => import("highlight.js/lib/languages/bash")],
  ["c", "C", "h", () => import("highlight.js/lib/languages/c")],
  ["clojure", "Clojure", "clj edn", () => import("highlight.js/lib/languages/clojure")],
  ["cmake", "CMake", "", () => import("highlight.js/lib/languages/cmake")],
  ["cpp", "C++", "c++ cc cxx hpp", () => import("highlight.js/lib/languages/cpp")],
  ["csharp", "C#", "cs c#", () => import("highlight.js/lib/languages/csharp")],
  ["css", "CSS", "", () => import("highlight.js/lib/languages/css")],
  ["dart", "Dart", "", () => import("highlight.js/lib/languages/dart")],
  ["diff", "Diff", "patch", () => import("highlight.js/lib/languages/diff")],
  ["dockerfile", "Dockerfile", "docker containerfile", () => import("highlight.js/lib/languages/dockerfile")],
  ["elixir", "Elixir", "ex exs", () => import("highlight.js/lib/languages/elixir")],
  ["erlang", "Erlang", "erl", () => import("highlight.js/lib/languages/erlang")],
  ["fsharp", "F#", "fs f#", () => import("highlight.js/lib/languages/fsharp")],
  ["go", "Go", "golang", () => import("highlight.js/lib/languages/go")],
  ["graphql", "GraphQL", "gql", () => import("highlight.js/lib/languages/graphql")],
  ["groovy", "Groovy", "gradle", () => import("highlight.js/lib/languages/groovy")],
  ["haskell", "Haskell", "hs", () => import("highlight.js/lib/languages/haskell")],
  ["ini", "TOML", "toml", () => import("highlight.js/lib/languages/ini")],
  ["java", "Java", "", () => import("highlight.js/lib/languages/java")],
  ["javascript", "JavaScript", "js jsx mjs cjs javascriptreact", () => import("highlight.js/lib/languages/javascript")],
  ["json", "JSON", "jsonc json5 jsonl", () => import("highlight.js/lib/languages/json")],
  ["julia", "Julia", "jl", () => import("highlight.js/lib/languages/julia")],
  ["kotlin", "Kotlin", "kt kts", () => import("highlight.js/lib/languages/kotlin")],
  ["less", "Less", "", () => import("highlight.js/lib/languages/less")],
  ["lua", "Lua", "", () => import("highlight.js/lib/languages/lua")],
  ["makefile", "Makefile", "make mk", () => import("highlight.js/lib/languages/makefile")],
  ["markdown", "Markdown", "md mdx", () => import("highlight.js/lib/languages/markdown")],
  ["nginx", "nginx", "", () => import("highlight.js/lib/languages/nginx")],
  ["nix", "Nix", "", () => import("highlight.js/lib/languages/nix")],
  ["objectivec", "Objective-C", "objc m", () => import("highlight.js/lib/languages/objectivec")],
  ["ocaml", "OCaml", "ml", () => import("highlight.js/lib/languages/ocaml")],
  ["perl", "Perl", "pl", () => import("highlight.js/lib/languages/perl")],
  ["php", "PHP", "", () => import("highlight.js/lib/languages/php")],
  ["powershell", "PowerShell", "ps1 pwsh", () => import("highlight.js/lib/languages/powershell")],
  ["protobuf", "Protocol Buffers", "proto", () => import("highlight.js/lib/languages/protobuf")],
  ["python", "Python", "py python3 pyi", () => import("highlight.js/lib/languages/python")],
  ["r", "R", "", () => import("highlight.js/lib/languages/r")],
  ["ruby", "Ruby", "rb", () => import("highlight.js/lib/languages/ruby")],
  ["rust", "Rust", "rs", () => import("highlight.js/lib/languages/rust")],
  ["scala", "Scala", "", () => import("highlight.js/lib/languages/scala")],
  ["scss", "SCSS", "sass", () => import("highlight.js/lib/languages/scss")],
  ["sql", "SQL", "postgresql mysql sqlite", () => import("highlight.js/lib/languages/sql")],
  ["swift", "Swift", "", () => import("highlight.js/lib/languages/swift")],
  ["typescript", "TypeScript", "ts tsx mts cts typescriptreact", () => import("highlight.js/lib/languages/typescript")],
  ["vim", "Vim script", "viml", () => import("highlight.js/lib/languages/vim")],
  ["xml", "HTML", "html xhtml svg vue svelte", () => import("highlight.js/lib/languages/xml")],
  ["yaml", "YAML", "yml", () => import("highlight.js/lib/languages/yaml")],
];

/** Loads a grammar. @returns undefined if the grammar doesn't exist, or if loading failed */
export async function loadHighlighter(grammar: string): Promise<Highlighter | undefined> {
  const [, , , load] = grammars.find(([name]) => name === grammar) ?? [];
  if (load === undefined) return undefined;
  try {
    const [{ createHighlighter }, language] = await Promise.all([import("./highlighter.ts"), load()]);
    return createHighlighter(grammar, language.default);
  } catch {
    // The page is offline, or the server has a newer page: the code stays without colours.
    return undefined;
  }
}
