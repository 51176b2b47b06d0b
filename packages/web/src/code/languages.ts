/** Languages by the names that fences and files use: the name to show, and the grammar. */

/** The grammar's file, the name to show, and aliases of the language. */
const rows: readonly (readonly [grammar: string, name: string, ...others: string[]])[] = [
  ["bash", "Shell", "sh", "shell", "zsh", "shellscript", "console", "fish"],
  ["c", "C", "h"],
  ["clojure", "Clojure", "clj", "edn"],
  ["cmake", "CMake"],
  ["cpp", "C++", "c++", "cc", "cxx", "hpp"],
  ["csharp", "C#", "cs", "c#"],
  ["css", "CSS"],
  ["dart", "Dart"],
  ["diff", "Diff", "patch"],
  ["dockerfile", "Dockerfile", "docker", "containerfile"],
  ["elixir", "Elixir", "ex", "exs"],
  ["erlang", "Erlang", "erl"],
  ["fsharp", "F#", "fs", "f#"],
  ["go", "Go", "golang"],
  ["graphql", "GraphQL", "gql"],
  ["groovy", "Groovy", "gradle"],
  ["haskell", "Haskell", "hs"],
  ["ini", "TOML", "toml"],
  ["java", "Java"],
  ["javascript", "JavaScript", "js", "jsx", "mjs", "cjs", "javascriptreact"],
  ["json", "JSON", "jsonc", "json5", "jsonl"],
  ["julia", "Julia", "jl"],
  ["kotlin", "Kotlin", "kt", "kts"],
  ["less", "Less"],
  ["lua", "Lua"],
  ["makefile", "Makefile", "make", "mk"],
  ["markdown", "Markdown", "md", "mdx"],
  ["nginx", "nginx"],
  ["nix", "Nix"],
  ["objectivec", "Objective-C", "objc", "m"],
  ["ocaml", "OCaml", "ml"],
  ["perl", "Perl", "pl"],
  ["php", "PHP"],
  ["powershell", "PowerShell", "ps1", "pwsh"],
  ["protobuf", "Protocol Buffers", "proto"],
  ["python", "Python", "py", "python3", "pyi"],
  ["r", "R"],
  ["ruby", "Ruby", "rb"],
  ["rust", "Rust", "rs"],
  ["scala", "Scala"],
  ["scss", "SCSS", "sass"],
  ["sql", "SQL", "postgresql", "mysql", "sqlite"],
  ["swift", "Swift"],
  ["typescript", "TypeScript", "ts", "tsx", "mts", "cts", "typescriptreact"],
  ["vim", "Vim script", "viml"],
  ["xml", "HTML", "html", "xhtml", "svg", "vue", "svelte"],
  ["yaml", "YAML", "yml"],
];

const languages = new Map<string, { readonly grammar: string; readonly name: string }>(
  rows.flatMap(([grammar, name, ...others]) => [grammar, ...others].map((word) => [word, { grammar, name }] as const)),
);

/** The name to show: the usual one, or the word itself if this page does not know it. */
export function toLanguageName(word: string): string {
  return languages.get(word.toLowerCase())?.name ?? word;
}

/** Undefined: shown without colours. */
export function toGrammar(word: string): string | undefined {
  return languages.get(word.toLowerCase())?.grammar;
}

/** Files whose name tells their language without an extension. */
const fileNames: Readonly<Record<string, string>> = {
  ".bashrc": "bash",
  ".profile": "bash",
  ".zshrc": "bash",
  "cmakelists.txt": "cmake",
  containerfile: "dockerfile",
  dockerfile: "dockerfile",
  gemfile: "ruby",
  makefile: "makefile",
  rakefile: "ruby",
};

/** The language of a file by its name, as fences name it; "" if the name tells none. */
export function toLanguage(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  if (Object.hasOwn(fileNames, name)) return fileNames[name]!;
  const [, extension = ""] = /\.(\w+)$/.exec(name) ?? [];
  return languages.has(extension) ? extension : "";
}
