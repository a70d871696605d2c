#!/bin/sh
# Installs the dependencies of a checkout, with the Bun that package.json pins: `sh scripts/release/setup.sh`.
set -eu
cd "$(dirname -- "$0")/../.."
npx --yes "bun@$(node -p 'require("./package.json").devDependencies.bun')" install --frozen-lockfile
