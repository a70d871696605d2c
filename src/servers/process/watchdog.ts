/** A small shell that outlives this process for a moment, and ends the process groups that are left. */
import { closeSync, writeSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";

/** The variable that identifies a server if this process is killed while the server is being started. */
const markName = "CLAUDIKINS_START";

/**
 * Reads `? <number>` before a group is started (no number: the start failed), then `+ <id>` when it exists and `- <id>`
 * when it is gone. When its input ends with this process, it sends SIGTERM to the remaining groups, and SIGKILL a second
 * later. Until then it needs only POSIX builtins, and about a megabyte. An id that now belongs to another process is left
 * alone: /proc, if there is one, says when a group's leader was started, and no id is reused while its group exists. A
 * process that was started in our last moment, before its id was written, is found by the mark in its environment, until it
 * has become the program that it is to run.
 */
const script = `# ends what claudikins leaves behind when it is killed
trap "" HUP INT QUIT TERM
look() {
  born= its=
  if read -r line < /proc/$1/stat; then
    set -- \${line##*) }
    its=$3 born=\${20}
  fi
}
mark=$1.$2
groups= starting=
while read -r sign id; do
  case $sign in
    "?") starting=$id ;;
    +) look $id; groups="$groups $id:$born"; starting= ;;
    -) kept=
      for group in $groups; do [ "\${group%:*}" = "$id" ] || kept="$kept $group"; done
      groups=$kept ;;
  esac
done <&3
left=
for group in $groups; do
  look \${group%:*}
  was=\${group#*:}
  if [ "$born" = "$was" ] || [ -z "$born" ] || [ -z "$was" ]; then left="$left \${group%:*}"; fi
done
for id in $left; do kill -TERM -$id; done
for tenth in 1 2 3 4 5 6 7 8 9 10; do
  there=
  for id in $left; do kill -0 -$id && there="$there $id"; done
  left=$there
  [ -z "$starting" ] || for file in $(grep -Fls "${markName}=$mark.$starting." /proc/[0-9]*/environ); do
    file=\${file#/proc/}
    look \${file%/*}
    case "$left " in *" $its "*) ;; *) [ -z "$its" ] || { kill -TERM -$its && left="$left $its"; } ;; esac
  done
  [ -z "$left$starting" ] || sleep 0.1
done
for id in $left; do kill -KILL -$id; done
`;

/** The groups that exist, as far as is known. */
const groups = new Set<number>();

/** The shell and our end of its input. The reference keeps that end open. */
let watchdog: { child: Bun.Subprocess; input: number } | undefined;
let isUnavailable = false;
let starts = 0;
const loadedAt = Date.now();

/**
 * Call this before a group is started. Returns the environment for its leader, and starts the watchdog if needed. Without a
 * shell, groups are not watched, and `warn` is called once.
 */
export function beforeStart(warn?: (message: string) => void): Record<string, string> {
  startWatchdog(warn);
  tell(`? ${++starts}\n`);
  return { [markName]: `${process.pid}.${loadedAt}.${starts}.` };
}

function startWatchdog(warn?: (message: string) => void): void {
  // Windows has neither this shell nor groups. There, job-object.ts does the same.
  if (watchdog || isUnavailable || process.platform === "win32") return;
  try {
    const child = Bun.spawn(["/bin/sh", "-c", script, "claudikins-watchdog", `${process.pid}`, `${loadedAt}`], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" },
      // Its input is a pipe that no server inherits, and writes to it do not wait.
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      // Its own session, so that neither Ctrl-C in the terminal nor a signal to our group reaches it.
      detached: true,
    });
    child.unref();
    watchdog = { child, input: child.stdio[3] as number };
  } catch (cause) {
    isUnavailable = true;
    warn?.(`servers may outlive claudikins if it is killed: cannot start the watchdog shell: ${messageOf(cause)}`);
  }
}

/** The start failed: there is no group to look for. */
export function notStarted(): void {
  tell("?\n");
}

/** From now on, the group is ended with this process. */
export function watch(group: number): void {
  groups.add(group);
  tell(`+ ${group}\n`);
}

/** The group has ended, and its id may soon be reused. */
export function unwatch(group: number): void {
  groups.delete(group);
  tell(`- ${group}\n`);
}

function tell(line: string): void {
  if (!watchdog || write(line)) return;
  // The watchdog was ended. A new one gets the whole list.
  closeSync(watchdog.input);
  watchdog = undefined;
  startWatchdog();
  write([...groups].map((group) => `+ ${group}\n`).join("") + line);
}

function write(text: string): boolean {
  try {
    if (watchdog) writeSync(watchdog.input, text);
    return true;
  } catch {
    return false;
  }
}
