/** Languages by their names in fences and files, each with its usual name and its grammar. */
import { grammars } from "./load-highlighter.ts";

const languages = new Map<string, { readonly grammar: string; readonly name: string }>(
  grammars.flatMap(([grammar, name, others]) => {
    const words = `${grammar} ${others}`.trimEnd().split(" ");
    return words.map((word) => [word, { grammar, name }] as const);
  }),
);

/** Returns the language's usual name, or the word itself if the page doesn't know it. */
export function toLanguageName(word: string): string {
  return languages.get(word.toLowerCase())?.name ?? word;
}

/** Returns the language's grammar; undefined: the code stays without colours. */
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

/** Returns the language of a file by its name, in the spelling of fences; "" if unknown. */
export function toLanguage(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  if (Object.hasOwn(fileNames, name)) return fileNames[name]!;
  const [, extension = ""] = /\.(\w+)$/.exec(name) ?? [];
  return languages.has(extension) ? extension : "";
}
