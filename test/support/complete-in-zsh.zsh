# Prints what zsh would complete: complete-in-zsh.zsh SCRIPT LINE
# zsh completes in its line editor only, so a second zsh behind a pseudo terminal notes down what it is offered.
zmodload zsh/zpty
script=$1
# The dump of compinit stays: making it takes most of the time of a first call.
rm -f $script.ready $script.found
cat > $script.hook <<'EOF'
PROMPT= LISTMAX=0
autoload -Uz compinit
compinit -u -d ${script}.dump
source $script
bindkey '^T' complete-word
compadd() {
  # Calls with -O, -A or -D only ask; the others offer.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  typeset -a offered
  builtin compadd -A offered "$@"
  print -l -- $offered >> $script.found
  builtin compadd "$@"
}
print ready > $script.ready
EOF
zpty shell zsh --no-rcs -i
zpty -w shell "script=${(q)script}; source ${(q)script}.hook"
while [[ ! -s $script.ready ]]; do zpty -r -t shell >/dev/null; done
zpty -n -w shell "$2"$'\t\t'
repeat 100; do
  zpty -r -t shell >/dev/null
  sleep 0.05
  [[ -s $script.found ]] && break
done
sleep 0.2
cat $script.found
zpty -d shell
