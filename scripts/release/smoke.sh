#!/bin/sh
# Shows that an executable works on this machine: `sh scripts/release/smoke.sh path/to/claudikins 0.2.0`. Needs nothing else.
set -eu

program=$1 version=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HOME="$folder" USERPROFILE="$folder" APPDATA="$folder" LOCALAPPDATA="$folder"
unset CLAUDIKINS_CONFIG XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
case $program in /*) ;; *) program=$PWD/$program ;; esac
cd "$folder"

# check WHAT EXPECTED ACTUAL: the actual text must contain the expected one.
check() {
  case $3 in
    *"$2"*) printf 'ok: %s\n' "$1" ;;
    *)
      printf 'error: %s: expected %s in:\n%s\n' "$1" "$2" "$3" >&2
      exit 1
      ;;
  esac
}

check "it prints its version" "$version" "$("$program" --version)"

check "a program calls the demo server" '"total":2400' \
  "$("$program" exec --no-daemon --json -e 'return { total: (await demo.list_orders({ from: "2025-01-01", to: "2025-12-31" })).total }')"

initialize='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"smoke","version":"1"}}}'
check "serve answers initialize" '"serverInfo":{"name":"claudikins"' "$(printf '%s\n' "$initialize" | "$program" serve)"
