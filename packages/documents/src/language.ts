/**
 * One language a line: its name, other extensions (the part after the dot of `.bashrc` is one as well), and after
 * slashes the names of files without a known extension, in lower case. The names of languages are the ones in info
 * strings of models and highlighters; each is an extension as well. Pages load this table, so its form compresses well.
 */
const languages = `\
ada adb ads,\
apl,\
asm s,\
astro,\
awk,\
bash sh bats bashrc bash_profile bash_aliases/.profile/pkgbuild,\
batch bat cmd,\
bicep,\
c h,\
clojure clj cljs cljc edn,\
cmake/cmakelists.txt,\
cobol cob cbl,\
coffeescript coffee,\
cpp cc cxx c++ hpp hh hxx h++ ipp inl,\
crystal cr,\
csharp cs csx,\
css,\
csv,\
cuda cu cuh,\
d,\
dart,\
diff patch,\
dockerfile/dockerfile/containerfile,\
dot gv,\
elixir ex exs heex,\
elm,\
erb,\
erlang erl hrl,\
fish,\
fortran f f90 f95 f03 for,\
fsharp fs fsi fsx,\
gdscript gd,\
glsl vert frag,\
go/go.mod/go.sum/go.work,\
gradle,\
graphql gql,\
groovy/jenkinsfile,\
haml,\
handlebars hbs,\
haskell hs lhs,\
haxe hx,\
hcl tf tfvars,\
hlsl,\
html htm xhtml,\
ignore gitignore dockerignore npmignore eslintignore prettierignore,\
ini cfg conf editorconfig gitconfig npmrc gitmodules,\
java,\
javascript js mjs cjs,\
jinja jinja2 j2,\
json geojson webmanifest ipynb babelrc eslintrc prettierrc/composer.lock/flake.lock,\
json5,\
jsonc,\
jsonl ndjson,\
jsx,\
julia jl,\
just/justfile,\
kotlin kt kts,\
latex tex sty cls,\
less,\
lisp lsp cl,\
lua,\
makefile mk mak/makefile/gnumakefile,\
markdown md,\
matlab m,\
mdx,\
mermaid mmd,\
nginx/nginx.conf,\
nim,\
nix,\
objective-cpp mm,\
ocaml ml mli,\
pascal pas,\
perl pl pm t,\
php phtml,\
plaintext txt text log/license/copying/authors/codeowners,\
powershell ps1 psm1 psd1,\
prisma,\
prolog pro,\
properties env,\
protobuf proto,\
pug,\
puppet pp,\
purescript purs,\
python py pyi pyw,\
r,\
racket rkt,\
rego,\
rescript res resi,\
rst,\
ruby rb rake gemspec ru/gemfile/rakefile/podfile/fastfile/vagrantfile/brewfile/guardfile,\
rust rs,\
sass,\
scala sc sbt,\
scheme scm ss,\
scss,\
solidity sol,\
sql,\
starlark bazel bzl star/build/workspace/tiltfile,\
stylus styl,\
svelte,\
swift,\
systemverilog sv svh,\
tcl,\
thrift,\
toml/cargo.lock/poetry.lock/uv.lock/pipfile,\
tsx,\
twig,\
typescript ts mts cts,\
v,\
vb vbs,\
vhdl vhd,\
vim vimrc,\
vue,\
wasm wat wast,\
wgsl,\
xml xsd xsl xslt svg plist csproj fsproj props targets,\
yaml yml clang-format clang-tidy/pubspec.lock,\
zig,\
zsh zshrc zprofile zshenv`;

/** Languages by extension, and by file name with a slash before it. */
const lookup: ReadonlyMap<string, string> = new Map(
  languages.split(",").flatMap((line) => {
    const names = line.split(/ |(?=\/)/);
    return names.map((name) => [name, names[0] ?? ""] as const);
  }),
);

/**
 * Returns the language of a file by its name alone (N20): a well-known name, a name with a well-known start
 * (`Dockerfile.dev`, `.env.local`), or the last extension. "" if unknown. Case does not matter.
 */
export function toLanguage(filePath: string): string {
  const name = filePath.toLowerCase().split(/[\\/]/).at(-1) ?? "";
  const wellKnown = lookup.get(`/${name}`);
  if (wellKnown !== undefined) return wellKnown;
  if (name.startsWith("dockerfile.")) return "dockerfile";
  if (name.startsWith(".env.")) return "properties";
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : (lookup.get(name.slice(dot + 1)) ?? "");
}
