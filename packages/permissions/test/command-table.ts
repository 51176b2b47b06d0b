/**
 * The table of S-10: commands under rules for everyday programs. `mark` stands for whatever no rule allows; a file MARK
 * for whatever writes.
 */

/** Generous: whatever runs beyond these programs does so through the shell or through one of them. */
export const allowedPrograms: readonly string[] = [
  "git", "git status", "npm test", "ls", "cat", "echo", "find", "grep", "rg", "sed", "xargs", "sort", "tar", "env", "head", "make", "node",
  "timeout 5", "nice -n 10", "bash", "sudo", "time", "awk", "curl", "test", "true", "printf", "npm", "sh", "python3", "perl",
]; // prettier-ignore

/** The forbidden program runs, or MARK is written, when bash gets the command. */
export const marking: readonly string[] = [
  // lists, pipes, background
  "ls; mark", "ls;mark", "ls && mark", "false || mark", "ls & mark", "mark & ls", "ls | mark", "ls |& mark", "ls|mark", "mark", "! mark",
  "ls\nmark", "\nmark", "ls\r\nmark", "ls \\\n; mark", "ls;\\\nmark", "ls && \\\nmark", "ls ||\nls; mark", "ls # x\nmark", "# x\nmark", "ls '#' ; mark",
  "ls \\# ; mark", "ls a#b; mark", "ls -l -- ; mark ; ls",
  // subshells, groups, conditions, loops, functions
  "(mark)", "( ls; mark )", "{ mark; }", "{ ls; mark; }", "( ( mark ) )", "if true; then mark; fi", "if mark; then ls; fi",
  "for i in a; do mark; done", "while mark; do break; done", "until mark; do ls; done", "case a in a) mark;; esac", "ls() { mark; }; ls",
  "function ls { mark; }; ls", "ls () ( mark ); ls", "select i in a; do mark; done <<< 1", "coproc mark; wait", "time mark",
  "[[ -f x ]] || mark", "[ -f x ] || mark", "((0)) || mark", "echo() { mark; } && echo x",
  // substitutions
  "echo $(mark)", "echo `mark`", "echo \"$(mark)\"", "echo \"`mark`\"", "ls ${x:-$(mark)}", "echo $((x=$(mark)))", "cat <(mark)",
  "echo x > >(mark)", "echo x | tee >(mark)", "echo <(mark)", "x=$(mark)", "export x=$(mark)", "echo ${x:=$(mark)}", "echo \"${x:-`mark`}\"",
  "cat <<EOF\n$(mark)\nEOF", "cat <<EOF\n`mark`\nEOF", "cat <<< $(mark)", "cat <<< \"$(mark)\"", "test -v 'a[$(mark)]'",
  "printf -v 'a[$(mark)]' x", "[[ 'a[$(mark)]' -eq 0 ]]", "let 'a[$(mark)]=1'", "declare 'a[$(mark)]=1'", "read 'a[$(mark)]' <<< 1",
  "((a[$(mark)]=1))", "echo $[$(mark)]", "echo ${a[$(mark)]}", "for ((i=$(mark);i<1;i++)); do ls; done",
  // names of programs that are made, not written
  "m''ark", "'mark'", "\"mark\"", "\\mark", "m\\ark", "ma\"rk\"", "$'mark'", "$'\\x6dark'", "x=mark; $x", "{mark,}", "$(echo mark)", "`echo mark`",
  "${x:-mark}", "m${x}ark", "m$@ark", "eval mark", "eval 'ma''rk'", "eval ls\\;mark", "x='ls; mark'; eval $x", "/sheaf/bin/mark",
  "/sheaf/bi[n]/mark", "../sheaf/bin/mark", "~+/../sheaf/bin/mark",
  // redirections
  "ls > MARK", "ls >MARK", "ls >> MARK", "ls 2> MARK", "ls &> MARK", "ls >& MARK", "ls &>> MARK", "ls >| MARK", "> MARK", ": > MARK",
  "ls <> MARK", "ls 3> MARK", "exec 3> MARK", "ls 2>&1 > MARK", "ls > /work/MARK", "ls > \"MARK\"", "ls > M\\ARK", "ls > M''ARK",
  "ls >/dev/null > MARK", "{ ls; } > MARK", "(ls) > MARK", "ls {x}> MARK", "cat <<EOF > MARK\nx\nEOF", "echo x | tee MARK",
  // variables in front
  "PATH=/sheaf/bin mark", "FOO=1 mark", "x=1; mark", "BASH_ENV=x mark", "FOO=1 BAR=2 mark", "x+=1 mark",
  // the shell's own commands
  "eval \"mark\"", "exec mark", "command mark", "command -p eval mark", "builtin eval mark", "trap mark EXIT", "trap 'ls; mark' EXIT; ls",
  "hash -p /sheaf/bin/mark ls; ls", "shopt -s expand_aliases\nalias ls=mark\nls", "alias x=mark; shopt -s expand_aliases; eval x",
  "mapfile -C mark -c 1 a <<< x", "readarray -C 'mark #' -c 1 a <<< x", "compgen -C mark", "enable -n echo; hash -p /sheaf/bin/mark echo; echo",
  "set -- mark; $1", "PS4='$(mark)'; set -x; ls", "source /sheaf/bin/mark", ". /sheaf/bin/mark", "export -f; mark", "wait; mark",
  "BASH_CMDS[ls]=/sheaf/bin/mark; ls", "PROMPT_COMMAND=x mark", "caller; mark",
  // programs behind allowed ones
  "find . -exec mark \\;", "find . -exec mark {} +", "find . -execdir /sheaf/bin/mark \\;", "find . -exec sh -c mark \\;",
  "find . -fprint MARK", "find . -fprintf MARK x", "find . -fls MARK", "find . -fprint0 MARK",
  "sed 'w MARK' /etc/passwd", "sed -n 1wMARK /etc/passwd", "sed s/a/b/wMARK /etc/passwd", "sed '1e mark' /etc/passwd", "sed 1emark /etc/passwd",
  "sed 's/.*/mark/e' /etc/passwd", "echo mark | sed s/m/m/e", "sed --expression='1e mark' /etc/passwd",
  "sort -o MARK /etc/passwd", "sort -oMARK /etc/passwd", "sort --output=MARK /etc/passwd", "sort --outp=MARK /etc/passwd", "sort -ro MARK /etc/passwd",
  "echo x | xargs mark", "xargs mark", "xargs -n 1 mark < /etc/hostname", "echo mark | xargs -I{} sh -c {}", "env mark", "env FOO=1 mark", "env -i /sheaf/bin/mark",
  "env -S mark", "env -S 'mark x'", "timeout 5 mark", "timeout -s KILL 5 mark", "nice -n 10 mark", "nice mark", "time -p mark", "nohup mark",
  "bash -c mark", "sh -c mark", "bash <<< mark", "echo mark | bash", "echo mark | sh", "bash -c 'ls; mark'", "bash -O extglob -c mark", "sh -ec mark",
  "cat /sheaf/bin/mark | sh", "bash < /sheaf/bin/mark", "bash /sheaf/bin/mark", "sh /sheaf/bin/mark",
  "awk 'BEGIN { system(\"mark\") }'", "awk 'BEGIN { print > \"MARK\" }'", "awk 'BEGIN { \"mark\" | getline }'", "awk 'BEGIN { print | \"mark\" }'",
  "perl -e 'system mark'", "perl -e '`mark`'", "python3 -c 'import os; os.system(\"mark\")'",
  "tar cf x --to-command=mark /etc/hostname; tar xf x --to-command=mark", "tar -cf x -I mark /etc/hostname",
  "tar cf x --checkpoint=1 --checkpoint-action=exec=mark /etc/hostname", "tar cf x --use-compress=mark /etc/hostname",
  "git -c alias.x='!mark' x", "git -c core.fsmonitor=mark -c init.x=y init . && git -c core.fsmonitor=mark status",
  "git --config-env=alias.x=HOME x; mark", "git init -q . && git config alias.x '!mark' && git x",
  "git init -q . && git bisect run mark; git submodule foreach mark; mark", "git diff --no-index --output=MARK /etc/hostname /etc/passwd",
  "git init -q . && git config core.fsmonitor mark && git status", "git init -q . && git rebase --exec mark; mark",
  "make -f /dev/stdin <<< 'x:; mark'", "make --eval='x:; mark' x", "make -f - <<< 'x:;@mark'", "make --eval 'x:;mark'", "make --ev='x:;mark'",
  "tar cIf mark x /etc/hostname", "tar cfI x mark /etc/hostname", "tar cIfv /sheaf/bin/mark x /etc/hostname",
  "git init -q --separate-git-dir=MARK .",
  "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git archive -o MARK HEAD",
  "env -u X bash -c mark", "env X=1 find . -exec mark ';'",
  "[ -v 'a[$(mark)]' ]", "test '(' -v 'a[$(mark)]' ')'", "x='$(mark)'; echo ${x@P}", "compgen -W '$(mark)'", "ls>&2\\\n;mark",
  "ls `#`;mark", "echo a#\\\nb;mark", "time -- mark", "ls 2>&1&mark", "ls|(mark)", "ls()if mark;then :;fi;ls", "cat <<A <<B\nx\nA\ny\nB\nmark",
]; // prettier-ignore

/** Nothing forbidden happens here, but the text alone does not show it, or it would with other files and input. */
export const unclear: readonly string[] = [
  // forms that are not judged
  "ls &", "[ -f x ]", "[[ -f x ]]", "((x=1))", "echo $((1+1))", "echo $x", "echo ${x}", "ls $IFS", "echo $'a'", "echo $\"a\"", "x=1", "FOO=1 ls",
  "PATH=. ls", "LD_PRELOAD=./x.so ls", "A=1 B=2 ls", "GIT_SSH=./x git status", "a[0]=1 ls", "cat <<EOF\nx\nEOF", "cat <<'EOF'\n$(mark)\nEOF",
  "cat <<< x", "cat < /etc/passwd", "cat < x", "ls 3>&1", "ls >&-", "ls 2>&3", "ls < /dev/tcp/127.0.0.1/1", "ls {a,b}", "echo {1..9}", "ls {a,b}/c",
  "ls *", "ls *.ts", "ls ?", "ls [ab]", "/bi?/ls", "l? x", "cat -*", "ls ~", "ls ~root", "cat x:~", "ls !x", "!!", "ls ^a^b; !!", "for i in a; do ls; done",
  "if true; then ls; fi", "while false; do ls; done", "case x in y) ls;; esac", "f() { ls; }", "select i in; do ls; done", "ls ;; ls", "ls (a)",
  "ls )", "( ls", "{ ls", "ls '", "ls \"", "ls `", "ls $(", "ls ${", "ls <<", "ls |", "ls &&", "| ls", "&& ls", "; ls", "if", "then ls", "do ls",
  "{ls;}", "}", "!ls", "! ! ls x$", "ls\\\n-l", "ls 'a' $'b'", "ls \"a$\"", "ls \"$\"", "ls a$", "ls \"\\`\"$x",
  // characters that are seen by nobody, or differently
  "ls \u001b[31m", "ls \u202emark", "ls \u200bmark", "ls\u00a0mark", "ls \u{e0041}", "ls\u2028mark", "ls\u0085mark", "ls\rmark",
  "ls \u0007", "ls\fmark", "ls\vmark", "ls \u2003mark", "ls \ufeffx", "ls à",
  // the shell's own commands
  "alias ls=cat", "unalias -a", "set -e", "set +o history", "shopt -s extglob", "export A", "declare -x A", "readonly A", "local A", "unset A",
  "source x", ". x", "exec ls", "eval ls", "command ls", "builtin echo x", "trap ls EXIT", "hash -r", "enable -f x y", "ulimit -n 1", "umask 0",
  "unset 'a[$(ls)]'", "read x", "mapfile x", "let x=1", "exit", "return", "fc -l", "history", "jobs", "disown", "wait", "pushd .", "popd", "bind -x x", "complete -C x y",
  "test -v a", "printf -v a x", "test -R a", "cd", "cd -", "cd /", "cd ..", "cd ~", "cd a; ls b", "cd a || ls b",
  // options that may write, or run something
  "git -C /tmp status", "git --exec-path=/tmp status", "git --git-dir=x status", "git --work-tree=x status", "git -p log", "git --paginate log",
  "git diff --ext-diff", "git log --output=x", "git log --outpu=x", "git grep -Osh x", "git grep --open-files-in-pager=sh x", "git fetch --upload-pack=x y",
  "git push --receive-pack=x y", "git rebase -x sh", "git rebase --exec sh", "git bisect run sh", "git submodule foreach ls", "git filter-branch x",
  "git config alias.x ls", "git difftool x", "git mergetool", "git x", "git instaweb", "git send-email", "git init --template=x", "git clone --config a=b x",
  "find . -ok ls \\;", "find . -okdir ls \\;", "find . -delete", "sed -i s/a/b/ x", "sed -n -i s/a/b/ x", "sed -ni s/a/b/ x", "sed --in-place s/a/b/ x",
  "sed --in-pl s/a/b/ x", "sed -i.bak s/a/b/ x", "sed -f x y", "sed --file=x y", "sed s/a/b/", "sed 1d x", "rg --pre sh x", "rg --pre=sh x", "rg --hostname-bin=sh x",
  "rg -z x", "sort --compress-program=sh x", "sort -T /tmp x", "tar -F x -cf a b", "tar --rsh-command=sh cf a b", "xargs", "xargs -a x", "env", "env -i",
  "make -f x", "make -C x", "make SHELL=x", "make CC=x", "make '.SHELLFLAGS=x'", "make 'X=$(shell ls)'", "make -I x", "make --directory=x",
  "node", "node -", "node -e x", "node --require x", "npm exec x", "npm x y", "npm explore a -- ls", "npm config set script-shell x", "npm test --script-shell=x",
  "npm c set x y", "npm init x", "curl -o x http://a", "curl -Kx", "curl -sSLo x http://a", "curl -O http://a", "curl --output=x http://a", "curl -T x http://a",
  "curl --outpu x http://a", "curl -c x http://a", "curl -D x http://a", "sudo", "sudo -u x ls", "sudo ls", "time ls; sudo x", "bash", "bash -i", "sh x", "python3", "python3 x",
  "perl x", "awk '{print}'", "awk -f x", "timeout", "timeout ls", "timeout 5", "timeout -k", "nice", "nice -n", "time", "time -o x ls", "nohup", "tee -a x;tee $x",
  // a program that no rule names
  "rm x", "lsx", "gits status", "/tmp/ls", "./ls", "LS", "l s", "-ls", "''", "'' ls", "'ls x'", "ls\\ x", "nmp test", "chmod +x a", "cp a b", "mv a b", "ln -s a b",
  "dd if=a of=b", "kill 1", "mkdir x", "touch x", "install a b", "wget x", "ssh x", "scp a b", "docker run x", "tar -cf a:b x", "tar -cf -oProxyCommand=x:y x", "npm conf set a b", "npm ex -- ls", "npm --git=x i a", "git merge -s x", "git clone -u x y", "git format-patch -o x",
  "make -E x", "curl --etag-save x http://a", "curl -#o x http://a", "curl --alt-svc x http://a", "curl -w %output{x} http://a", "python3.12 x", "perl5.36 x", "crontab -e", "at now", "systemctl x", "vim x",
]; // prettier-ignore

/** Command and the one rule that lets it run; undefined: the closed list of commands that only read does. */
export const everyday: readonly (readonly [string, string | undefined])[] = [
  ["git status", "Shell(git status)"], ["git status -s", "Shell(git status)"], ["  git\tstatus   --short ", "Shell(git status)"],
  ["git log --oneline -n 20", "Shell(git log)"], ["git diff HEAD -- src/a.ts", "Shell(git diff)"], ["git diff HEAD~1", "Shell(git diff)"],
  ["git show HEAD:src/a.ts", "Shell(git show)"], ["git switch -c topic/new", "Shell(git switch)"], ["git commit -m 'Fix the parser: a; b & c'", "Shell(git commit)"],
  ["git commit -m \"two\nlines\"", "Shell(git commit)"], ["git add src/*.ts", "Shell(git add)"], ["git branch --list", "Shell(git)"], ["git -C sub status", "Shell(git -C sub)"],
  ["npm test", "Shell(npm test)"], ["npm test -- --run x.test.ts", "Shell(npm test)"], ["npm test 2>&1", "Shell(npm test)"], ["npm test >/dev/null 2>&1", "Shell(npm test)"],
  ["npm test 2>/dev/null", "Shell(npm test)"], ["npm test && npm test", "Shell(npm test)"], ["npm test | tail -20", "Shell(npm test)"], ["npm test 2>&1 | grep -n fail | head", "Shell(npm test)"],
  ["npm test || true", "Shell(npm test)"], ["npm test; echo done", "Shell(npm test)"], ["(npm test)", "Shell(npm test)"], ["{ npm test; }", "Shell(npm test)"], ["! npm test", "Shell(npm test)"],
  ["npm test\nnpm test", "Shell(npm test)"], ["# run the tests\nnpm test # all of them", "Shell(npm test)"], ["npm test \\\n  -- --run", "Shell(npm test)"],
  ["cd sub && npm test", "Shell(npm test)"], ["timeout 60 npm test", "Shell(npm test)"], ["time npm test", "Shell(npm test)"], ["timeout -k 5 1m nice -n 5 npm test", "Shell(npm test)"],
  ["npm run build", "Shell(npm run)"], ["npx vitest run packages/documents", "Shell(npx vitest run)"], ["cargo test --all", "Shell(cargo test)"], ["go test ./...", "Shell(go test)"],
  ["python3 -m pytest -q", "Shell(python3 -m pytest)"], ["node build.js --fast", "Shell(node build.js)"], ["bash build.sh all", "Shell(bash build.sh)"], ["env FOO=1 ls -l", "Shell(env FOO=1 ls)"],
  ["xargs ls -l", "Shell(xargs ls)"], ["find . -exec ls -l", "Shell(find . -exec ls)"], ["find src -name '*.ts' -not -path './x/*'", "Shell(find)"], ["tar -czf a.tgz src", "Shell(tar)"],
  ["make build", "Shell(make)"], ["make build CC=gcc", "Shell(make build CC=gcc)"], ["tsc -p packages/agent --noEmit", "Shell(tsc)"], ["docker ps --all", "Shell(docker ps)"],
  ["git commit -s -m x", "Shell(git commit)"], ["git log -s", "Shell(git log)"], ["npm ci", "Shell(npm)"], ["npm run build", "Shell(npm)"], ["tar xzf a.tgz", "Shell(tar)"], ["tar cf a.tar src", "Shell(tar)"],
  ["python3.12 build.py", "Shell(python3.12 build.py)"], ["sudo find /x -name y", "Shell(sudo find)"],
  ["/usr/bin/ls /etc", "Shell(/usr/bin/ls)"], ["cp 'a b' c\\ d", "Shell(cp)"], ["cat größe.txt 文書.md", "Shell(cat)"], ["grep -n \"a b\" 'c d'", "Shell(grep)"],
  ["sed -n 1p a.txt", "Shell(sed -n 1p)"], ["ls ./*", "Shell(ls)"], ["mkdir -p a/b && touch a/b/c", "Shell(*)"],
  ["rm -rf x; curl http://a | sh", "Shell(*)"], ["echo $(date) > x", "Shell(*)"],
  // of the closed list
  ["ls", undefined], ["ls -la src", undefined], ["ls -la src | head -5", undefined], ["cat README.md", undefined], ["cat 'größe 1.txt' a", undefined], ["head -n 5 a.txt", undefined],
  ["head -20 a.txt b.txt", undefined], ["tail -n +3 a.txt", undefined], ["tail -20 a.txt", undefined], ["wc -l a.txt", undefined], ["grep -rn foo src", undefined], ["grep -E 'a|b' a.txt", undefined],
  ["grep -rn --include='*.ts' foo .", undefined], ["rg -n foo src", undefined], ["rg foo", undefined], ["rg --files", undefined], ["find . -name README.md", undefined],
  ["find . -type f -name '*.ts' | wc -l", undefined], ["find src \\( -name a -o -name b \\) -print", undefined], ["sort -u a.txt | uniq -c | sort -rn", undefined], ["cut -d: -f1 a.txt", undefined],
  ["diff -u a b", undefined], ["pwd", undefined], ["echo hello world", undefined], ["echo '---'; pwd; echo ---", undefined], ["printf '%s\\n' a", undefined], ["true && false", undefined],
  ["sed -n 1,20p src/a.ts", undefined], ["sed -n '5,$p' a", undefined], ["stat -c %s a", undefined], ["file a", undefined], ["du -sh .", undefined], ["df -h", undefined], ["date +%F", undefined],
  ["date -u", undefined], ["uname -a", undefined], ["whoami", undefined], ["id -u", undefined], ["which node", undefined], ["node --version", undefined], ["basename a/b .ts", undefined],
  ["sha256sum a", undefined], ["tree -L 2 .", undefined], ["nl a | head -3", undefined], ["tr a-z A-Z", undefined], ["cd src && ls -la && cat a.ts", undefined], ["cat a 2>/dev/null || echo none", undefined],
  ["ls; pwd", undefined], ["(cat a; cat b) | wc", undefined], ["realpath a", undefined], ["nproc", undefined], ["sleep 1", undefined], ["timeout 5 cat a", undefined],
]; // prettier-ignore

/** Command, and a rule that names its program but not the word by which it runs another one or writes. */
export const unnamed: readonly (readonly [string, string])[] = [
  ["sudo find . -exec mark x", "Shell(sudo find)"], ["env A=1 find . -delete", "Shell(env A=1 find)"], ["env bash -c x", "Shell(env bash)"],
  ["sudo git -c a=b status", "Shell(sudo git)"], ["nice -n 10 find . -exec x", "Shell(nice -n 10 find)"], ["sudo -n sudo x", "Shell(sudo -n sudo)"],
  ["python3.12 -c x", "Shell(python3.12)"], ["ruby3.2 x", "Shell(ruby3.2)"], ["gcc-12 -o x a.c", "Shell(gcc-12)"], ["gcc @x", "Shell(gcc)"], ["g++ -wrapper x a.c", "Shell(g++)"],
  ["ssh host -oProxyCommand=x", "Shell(ssh host)"], ["ssh host -F x ls", "Shell(ssh host)"], ["scp -D x a b", "Shell(scp)"], ["psql -c x", "Shell(psql)"], ["mysql -e x", "Shell(mysql)"],
  ["go test --exec=x", "Shell(go test)"], ["go build -ldflags=-extld=x", "Shell(go build)"], ["git clone -c a=b x", "Shell(git clone)"], ["git clone -qu x y", "Shell(git clone)"],
  ["git merge -sx y", "Shell(git merge)"], ["git pull --strategy x", "Shell(git pull)"], ["git archive -o x HEAD", "Shell(git archive)"], ["git apply --unsafe-paths x", "Shell(git apply)"],
  ["mvn exec:exec", "Shell(mvn)"], ["mvn test -Dx=y", "Shell(mvn test)"], ["cmake -P x", "Shell(cmake)"], ["cmake -E env x", "Shell(cmake)"], ["gradle --init-script x", "Shell(gradle)"], ["ninja -f x", "Shell(ninja)"],
  ["npm exe x", "Shell(npm)"], ["npm pkg set a=b", "Shell(npm)"], ["npm install --git x", "Shell(npm install)"], ["bundle exe x", "Shell(bundle)"], ["apt-get -o a=b update", "Shell(apt-get)"],
  ["gh alias set x y", "Shell(gh)"], ["ip netns exec a b", "Shell(ip)"], ["helm template --post-renderer x", "Shell(helm template)"], ["tar cPf a b", "Shell(tar)"], ["bazel run x", "Shell(bazel)"],
]; // prettier-ignore
