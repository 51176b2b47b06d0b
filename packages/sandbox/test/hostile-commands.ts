/** What a hostile command might leave in a repository, so that git or an editor starts a program outside the sandbox. */
import { hostileBorderCommands, makeRaw } from "./hostile-border-commands.ts";

export interface HostileCommand {
  readonly title: string;
  /** For bash in the workspace. `$C` is a program that leaves a trace, `$H` the user's home. */
  readonly command: string;
}

/** A repository in a folder, whose configuration starts the program with nearly everything. */
const makeEvil = `
evil() {
  git init -q "$1" && cd "$1" && echo x > x.txt && git add . && git -c user.name=e -c user.email=e@e commit -qm x
  set_evil .git/config; cd "$OLDPWD"
}
set_evil() {
  for key in core.fsmonitor core.pager core.editor core.sshCommand diff.external filter.e.clean filter.e.smudge filter.e.process diff.e.textconv; do
    git config -f "$1" $key $C
  done
  git config -f "$1" alias.st "!$C"
}
`;

const list: readonly (readonly [string, string])[] = [
  ["a nested repository in node_modules, put into the index", `evil node_modules/x/r; git update-index --add --cacheinfo 160000,$(git -C node_modules/x/r rev-parse HEAD),node_modules/x/r`],
  ["a nested repository far down", `mkdir -p node_modules/a/b/c/d; evil node_modules/a/b/c/d/e`],
  ["a nested repository in a new folder", `evil docs/r`],
  ["a nested repository that is a submodule by name", `evil docs/r; git add docs/r`],
  ["a folder that cannot be listed", `mkdir docs/hidden; evil docs/hidden/r; chmod 0311 docs/hidden`],
  ["two folders that cannot be listed", `mkdir -p docs/h1/h2; evil docs/h1/h2/r; chmod 0311 docs/h1/h2 docs/h1`],
  ["a file .git that names a folder", `evil docs/r; mv docs/r/.git docs/meta; mkdir docs/w; echo "gitdir: ../meta" > docs/w/.git`],
  ["a link .git", `evil docs/r; mv docs/r/.git docs/meta; mkdir docs/w; ln -s ../meta docs/w/.git`],
  ["a bare repository", `git init -q --bare docs/bare; set_evil docs/bare/config; git config -f docs/bare/config core.worktree ..`],
  ["a bare repository whose parts are elsewhere", `git init -q --bare docs/parts; mkdir docs/b; mv docs/parts/HEAD docs/b; echo ../parts > docs/b/commondir; set_evil docs/parts/config; git config -f docs/parts/config core.bare false`],
  ["a link in place of modules", `cp -r .git/modules docs/m; set_evil docs/m/sub/config; mv .git/modules docs/old; ln -s ../docs/m .git/modules`],
  ["a link in place of a module", `cp -r .git/modules/sub docs/m; set_evil docs/m/config; mv .git/modules/sub docs/old; ln -s ../../docs/m .git/modules/sub`],
  ["a folder in place of a module", `cp -r .git/modules/sub docs/m; set_evil docs/m/config; mv .git/modules/sub docs/old; mv docs/m .git/modules/sub`],
  ["a link in place of a nested repository's parent", `cp -r vendored node_modules/v; set_evil node_modules/v/.git/config; mv vendored docs/old; ln -s node_modules/v vendored`],
  ["a folder in place of a nested repository", `cp -r vendored node_modules/v; set_evil node_modules/v/.git/config; mv vendored docs/old; mv node_modules/v vendored`],
  ["a link in place of the submodule", `cp -r sub docs/s; rm docs/s/.git; cp -r .git/modules/sub docs/s/.git; set_evil docs/s/.git/config; git config -f docs/s/.git/config --unset core.worktree; mv sub docs/old; ln -s docs/s sub`],
  ["the configuration", `set_evil .git/config; printf '[core]\\n fsmonitor = %s\\n' $C >> .git/config`],
  ["the configuration by a rename", `cp .git/config c; set_evil c; mv -f c .git/config; mv .git/config .git/old; mv c .git/config`],
  ["another .git", `cp -r .git g; set_evil g/config; mv .git docs/old; mv g .git`],
  ["a link .git at the top", `cp -r .git g; set_evil g/config; mv .git docs/old; ln -s g .git`],
  ["config.worktree", `cp .git/config c; git config -f c extensions.worktreeConfig true; mv c .git/config; set_evil .git/config.worktree`],
  ["commondir", `cp -r .git docs/g; set_evil docs/g/config; echo ../docs/g > .git/commondir`],
  ["hooks of git", `mkdir -p .git/hooks; for h in pre-commit post-checkout post-index-change reference-transaction pre-push; do cp $C .git/hooks/$h; done`],
  ["hooks where core.hooksPath leads", `for h in pre-commit post-checkout post-commit post-index-change reference-transaction; do cp $C .githooks/$h; done`],
  ["another folder of hooks", `mv .githooks docs/old; mkdir .githooks; for h in pre-commit post-checkout reference-transaction; do cp $C .githooks/$h; done`],
  ["a link in place of the hooks", `mkdir docs/h; for h in pre-commit post-checkout reference-transaction; do cp $C docs/h/$h; done; mv .githooks docs/old; ln -s docs/h .githooks`],
  ["a program that the configuration names", `cat $C > tools/upper.sh; echo changed >> src/b.up`],
  ["the folder of that program", `mv tools docs/old; mkdir tools; cp $C tools/upper.sh; echo changed >> src/b.up`],
  ["attributes that choose filters", `mkdir -p .git/info; echo '* filter=e diff=e' > .git/info/attributes; echo '* filter=e diff=e' > .gitattributes; echo y >> a.txt`],
  ["a rebase that goes on with a program", `mkdir -p .git/rebase-merge; echo refs/heads/main > .git/rebase-merge/head-name; git rev-parse HEAD > .git/rebase-merge/orig-head; cp .git/rebase-merge/orig-head .git/rebase-merge/onto; : > .git/rebase-merge/interactive; echo 1 > .git/rebase-merge/msgnum; echo 1 > .git/rebase-merge/end; echo "exec $C" > .git/rebase-merge/git-rebase-todo; : > .git/rebase-merge/done`],
  ["a rebase stopped before a program", `GIT_SEQUENCE_EDITOR="printf 'break\\nexec $C\\n' >" git rebase -q -i HEAD~1`],
  ["a reflog that leads home", `rm -f .git/logs/HEAD; ln -s $H/.bashrc .git/logs/HEAD`],
  ["all reflogs", `rm -rf .git/logs; ln -s $H .git/logs; ln -s $H .git/refs/x`],
  ["messages that lead home", `for f in COMMIT_EDITMSG FETCH_HEAD ORIG_HEAD MERGE_MSG; do rm -f .git/$f; ln -s $H/.bashrc .git/$f; done`],
  ["an index that leads home", `rm -f .git/index; ln -s $H/index .git/index; rm -f .git/packed-refs; ln -s $H/packed-refs .git/packed-refs`],
  ["a worktree with other settings", `git worktree add -q docs/wt other; cp -r .git docs/g; set_evil docs/g/config; echo ../../../docs/g > .git/worktrees/wt/commondir`],
  ["a worktree entry of its own", `mkdir -p .git/worktrees/w docs/w; cp .git/HEAD .git/worktrees/w; cp -r .git docs/g; set_evil docs/g/config; echo ../../../docs/g > .git/worktrees/w/commondir; echo "$PWD/docs/w/.git" > .git/worktrees/w/gitdir; echo "gitdir: $PWD/.git/worktrees/w" > docs/w/.git`],
  ["a link in place of worktrees", `mkdir -p docs/ws/w docs/w; cp .git/HEAD docs/ws/w; cp -r .git docs/g; set_evil docs/g/config; echo ../../g > docs/ws/w/commondir; ln -s ../docs/ws .git/worktrees; echo "gitdir: $PWD/.git/worktrees/w" > docs/w/.git`],
  ["a remote of the old kind", `mkdir -p .git/remotes .git/branches; printf 'URL: ext::%s\\nPull: main\\n' $C > .git/remotes/origin; echo "ext::$C" > .git/branches/origin`],
  ["settings of submodules", `printf '[submodule "sub"]\\n path = sub\\n url = ext::%s\\n update = !%s\\n' $C $C > .gitmodules; rm -rf sub`],
  ["settings of git-lfs and others at the top", `for f in .lfsconfig .gitconfig .mailmap; do printf '[core]\\n fsmonitor = %s\\n[alias]\\n st = !%s\\n' $C $C > $f; done`],
  ["a repository left by a process in the background", `(setsid sh -c "sleep 0.2; mkdir docs/r && cp -r .git docs/r/.git" &) ; sleep 0.1; evil docs/q`],
  ["a folder that is renamed all the time", `evil docs/r; (for i in $(seq 300); do mv docs/r docs/r2; mv docs/r2 docs/r; done) & sleep 0.2`],
  ["a path longer than the kernel takes", `d=$(printf 'd%.0s' $(seq 200)); (for i in $(seq 25); do mkdir $d && cd $d; done; git init -q .; git config core.fsmonitor $C) 2>/dev/null; cp -r .git docs/x; mkdir docs/y; mv docs/x docs/y/.git; set_evil docs/y/.git/config`],
  ["names as other file systems read them", `for n in .GIT .Git git~1 ".git "; do cp -r .git "docs/z" && mkdir "docs/$n.d" && mv docs/z "docs/$n.d/$n" && set_evil "docs/$n.d/$n/config"; done`],
]; // prettier-ignore

export const hostileCommands: readonly HostileCommand[] = [...list, ...hostileBorderCommands].map(
  ([title, command]) => ({
    title,
    command: `${makeEvil}${makeRaw}\n(${command}) >/dev/null 2>&1 </dev/null\nwait`,
  }),
);
