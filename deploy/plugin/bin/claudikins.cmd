@echo off
rem Starts the installed claudikins. Without one, starts the newest through npx.
setlocal
set "NoDefaultCurrentDirectoryInExePath=1"
set "program="
set "list=%PATH:"=%"
set list="%list:;=" "%"
set "PATH=%SystemRoot%\System32"
for %%D in (%list:""=%) do if /i "%%~fD"=="%%~D" call set "PATH=%%PATH%%;%%~D"
for %%D in (%list:""=%) do if /i "%%~fD"=="%%~D" if not defined program if exist "%%~D\claudikins.exe" set "program=%%~D\claudikins.exe"
if not defined program if exist "%USERPROFILE%\.local\bin\claudikins.exe" set "program=%USERPROFILE%\.local\bin\claudikins.exe"
if defined program (
  "%program%" %*
  exit /b
)
for %%D in (%list:""=%) do for %%P in (npx.cmd npx.exe) do if /i "%%~fD"=="%%~D" if not defined program if exist "%%~D\%%P" set "program=%%~D\%%P"
if not defined program (
  echo error: claudikins is not installed, and there is no npx to start it with>&2
  echo hint: install claudikins or Node.js: https://github.com/claudikins/claudikins#install>&2
  exit /b 127
)
"%program%" --prefix / -y claudikins %*
