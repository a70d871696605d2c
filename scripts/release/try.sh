#!/bin/sh
# Tries a release on this machine: `sh scripts/release/try.sh linux-x64 0.2.0 [dist]`.
# The executable of the archive must work, and so must the packages of npm, if npm is there.
set -eu

platform=$1 version=$2
dist=$(CDPATH='' cd -- "${3:-dist}" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

case $platform in windows-*) executable=claudikins.exe ;; *) executable=claudikins ;; esac
tar -xzf "$dist/release/claudikins-$platform.tar.gz" -C "$folder"
sh "$here/smoke.sh" "$folder/$executable" "$version"

if command -v npm >/dev/null 2>&1; then
  mkdir "$folder/npm"
  cp "$dist/npm/claudikins-$version.tgz" "$dist/npm/claudikins-$platform-$version.tgz" "$folder/npm"
  cd "$folder/npm"
  # The packages for other platforms are not on npm yet, and are optional.
  npm install --silent --no-audit --no-fund --no-save "./claudikins-$platform-$version.tgz" "./claudikins-$version.tgz"
  sh "$here/smoke.sh" "$folder/npm/node_modules/.bin/claudikins" "$version"
fi
