/** A tiny shell that outlives us for a moment: when we are gone, by whatever means, it ends the groups that we left. */
import { closeSync, writeSync } from "node:fs";
import { messageOf } from "../errors.ts";

/** The variable of a server by which it is found when we are killed in the very moment of its start. */
const markName = "CLAUDIKINS_START";

/**
 * Reads `? <number>`, a group is about to be started (without a number: it was not), and then `+ <id>` and `- <id>`, a
 * group is there or gone. When its input ends, because we did, it sends SIGTERM to the groups that are still there, and
 * SIGKILL a second later. POSIX, and nothing but builtins until then: it takes about a megabyte and no time.
 *
 * An id that belongs to somebody else by now is left alone: /proc, where there is one, says when a group's leader was
 * born, and no id is used anew while any of its group is there. Who was started in our last moment, before we could tell
 * its id, has a mark in its environment, which is looked for until it has become the program that it is to be.
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

/** The groups that are there, as far as we know. */
const groups = new Set<number>();

/** The shell and our end of its input. The child is kept only so that nothing closes that end but our own end. */
let watchdog: { child: Bun.Subprocess; input: number } | undefined;
let isUnavailable = false;
let starts = 0;
const loadedAt = Date.now();

/**
 * To be called before a group is started, with the environment that its leader has to have. Starts the watchdog where
 * there is none yet. Without a shell we go on unwatched, and `warn` is told so once.
 */
export function beforeStart(warn?: (message: string) => void): Record<string, string> {
  startWatchdog(warn);
  tell(`? ${++starts}\n`);
  return { [markName]: `${process.pid}.${loadedAt}.${starts}.` };
}

function startWatchdog(warn?: (message: string) => void): void {
  // Windows has neither this shell nor groups. There the end of their stdin is all that servers hear of when we are killed.
  if (watchdog || isUnavailable || process.platform === "win32") return;
  try {
    const child = Bun.spawn(["/bin/sh", "-c", script, "claudikins-watchdog", `${process.pid}`, `${loadedAt}`], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin:/run/current-system/sw/bin" },
      // Its input is a pipe that is written to without waiting and that no server inherits; our output is not its own.
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      // A session of its own: neither the terminal's Ctrl-C nor a signal to our group reaches it.
      detached: true,
    });
    child.unref();
    watchdog = { child, input: child.stdio[3] as number };
  } catch (cause) {
    isUnavailable = true;
    warn?.(`servers may outlive claudikins if it is killed: cannot start the watchdog shell: ${messageOf(cause)}`);
  }
}

/** Nothing came of it: there is no group to look for. */
export function notStarted(): void {
  tell("?\n");
}

/** From now on the group is ended when we are gone. */
export function watch(group: number): void {
  groups.add(group);
  tell(`+ ${group}\n`);
}

/** The group is gone; its number may soon be somebody else's. */
export function unwatch(group: number): void {
  groups.delete(group);
  tell(`- ${group}\n`);
}

function tell(line: string): void {
  if (!watchdog || write(line)) return;
  // Somebody ended it. Another one is told everything.
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
