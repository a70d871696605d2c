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

const [, ...npxArgs] = npxWords;

/** Only the PATH is searched, because the working directory belongs to the project. An installed claudikins.exe is on the PATH. */
export const windowsLauncher = `@echo off
rem Starts the installed claudikins. Without one, starts the newest through npx.
setlocal
set "NoDefaultCurrentDirectoryInExePath=1"
set "program="
for %%P in (claudikins.exe) do set "program=%%~$PATH:P"
if not defined program if exist "%USERPROFILE%\\.local\\bin\\claudikins.exe" set "program=%USERPROFILE%\\.local\\bin\\claudikins.exe"
if defined program (
  "%program%" %*
  exit /b
)
for %%P in (npx.cmd npx.exe) do if not defined program set "program=%%~$PATH:P"
if not defined program (
  echo error: claudikins is not installed, and there is no npx to start it with>&2
  echo hint: install claudikins or Node.js: ${repository}#install>&2
  exit /b 127
)
"%program%" ${npxArgs.join(" ")} %*
`.replaceAll("\n", "\r\n");
