#!/bin/sh
# Installs claudikins: builds it when run in a checkout, downloads the released program everywhere else.
# A shell reads up to the closing brace before it runs anything: of a download that was cut off, nothing runs.
{
set -eu

repository=https://github.com/claudikins/claudikins

usage() {
  cat <<END
Installs claudikins.

Usage: sh install.sh [--help]

In a checkout, the script builds claudikins and installs it. Anywhere else, it
downloads the latest release, verifies it and installs it. An existing
installation is replaced only if the new program runs.

A download is verified by its SHA-256 sum. If GitHub's command gh is installed
and signed in, the script also verifies that the release workflow made it.

Environment:
  CLAUDIKINS_INSTALL   folder to install to (default: ~/.local/bin)
  CLAUDIKINS_VERSION   release to download, such as 0.1.0 (default: the latest)
  CLAUDIKINS_BASE_URL  URL to download from instead; it must have SHA256SUMS and
                       claudikins-<os>-<arch>[-musl].tar.gz
  CLAUDIKINS_NO_DEMO   1 skips the demo at the end
END
}

main() {
  case "$*" in
    '') ;;
    -h | --help)
      usage
      return
      ;;
    *)
      printf 'error: unknown argument: %s\n\nhint: settings are environment variables: see --help\n' "$*" >&2
      return 2
      ;;
  esac
  leave_relative_path
  tmp='' new='' cache=''
  trap clean_up EXIT
  # A shell that dies of a signal does not run its EXIT trap; one that exits does.
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM

  choose_folder
  tmp=$(mktemp -d "${TMPDIR:-/tmp}/claudikins.XXXXXX") || fail "cannot create a temporary folder" "Check that TMPDIR is a folder."
  if is_checkout; then build; else download; fi
  advise
  demo
  next_step
}

# Takes relative and empty entries out of PATH. This may run in a folder of somebody else, whose programs must not be found.
leave_relative_path() {
  absolute='' rest=${PATH:-}:
  while [ -n "$rest" ]; do
    case $rest in /*) absolute=$absolute:${rest%%:*} ;; esac
    rest=${rest#*:}
  done
  PATH=${absolute#:}
  export PATH="${PATH:-/usr/bin:/bin}"
}

clean_up() {
  if [ -n "$new" ]; then rm -f -- "$new"; fi
  if [ -n "$cache" ]; then rm -rf -- "$cache"; fi
  if [ -n "$tmp" ]; then rm -rf -- "$tmp"; fi
}

say() { printf '%s\n' "$@"; }

# fail MESSAGE HINT
fail() {
  printf 'error: %s\n\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Sets folder and bin. Looks before anything is downloaded or built whether they can be written.
choose_folder() {
  folder=${CLAUDIKINS_INSTALL:-}
  if [ -z "$folder" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set" "Set a folder to install to: CLAUDIKINS_INSTALL=/usr/local/bin"
    folder=$HOME/.local/bin
  fi
  case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
  folder=${folder%/}
  bin=$folder/claudikins
  existing=$folder
  while [ ! -e "$existing" ]; do existing=$(dirname -- "$existing"); done
  if [ ! -d "$existing" ] || [ ! -w "$existing" ]; then
    fail "cannot write to $folder" "Choose another folder: CLAUDIKINS_INSTALL=\$HOME/bin"
  fi
  [ ! -d "$bin" ] || fail "$bin is a folder" "Move it away, or choose another folder: CLAUDIKINS_INSTALL=\$HOME/bin"
}

# Piped into a shell, $0 is that shell, whatever folder it was started in.
is_checkout() {
  case ${0##*/} in install.sh) ;; *) return 1 ;; esac
  checkout=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || return 1
  [ -f "$checkout/scripts/build.ts" ] && grep -q '"name": *"claudikins"' "$checkout/package.json" 2>/dev/null
}

build() {
  cd -- "$checkout"
  pinned=$(sed -n 's/^ *"bun": *"\([0-9][^"]*\)".*/\1/p' package.json)
  [ -n "$pinned" ] || fail "package.json does not pin a version of Bun" "Restore it: git checkout package.json"
  find_bun
  say "Building with Bun $pinned ($bun)"
  # Bun would keep a copy of all packages in a cache in the home. Beside the packages, it can link them instead of copying.
  mkdir -p node_modules && cache=$(mktemp -d "$checkout/node_modules/.install.XXXXXX") || fail "cannot write to $checkout" \
    "Check who owns it: ls -ld node_modules"
  "$bun" install --frozen-lockfile --cache-dir "$cache" </dev/null || fail "cannot install the dependencies" \
    "Check the network. If it works: git checkout bun.lock package.json, remove node_modules and run this again."
  rm -rf -- "$cache"
  # Where install scripts are switched off, the package holds a placeholder; npm test needs the program.
  is_pinned node_modules/.bin/bun || "$bun" node_modules/bun/install.js </dev/null || :
  # In an environment and a home of its own: neither a variable nor a bunfig.toml of the user's changes what is built.
  env -i HOME="$tmp" PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" "$bun" run build </dev/null || fail "the build failed" "Run git status: if it shows changes, build a clean checkout."
  stage
  cp dist/claudikins "$new" || fail "cannot write to $folder" "Check that the disk is not full."
  swap
}

# Sets bun to a program of exactly the pinned version.
find_bun() {
  bun=node_modules/.bin/bun
  if is_pinned "$bun"; then return; fi
  bun=bun
  if is_pinned "$bun"; then return; fi
  if ! has npm || ! has node; then
    fail "building requires Bun $pinned, or npm to install it" \
      "Install Node.js 18 or newer, which includes npm (https://nodejs.org), then run this again."
  fi
  say "Installing Bun $pinned from npm"
  mkdir "$tmp/bun"
  npm install --prefix "$tmp/bun" --no-save --no-audit --no-fund --no-update-notifier --loglevel=error \
    --cache "$tmp/npm" "bun@$pinned" </dev/null || fail "npm could not install Bun $pinned" "Check the network and the registry: npm ping"
  bun=$tmp/bun/node_modules/.bin/bun
  # An npm that runs no install scripts leaves a placeholder.
  is_pinned "$bun" || node "$tmp/bun/node_modules/bun/install.js" </dev/null || :
  is_pinned "$bun" || fail "the Bun that npm installed does not run here" "Install Bun $pinned yourself: https://bun.com"
}

is_pinned() { [ "$("$1" --version 2>/dev/null </dev/null)" = "$pinned" ]; }

download() {
  has curl || has wget || fail "neither curl nor wget is installed" "Install one of them, then run this again."
  has tar || fail "tar is not installed" "Install it, then run this again."
  name_archive
  if [ -n "${CLAUDIKINS_BASE_URL:-}" ]; then
    base=${CLAUDIKINS_BASE_URL%/}
  elif [ -n "${CLAUDIKINS_VERSION:-}" ]; then
    base=$repository/releases/download/v${CLAUDIKINS_VERSION#v}
  else
    base=$repository/releases/latest/download
  fi

  say "Downloading $base/$archive"
  fetch SHA256SUMS --silent
  expected=$(listed_sum "$archive" <"$tmp/SHA256SUMS")
  [ -n "$expected" ] || fail "this release has no $archive (see $base/SHA256SUMS)" "Build from source: $from_source"
  if [ -t 2 ]; then fetch "$archive" --progress-bar; else fetch "$archive" --silent; fi
  actual=$(sha256 "$tmp/$archive")
  if [ "$actual" != "$expected" ]; then
    fail "the download is damaged or is not the released file: its SHA-256 is
  $actual, but $base/SHA256SUMS lists
  $expected" "Nothing was changed. Run this again. If it fails again, report it: $repository/issues"
  fi
  if [ -z "${CLAUDIKINS_BASE_URL:-}" ]; then verify_origin; fi

  stage
  # Only the content of one file is read, so an archive can neither choose a path nor make a link.
  tar -xzOf "$tmp/$archive" claudikins >"$new" 2>/dev/null || cannot_unpack
  # Programs that download for a user, such as a sandboxed terminal, may mark files so that macOS refuses to run them.
  if [ "$os" = darwin ] && has xattr; then xattr -d com.apple.quarantine "$new" 2>/dev/null || :; fi
  swap
}

# Says what is wrong in one sentence, in place of the lines of tar and gzip.
cannot_unpack() {
  what="cannot unpack $archive to $folder"
  if tar -tzf "$tmp/$archive" >/dev/null 2>&1; then
    fail "$what" "Nothing was changed. Check that the disk is not full. If it is not, report this: $repository/issues"
  fi
  has gzip || fail "$what: gzip is not installed" "Nothing was changed. Install gzip, then run this again."
  fail "$what: the archive is incomplete or damaged" \
    "Nothing was changed. Run this again. If it fails again, report it: $repository/issues"
}

# Asks GitHub whether the release workflow made the archive. Without gh, a sign-in or a network, there is only the sum.
verify_origin() {
  has gh && on_github attestation verify --help >/dev/null 2>&1 || return 0
  on_github auth token >/dev/null 2>&1 || return 0
  slug=${repository#https://github.com/}
  status=$(on_github api --include "repos/$slug/attestations/sha256:$actual" 2>/dev/null | sed -n 1p)
  case $status in
    HTTP/*' 404'*)
      fail "GitHub knows no attestation of $archive, so the release workflow did not make it" \
        "Nothing was changed. Report it: $repository/issues"
      ;;
    HTTP/*' 200'*) ;;
    *)
      say "GitHub cannot be asked who made the download, so only its SHA-256 was verified"
      return 0
      ;;
  esac
  on_github attestation verify "$tmp/$archive" --repo "$slug" --signer-workflow "$slug/.github/workflows/release.yml" \
    >"$tmp/answer" 2>&1 || {
    cat -- "$tmp/answer" >&2
    fail "the attestation of $archive is not valid" "Nothing was changed. Report it: $repository/issues"
  }
  say "GitHub attests that the release workflow made it"
}

on_github() { GH_HOST=github.com gh "$@" </dev/null; }

from_source="git clone $repository && ./claudikins/install.sh"

# Sets archive to the name that scripts/release.ts gives to the archive for this machine.
name_archive() {
  system=$(uname -s) machine=$(uname -m)
  case $system in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN* | Windows_NT)
      fail "this script does not install claudikins on Windows" \
        "Install it with npm: npm install --global claudikins. Inside WSL, this script works as on Linux."
      ;;
    *) fail "claudikins is not available for $system" "claudikins runs on Linux, macOS and Windows." ;;
  esac
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "claudikins is not available for $system on $machine" "claudikins runs on x64 and arm64 processors." ;;
  esac
  # A shell that is itself translated by Rosetta sees an Intel processor.
  if [ "$os-$arch" = darwin-x64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
  platform=$os-$arch
  if [ "$os" = linux ] && is_musl; then platform=$platform-musl; fi
  archive=claudikins-$platform.tar.gz
}

# musl's ldd says so and fails. The loader alone proves little: Debian's package "musl" brings it to a glibc system.
is_musl() {
  case $(ldd --version 2>&1 || :) in
    *musl*) return 0 ;;
    *GLIBC* | *"GNU libc"* | *"Free Software Foundation"*) return 1 ;;
  esac
  for loader in /lib/ld-musl-*; do
    if [ -e "$loader" ]; then return 0; fi
  done
  return 1
}

# fetch NAME CURL_FLAG: downloads a file of the release into the temporary folder.
fetch() {
  # What began with TLS is not to be redirected away from it.
  case $base in https:*) protocols='=https' ;; *) protocols='=https,http,file' ;; esac
  if has curl; then
    curl --fail --location --show-error "$2" --proto "$protocols" --connect-timeout 20 --speed-limit 1 \
      --speed-time 30 --output "$tmp/$1" "$base/$1" </dev/null && return
  else
    case $base in
      https:*) fetch_by_https "$base/$1" "$tmp/$1" && return ;;
      *) wget -q -T 30 -O "$tmp/$1" "$base/$1" </dev/null && return ;;
    esac
  fi
  fail "cannot download $base/$1" \
    "Nothing was changed. Check the network, and that this release exists: $repository/releases"
}

# fetch_by_https ADDRESS FILE: wget follows a redirect to http without a word, so redirects are followed here.
fetch_by_https() {
  case $(wget --help 2>&1 || :) in
    *--max-redirect*) ;;
    *) fail "this wget cannot be restricted to https" "Install curl or GNU wget, then run this again." ;;
  esac
  address=$1
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    wget -q -S --max-redirect=0 -T 30 -O "$2" "$address" </dev/null 2>"$tmp/answer" && return
    next=$(sed -n 's/^ *[Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]: *\([^[:space:]]*\).*/\1/p' "$tmp/answer" | sed -n '$p')
    rest=${address#https://}
    case $next in
      '') break ;;
      https://*) address=$next ;;
      //*) address=https:$next ;;
      /*) address=https://${rest%%/*}$next ;;
      *)
        fail "$address redirects from https to $next" \
          "Nothing was changed. Something on the network may be altering responses: try another network."
        ;;
    esac
  done
  cat -- "$tmp/answer" >&2
  return 1
}

# listed_sum NAME <SHA256SUMS: prints the sum of that file, nothing when it is not listed.
listed_sum() {
  while read -r sum name || [ -n "$sum" ]; do
    if [ "${name#\*}" = "$1" ]; then say "$sum"; fi
  done
}

sha256() {
  if has sha256sum; then
    sum=$(sha256sum <"$1")
  elif has shasum; then
    sum=$(shasum -a 256 <"$1")
  elif has openssl; then
    sum=$(openssl dgst -sha256 -r <"$1")
  else
    fail "none of sha256sum, shasum and openssl is installed, so the download cannot be verified" "Install one of them, then run this again."
  fi
  say "${sum%% *}"
}

# Sets new to an empty file beside the program: a rename within a folder is atomic, and /tmp may forbid programs.
stage() {
  mkdir -p -- "$folder" || fail "cannot create $folder" "Choose another folder: CLAUDIKINS_INSTALL=\$HOME/bin"
  new=$(mktemp "$folder/.claudikins.XXXXXX") || fail "cannot write to $folder" "Check that the disk is not full."
}

# Puts the new program in the place of the old one, if it runs.
swap() {
  chmod 755 "$new"
  version=$("$new" --version </dev/null) || version=''
  # A shell runs an empty file as a program that succeeds.
  if [ -z "$version" ]; then
    hint="Report this with the output of uname -a: $repository/issues"
    case ${platform:-} in *-musl) hint="It needs libstdc++. In Alpine Linux: apk add libstdc++" ;; esac
    fail "the new program does not run on this machine; nothing was changed" "$hint"
  fi
  mv -f -- "$new" "$bin" || fail "cannot replace $bin" "Check who owns it: ls -l \"$bin\""
  new=''
}

advise() {
  say '' "claudikins $version is installed: $bin"
  command=claudikins
  found=$(command -v claudikins || :)
  # The second is how it looks by a PATH that ends in a slash.
  if [ "$found" != "$bin" ] && [ "$found" != "$folder//claudikins" ]; then
    command=$(quoted "$bin")
    if [ -n "$found" ]; then
      say '' "Your shell finds another claudikins first: $found"
    else
      say '' "$folder is not on your PATH."
    fi
    say "Add this line to $(shell_file), then open a new terminal:" "  $(path_line)"
  fi
}

# The last lines, which people follow. Uses command, as advise has set it.
next_step() {
  say '' "Next, import the MCP servers of your agents. To see what would change, without writing anything:"
  say "  $command init --dry-run"
  say "To make the changes, and to undo them:" "  $command init" "  $command restore"
}

# shellcheck disable=SC2088 # The tilde is for people.
shell_file() {
  case ${SHELL:-} in
    */zsh) say '~/.zshrc' ;;
    */fish) say '~/.config/fish/config.fish' ;;
    # The terminals of macOS open login shells, which read no .bashrc.
    */bash) if [ "$(uname -s)" = Darwin ]; then say '~/.bash_profile'; else say '~/.bashrc'; fi ;;
    *) say '~/.profile' ;;
  esac
}

path_line() {
  case ${SHELL:-} in
    */fish) say "fish_add_path $(quoted "$folder")" ;;
    *) say "export PATH=$(quoted "$folder"):\"\$PATH\"" ;;
  esac
}

# As one word of any of these shells, bare when it needs no quotes.
quoted() {
  case $1 in
    *[!A-Za-z0-9/._-]*)
      escaped=$(say "$1" | sed "s/'/'\\\\''/g")
      say "'$escaped'"
      ;;
    *) say "$1" ;;
  esac
}

demo_code='
const statuses = ["pending", "paid", "shipped", "delivered", "cancelled", "refunded"];
const [sales, ...lists] = await Promise.all([
  demo.sales_report({ from: "2025-01-01", to: "2025-12-31", group_by: "country" }),
  ...statuses.map((status) => demo.list_orders({ status })),
]);
const best = sales.rows.reduce((a, b) => (b.revenue_cents > a.revenue_cents ? b : a));
return {
  orders: Object.fromEntries(statuses.map((status, i) => [status, lists[i].total])),
  best_country: best.key,
  its_revenue_eur: Math.round(best.revenue_cents / 100),
};'

# In a home of its own, so that it neither finds nor leaves anything of the user's.
demo() {
  if [ "${CLAUDIKINS_NO_DEMO:-}" = 1 ]; then return; fi
  mkdir "$tmp/demo"
  say '' "Demo: one program makes seven calls to the built-in demo shop at once, and only its return value is printed:"
  (
    cd -- "$tmp/demo"
    HOME=$tmp/demo
    export HOME
    unset CLAUDIKINS_CONFIG XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME
    "$bin" exec --no-daemon -e "$demo_code" </dev/null
  ) || fail "claudikins is installed, but its demo failed" "Report the output: $repository/issues"
}

main "$@"
}
