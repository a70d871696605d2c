/**
 * The programs that start claudikins for plugins of Claude Code and Gemini CLI: the installed one, which starts in milliseconds and
 * needs no network, or else the newest through npx. Claude Code also puts them on the PATH of the agent's shell.
 */
import { npxWords, repository } from "./about.ts";

const npx = npxWords.join(" ");

/**
 * Starts the first `claudikins` on the PATH that is not a launcher, which has the manifest of Gemini CLI beside its folder. The working
 * directory belongs to the project, so relative and empty entries are taken out of the PATH: npx, and the node that it starts, are
 * searched there too. Without any other entry, a shell would search the working directory.
 */
export const posixLauncher = `#!/bin/sh
# Starts the installed claudikins. Without one, starts the newest through npx.
IFS=:
set -f
absolute=
for folder in $PATH; do
  case $folder in /*) absolute=$absolute:$folder ;; esac
done
PATH=\${absolute#:}
export PATH="\${PATH:-/usr/bin:/bin}"
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

/**
 * Does the same. An entry is absolute if it is its own full path. An installed claudikins.exe is on the PATH. `call` reads a line a second
 * time, when the variable of the loop has its value.
 */
export const windowsLauncher = `@echo off
rem Starts the installed claudikins. Without one, starts the newest through npx.
setlocal
set "NoDefaultCurrentDirectoryInExePath=1"
set "program="
set "list=%PATH:"=%"
set list="%list:;=" "%"
set "PATH=%SystemRoot%\\System32"
for %%D in (%list:""=%) do if /i "%%~fD"=="%%~D" call set "PATH=%%PATH%%;%%~D"
for %%D in (%list:""=%) do if /i "%%~fD"=="%%~D" if not defined program if exist "%%~D\\claudikins.exe" set "program=%%~D\\claudikins.exe"
if not defined program if exist "%USERPROFILE%\\.local\\bin\\claudikins.exe" set "program=%USERPROFILE%\\.local\\bin\\claudikins.exe"
if defined program (
  "%program%" %*
  exit /b
)
for %%D in (%list:""=%) do for %%P in (npx.cmd npx.exe) do if /i "%%~fD"=="%%~D" if not defined program if exist "%%~D\\%%P" set "program=%%~D\\%%P"
if not defined program (
  echo error: claudikins is not installed, and there is no npx to start it with>&2
  echo hint: install claudikins or Node.js: ${repository}#install>&2
  exit /b 127
)
"%program%" ${npxArgs.join(" ")} %*
`.replaceAll("\n", "\r\n");
