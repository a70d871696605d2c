@echo off
rem Starts the installed claudikins. Without one, starts the newest through npx.
setlocal
rem Programs in the working directory belong to the project, so they are not started.
set "NoDefaultCurrentDirectoryInExePath=1"
set "program="
for %%P in (claudikins.exe) do set "program=%%~$PATH:P"
if not defined program if exist "%USERPROFILE%\.local\bin\claudikins.exe" set "program=%USERPROFILE%\.local\bin\claudikins.exe"
if defined program (
  "%program%" %*
) else (
  npx --prefix / -y claudikins %*
)
