#!/bin/sh
# Signs executables for macOS, on macOS: `sh scripts/release/sign.sh dist/executables/darwin-*/claudikins`.
# The signature names nobody. macOS ends a program at its start if the signature is invalid, which that of Bun is in several versions, and
# for x64 in 1.4.5 (oven-sh/bun#32159, #39758, #39772).
set -eu
for program in "$@"; do
  codesign --force --sign - --identifier claudikins "$program"
  codesign --verify --strict "$program"
done
