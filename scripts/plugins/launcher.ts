/**
 * The programs that start claudikins for plugins of Claude Code and Gemini CLI: the installed one, which starts in milliseconds and
 * needs no network, or else the newest through npx. Claude Code also puts them on the PATH of the agent's shell.
 */
import { npxWords, repository } from "./about.ts";

const npx = npxWords.join(" ");

/** Starts the first `claudikins` on the PATH that is not a launcher, which has the manifest of Gemini CLI beside its folder. */
export const posixLauncher = `#!/bin/sh
# Starts the installed claudikins. Without one, starts the newest through npx.
IFS=:
set -f
for folder in $PATH "\${CLAUDIKINS_INSTALL:-$HOME/.local/bin}"; do
  case $folder in /*) ;; *) continue ;; esac
  [ -f "$folder/claudikins" ] && [ -x "$folder/claudikins" ] || continue
  [ -f "$folder/../gemini-extension.json" ] || exec "$folder/claudikins" "$@"
done
unset IFS
if ! command -v npx >/dev/null; then
  echo "error: claudikins is not installed, and there is no npx to start it with" >&2
  echo "hint: install claudikins or Node.js: ${repository}#install" >&2
  exit 127
fi
exec ${npx} "$@"
`;

/** An installed claudikins.exe is on the PATH. npx finds no other program, so this file cannot start itself. */
export const windowsLauncher = `@echo off
rem Starts the installed claudikins. Without one, starts the newest through npx.
setlocal
rem Programs in the working directory belong to the project, so they are not started.
set "NoDefaultCurrentDirectoryInExePath=1"
set "program="
for %%P in (claudikins.exe) do set "program=%%~$PATH:P"
if not defined program if exist "%USERPROFILE%\\.local\\bin\\claudikins.exe" set "program=%USERPROFILE%\\.local\\bin\\claudikins.exe"
if defined program (
  "%program%" %*
) else (
  ${npx} %*
)
`.replaceAll("\n", "\r\n");
