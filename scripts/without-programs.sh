#!/usr/bin/env bash
# Runs a command as on a machine with Node, git and little else: the programs of test/support/programs.txt are hidden
# in a mount namespace. Needs overlayfs.
set -euo pipefail
list=$(realpath "$(dirname "$0")/../test/support/programs.txt")
if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" = 0 ] && flags=-m || flags=-rm
  exec unshare "$flags" -- "$0" --inside "$@"
fi
shift

upper=$(mktemp -d)
trap 'umount -l "$upper"; rmdir "$upper"' EXIT
mount -t tmpfs tmpfs "$upper"
# Removes a file in a layer over its folder.
hide() {
  local folder
  folder=$(realpath "$(dirname "$1")")
  if [ ! -d "$upper$folder" ]; then
    mkdir -p "$upper$folder" "$upper/work$folder"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=$upper$folder,workdir=$upper/work$folder" "$folder"
  fi
  rm -f "$folder/$(basename "$1")"
}
while read -r package programs; do
  case "$package" in "#" | git | util-linux) continue ;; esac
  for program in $programs; do
    for place in $(type -ap "$program" || true); do hide "$place"; done
  done
done <"$list"
unset CI SHEAF_CHROMIUM
"$@"
