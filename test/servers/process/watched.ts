/**
 * Starts process groups as servers are started, and prints `<pid> <pid> …` when they run. SCRIPTS is a JSON list of
 * shell scripts, so that they are not on this process's own command line. A script that begins with `#done` is reported
 * to the watchdog as ended, although it is not; for one that begins with `#untold`, only the start is reported. Waits
 * until it is killed, or until its stdin ends; then it ends the groups and itself.
 */
import { ProcessGroup } from "../../../src/servers/process/process-group.ts";
import { beforeStart, unwatch } from "../../../src/servers/process/watchdog.ts";

const { PATH = "", SCRIPTS = "[]" } = process.env;
// A process that could not be started is not awaited.
if (SCRIPTS === "[]") {
  try {
    new ProcessGroup({ command: "/nowhere", args: [], cwd: "/", env: { PATH } });
  } catch {}
}
const groups = (JSON.parse(SCRIPTS) as string[]).map((script) => {
  if (script.startsWith("#untold")) {
    const mark = beforeStart();
    const stdio = ["pipe", "ignore", "ignore"] as const;
    return Bun.spawn(["sh", "-c", script], { env: { PATH, ...mark }, stdio: [...stdio], detached: true });
  }
  const group = new ProcessGroup({ command: "sh", args: ["-c", script], cwd: "/", env: { PATH } });
  if (script.startsWith("#done")) unwatch(group.pid);
  return group;
});
console.log(groups.map(({ pid }) => pid).join(" "));
await Bun.stdin.text();
await Promise.all(groups.map((group) => (group instanceof ProcessGroup ? group.stop() : group.kill())));
