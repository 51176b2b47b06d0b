/** What a hostile command might leave in its private git folder, so that the border to the user's repository fails. */

/** Shell functions that write what git itself refuses to. They need the ones of `hostile-commands.ts`. */
export const makeRaw = `
export GIT_AUTHOR_NAME=e GIT_AUTHOR_EMAIL=e@e GIT_COMMITTER_NAME=e GIT_COMMITTER_EMAIL=e@e
raw_index() {
  plain=$(printf %s "$2" | tr '/.~' '___'); id=$3; test -n "$id" || id=$(git hash-object -w $C)
  git update-index --add --cacheinfo "$1,$id,$plain"
  python3 -c 'import hashlib,sys; b=open(".git/index","rb").read()[:-20].replace(sys.argv[1].encode(),sys.argv[2].encode()); open(".git/index","wb").write(b+hashlib.sha1(b).digest())' "$plain" "$2"
}
raw_tree() {
  id=$3; test -n "$id" || id=$(git hash-object -w $C)
  tree=$(python3 -c 'import sys; sys.stdout.buffer.write(sys.argv[1].encode()+b" "+sys.argv[2].encode()+b"\\0"+bytes.fromhex(sys.argv[3]))' "$1" "$2" "$id" | git hash-object -t tree -w --literally --stdin)
  git update-ref refs/heads/main $(git commit-tree -p HEAD -m x $tree)
}
modules() { printf '[submodule "%s"]\\n path = %s\\n url = %s\\n update = %s\\n' "$1" "$2" "$3" "$4" > .gitmodules; git add .gitmodules; git commit -qm modules; }
commit() { git commit -q --allow-empty --no-verify -m "\${1:-x}"; }
`;

/** Title and command. */
export const hostileBorderCommands: readonly (readonly [string, string])[] = [
  ["a tree with .git", `raw_tree 100755 .git`],
  ["a tree with a folder .GIT", `raw_tree 40000 .GIT $(git rev-parse HEAD^{tree})`],
  ["a tree with git~1", `raw_tree 40000 git~1 $(git rev-parse HEAD^{tree})`],
  ["a tree with ..", `raw_tree 40000 .. $(git rev-parse HEAD^{tree})`],
  ["a tree with a path of a hook", `raw_tree 100755 .git/hooks/post-checkout`],
  ["a tree with the path of a file outside", `raw_tree 100755 ../../home/.bashrc`],
  ["a tree with a submodule in .git", `raw_tree 160000 .git $(git rev-parse HEAD)`],
  ["a submodule that updates itself by a program", `modules sub sub ../library "!$C"`],
  ["a submodule whose address is a program", `modules sub sub "ext::$C" checkout`],
  ["a submodule whose address is an option", `modules sub sub "--upload-pack=$C" checkout`],
  ["a submodule whose name leads out", `modules ../../docs sub ../library checkout; evil docs/sub`],
  [".gitmodules that is a link", `rm .gitmodules; ln -s docs/m .gitmodules; git add -A; commit`],
  ["alternates in the workspace", `evil docs/o; echo $PWD/docs/o/.git/objects >> .git/objects/info/alternates; git update-ref refs/heads/main $(git -C docs/o rev-parse HEAD)`],
  ["alternates that lead home", `echo $H > .git/objects/info/alternates; commit`],
  ["alternates in a circle", `echo $PWD/.git/objects >> .git/objects/info/alternates; commit`],
  ["a graft that cuts the history", `mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts; commit`],
  ["a graft to another branch", `mkdir -p .git/info; echo "$(git rev-parse HEAD) $(git rev-parse other)" > .git/info/grafts; commit`],
  ["a shallow boundary", `git rev-parse HEAD > .git/shallow; commit`],
  ["a replaced commit", `git replace HEAD other; commit`],
  ["a replaced file and tree", `git replace HEAD:a.txt $(git hash-object -w $C); git replace HEAD^{tree} other^{tree}; commit`],
  ["an object with another one's name", `id=$(git rev-parse HEAD:a.txt); git cat-file blob $id > /dev/null; f=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); mkdir -p $(dirname $f); python3 -c 'import zlib,sys; open(sys.argv[1],"wb").write(zlib.compress(b"blob 5\\0evil\\n"))' $f; commit; git update-index --add --cacheinfo 100644,$id,copy; git commit -qm y`],
  ["an index of packs and a graph of commits that are false", `commit; git repack -qad; git multi-pack-index write; git commit-graph write --reachable; for f in .git/objects/pack/*.idx .git/objects/pack/multi-pack-index .git/objects/info/commit-graph; do chmod u+w $f; printf evil | dd of=$f bs=1 seek=1100 conv=notrunc; done`],
  ["a promise of missing objects", `git config core.repositoryformatversion 1; git config extensions.partialClone origin; git config remote.origin.promisor true; git config remote.origin.url "ext::$C"; git update-index --add --cacheinfo 100644,1111111111111111111111111111111111111111,missing; git update-ref refs/heads/x $(git commit-tree -p HEAD -m x $(git write-tree --missing-ok))`],
  ["a file that is larger than its pack", `head -c 300000000 /dev/zero > docs/zero; git add -f docs/zero; git commit -qm zero; rm docs/zero`],
  ["a branch HEAD", `git update-ref refs/heads/HEAD other; git update-ref refs/tags/HEAD other; commit`],
  ["a ref HEAD, and others of one level", `echo $(git rev-parse other) > .git/refs/HEAD; echo $(git rev-parse other) > .git/main; commit`],
  ["a tag with the name of the branch", `git update-ref refs/tags/refs/heads/main other; git update-ref refs/heads/refs/heads/main other; commit`],
  ["a branch that is a symbolic ref", `git update-ref -d refs/heads/other; git symbolic-ref refs/heads/other refs/heads/main; commit`],
  ["a branch that leads into the workspace", `git rev-parse HEAD > docs/r; rm .git/refs/heads/other; ln -s ../../../docs/r .git/refs/heads/other`],
  ["HEAD at a ref of a remote", `git update-ref refs/remotes/origin/main other; git symbolic-ref HEAD refs/remotes/origin/main`],
  ["HEAD outside of refs", `echo 'ref: ../../../etc/passwd' > .git/HEAD`],
  ["HEAD as a link home", `rm .git/HEAD; ln -s $H/.bashrc .git/HEAD`],
  ["packed refs that lead out", `printf '# pack-refs with: peeled fully-peeled sorted \\n%s refs/heads/../../config\\n%s refs/heads/-x\\n' $(git rev-parse HEAD) $(git rev-parse HEAD) > .git/packed-refs`],
  ["packed refs that are a device", `rm -f .git/packed-refs; ln -s /dev/zero .git/packed-refs`],
  ["pipes in the place of files", `for f in index packed-refs refs/heads/x refs/heads/objects info/grafts objects/info/alternates; do rm -f .git/$f; mkfifo .git/$f; done`],
  ["a pipe in the place of the configuration", `rm -f .git/config; mkfifo .git/config`],
  ["a configuration without an end", `printf '[include]\\n path = /dev/zero\\n' >> .git/config; echo y > new; git add new`],
  ["a tag that is an option", `git update-ref "refs/tags/--output=x" HEAD; git update-ref refs/tags/-x HEAD; git update-ref refs/heads/--help HEAD`],
  ["names of refs that change a terminal", `git update-ref "$(printf 'refs/heads/\\302\\233x')" HEAD; id=$(git rev-parse HEAD); printf '%s refs/heads/a\\033[2J\\n' $id >> .git/packed-refs; commit`],
  ["branches in the place of a branch", `git checkout -q --detach; git branch -qD main; git branch main/x; git branch -qD other; git branch other/y/z`],
  ["refs that lead round in a circle", `ln -s .. .git/refs/heads/loop; ln -s loop2 .git/refs/heads/loop2; commit`],
  ["five thousand refs", `id=$(git rev-parse HEAD); for n in $(seq 5000); do echo "create refs/tags/t$n $id"; done | git update-ref --stdin`],
  ["a stash that is a file", `git update-ref --create-reflog -m x refs/stash $(git hash-object -w $C)`],
  ["a stash that is not one", `git update-ref --create-reflog -m "$(printf 'x\\033[2J\\rWIP')" refs/stash HEAD`],
  ["a list of stashes that leads home", `mkdir -p .git/logs/refs; ln -sf $H/.bashrc .git/logs/refs/stash; git update-ref refs/stash HEAD`],
  ["a ref of a remote that claims a push", `git update-ref refs/remotes/origin/main HEAD; git update-ref refs/remotes/evil/main HEAD`],
  ["an upstream that is a program", `git config branch.main.remote "ext::$C"; git config branch.main.merge refs/heads/main; git config branch.other.remote origin; git config branch.other.merge "refs/heads/--upload-pack=$C"; git branch -m other third`],
  ["a branch whose name is a setting", `git update-ref "$(printf 'refs/heads/x"]')" HEAD; git config 'branch.x"].remote' .; git config 'branch.x"].merge' refs/heads/main; git update-ref refs/heads/x.remote HEAD; git config branch.x.remote.remote .`],
  ["a remote that is a program", `git config remote.origin.url "ext::$C"; git config remote.origin.uploadpack $C; git config protocol.ext.allow always; commit`],
  ["notes, and refs of other tools", `git notes add -m x; git update-ref refs/original/refs/heads/main HEAD; git update-ref refs/sheaf/x HEAD; git update-ref refs/bisect/bad HEAD`],
  ["the format of reftable", `git config core.repositoryformatversion 1; git config extensions.refStorage reftable; mkdir .git/reftable; echo x > .git/reftable/tables.list`],
  ["the format of SHA-256", `git config core.repositoryformatversion 1; git config extensions.objectFormat sha256`],
  ["a format that does not exist", `git config core.repositoryformatversion 99`],
  ["another working tree", `git config core.worktree $H; commit; echo x > .git/gitdir`],
  ["a bare repository in the place of the other", `git config core.bare true; commit`],
  ["a common folder with settings", `evil docs/g; echo $PWD/docs/g/.git > .git/commondir; commit`],
  [".git as a file", `evil docs/g; rm -rf .git; mv .git docs/old; echo "gitdir: docs/g/.git" > .git`],
  ["a hook in the index", `raw_index 100755 .git/hooks/post-checkout; cp $C a.txt`],
  ["a path outside in the index", `raw_index 100755 ../evil; raw_index 100644 ../../home/.bashrc`],
  ["an absolute path in the index", `raw_index 100755 $H/.bashrc; raw_index 100755 //etc/x`],
  ["a submodule in .git in the index", `evil .git/logs/y; raw_index 160000 .git/logs/y $(git -C .git/logs/y rev-parse HEAD); ln -s .git/logs/y vend; raw_index 160000 vend $(git -C .git/logs/y rev-parse HEAD)`],
  ["a submodule in the index, of a new repository", `evil docs/r; raw_index 160000 docs/r $(git -C docs/r rev-parse HEAD); evil node_modules/y; raw_index 160000 node_modules/y $(git -C node_modules/y rev-parse HEAD)`],
  ["a submodule in a commit, of a new repository", `evil docs/r; git add docs/r; git commit -qm r; set_evil docs/r/.git/config`],
  ["a submodule in the place of a folder", `evil docs/r; git rm -rq --cached src; mv src docs/old; cp -r docs/r src; raw_index 160000 src $(git -C docs/r rev-parse HEAD)`],
  ["a link in the place of a submodule", `evil docs/r; git rm -q --cached sub; ln -s docs/r sub2; raw_index 160000 sub2 $(git -C docs/r rev-parse HEAD); raw_index 160000 sub2/x $(git -C docs/r rev-parse HEAD)`],
  ["a conflict in the index that hides files", `id=$(git hash-object -w $C); printf '100644 %s 1\\ta.txt\\n100755 %s 2\\ta.txt\\n120000 %s 3\\ta.txt\\n' $id $id $id | git update-index --index-info; echo evil >> m.txt; git update-index --assume-unchanged m.txt`],
  ["files that the index skips", `echo evil > a.txt; echo evil > m.txt; git update-index --skip-worktree a.txt; git update-index --assume-unchanged m.txt; echo '*' > .git/info/exclude; echo new > unseen`],
  ["a sparse checkout", `git sparse-checkout set --no-cone src; echo evil > a.txt`],
  ["a sparse index", `git sparse-checkout set --cone --sparse-index src; echo y > src/new; git add src/new`],
  ["a split index", `git update-index --split-index; cp $C docs/s; for f in .git/sharedindex.*; do mv $f docs/shared; ln -s ../docs/shared $f; done; git add -f docs/s`],
  ["an index in the workspace", `cp .git/index docs/i; rm .git/index; ln -s ../docs/i .git/index; echo y > new; git add new`],
  ["an index with a monitor of files", `git config core.fsmonitor $C; git config core.untrackedCache true; git update-index --fsmonitor --untracked-cache; git status; echo evil >> a.txt; echo y > new; git add new`],
  ["an index that is cut", `head -c 100 .git/index > docs/i; cp docs/i .git/index`],
  ["an index with thirty thousand entries", `id=$(git hash-object -w $C); for n in $(seq 30000); do printf '100644 %s 0\\tmany/%s\\n' $id $n; done | git update-index --index-info`],
  ["a file that will be added", `echo x > new; git add -N new; echo y > seen; git add seen`],
  ["a collection of garbage between commits", `commit one; git reflog expire --expire=now --all; git gc -q --prune=now; commit two; rm -rf .git/objects/pack; commit three`],
  ["no objects any more", `commit; rm -rf .git/objects/??  .git/objects/pack; git update-index --add --cacheinfo 100644,$(git hash-object $C),new`],
  ["no repository any more", `commit; rm -rf .git/* .git`],
  ["no branches any more", `git checkout -q --orphan empty; git branch -qD main other; git tag -l | xargs -r git tag -d; rm -rf .git/logs; git gc -q --prune=now`],
  ["a merge that waits, with a message and a stash", `git merge -q --no-commit --no-ff other; printf '#!%s\\n' $C > .git/MERGE_MSG; git stash create > .git/MERGE_AUTOSTASH; echo evil > .git/MERGE_MODE`],
  ["a process that changes all while it is read", `(setsid sh -c 'while :; do echo "ref: refs/heads/main" > .git/HEAD; echo "ref: refs/heads/../x" > .git/HEAD; cp docs/i .git/index; done' &); cp .git/index docs/i; commit; sleep 0.3`],
  ["lines for another program in names of files", `touch "$(printf 'a\\n100755 x 0\\t.git/hooks/pre-commit')"; git add -A; git commit -qm lines; git branch "$(printf 'x\\302\\240y')"`],
]; // prettier-ignore
