/** Languages by the names that fences and files use: the name to show, and the grammar. */
import { grammars } from "./load-highlighter.ts";

const languages = new Map<string, { readonly grammar: string; readonly name: string }>(
  grammars.flatMap(([grammar, name, others]) => {
    const words = `${grammar} ${others}`.trimEnd().split(" ");
    return words.map((word) => [word, { grammar, name }] as const);
  }),
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
