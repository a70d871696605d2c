/** The kernel's files and devices in a box. Root owns them, so that a box of root without more than namespaces could write to them. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Pool } from "../../../src/servers/pool.ts";
import { root } from "../../support/claudikins.ts";
import { failureOf, failureText, openPool, plainValue, surroundings } from "../../support/pool.ts";
import { withoutSandbox } from "../../support/sandbox.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let pool: Pool;

const box = { read: [], write: [], network: false };

beforeAll(() => {
  folder = temporaryFolder(diskFolder);
  folder.write("program/package.json", {});
  mkdirSync(join(folder.path, "data"));
  const program = join(folder.path, "program", "intruder.ts");
  copyFileSync(join(root, "test", "fixtures", "servers", "intruder.ts"), program);
  const entry = { command: "bun", args: [program], cwd: join(folder.path, "data") };
  const boxes = { boxed: box, hosts: { ...box, network: ["example.com"] }, shared: { ...box, network: true } };
  const entries = Object.entries(boxes).map(([name, each]) => [name, { ...entry, box: each }]);
  pool = openPool(Object.fromEntries(entries), surroundings(folder.path));
});
afterAll(async () => {
  await pool.close();
  folder[Symbol.dispose]();
});

const attempt = async (server: string, tool: string, args: Record<string, string>) =>
  String(plainValue(await pool.callTool(server, tool, args, {})));

/** The files of a folder of the kernel, some levels down. */
function filesIn(path: string, levels = 3): string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return levels === 0 ? [] : readdirSync(path).flatMap((name) => filesIn(join(path, name), levels - 1));
}

describe.skipIf(withoutSandbox !== undefined)("a server in a box cannot write to", () => {
  const places = {
    "the settings of the kernel": () => filesIn("/proc/sys", 5),
    "the keys that restart the machine": () => ["/proc/sysrq-trigger"],
    "interrupts, buses, filesystems and power": () =>
      ["irq", "bus", "fs", "acpi", "scsi", "driver"].flatMap((name) => filesIn(`/proc/${name}`)),
    "other files of the kernel": () =>
      ["mtrr", "kcore", "keys", "timer_list", "slabinfo"].map((name) => `/proc/${name}`),
    "devices of the machine": () => ["/sys/power/state", "/sys/kernel/mm/ksm/run", "/sys/fs/cgroup/cgroup.procs"],
    "the folder of devices": () => ["/dev/new", "/dev/mqueue/new", "/dev/mem", "/dev/kmsg"],
    "its own files in /proc": () => ["/proc/self/oom_score_adj", "/proc/1/oom_score_adj", "/proc/self/uid_map"],
    "the root folder": () => ["/new", "/run/new", "/usr/new", "/etc/new"],
  };
  for (const [what, paths] of Object.entries(places)) {
    test.each(["boxed", "hosts", "shared"])(`${what} (%s)`, async (server) => {
      const given = paths().filter((path) => !path.includes(" "));
      expect(given.length).toBeGreaterThan(0);
      expect(await attempt(server, "open-to-write", { paths: given.join(" ") })).toBe("refused: none could be opened");
    });
  }

  test("more shared memory than the limit", async () => {
    expect(await attempt("boxed", "open-to-write", { paths: "/dev/shm/own" })).toBe("got: /dev/shm/own");
    const mounts = await attempt("boxed", "read", { path: "/proc/self/mounts" });
    expect(mounts).toMatch(/^tmpfs \/dev\/shm tmpfs rw\S*,size=262144k/m);
    expect(mounts).toMatch(/^proc \/proc proc ro,/m);
  });
});

test.skipIf(withoutSandbox !== undefined)("a server in a box can use the usual devices", async () => {
  expect(await attempt("boxed", "open-to-write", { paths: "/dev/null /dev/zero" })).toBe("got: /dev/null /dev/zero");
});

describe.skipIf(withoutSandbox !== undefined)("a server in a box reads nothing of", () => {
  test.each(["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/acpi/wakeup", "/sys/kernel/notes"])(
    "%s",
    async (path) => {
      expect(await attempt("boxed", "read", { path })).toStartWith("refused: ");
    },
  );
});

describe.skipIf(withoutSandbox !== undefined)("a box that does not hold is not used:", () => {
  let path: string;
  beforeEach(() => {
    path = `${join(folder.path, "bin")}:${process.env["PATH"]}`;
  });

  /** A bubblewrap that leaves out one of its arguments, with the one after it. */
  const weak = (left: string) => `#!/bin/sh
    for word do
      shift
      if [ -n "$before" ]; then
        [ "$before $word" = "${left}" ] || set -- "$@" "$before" "$word"
        before=
      elif [ "$word" = "${left.split(" ")[0]}" ]; then before="$word"
      else set -- "$@" "$word"; fi
    done
    exec ${Bun.which("bwrap")} "$@"`;

  test.each([
    ["the kernel's files can be written to", "--remount-ro /proc", /it could write to \/proc\//],
    ["the folder of devices can be written to", "--remount-ro /dev", /it could write to \/dev\/probe/],
    ["the root folder can be written to", "--remount-ro /", /it could write to \/probe/],
  ])("%s", async (_, left, expected) => {
    chmodSync(folder.write("bin/bwrap", weak(left)), 0o755);
    const scene = surroundings(folder.path);
    const entry = { command: "sh", args: ["-c", `echo > ${join(folder.path, "data", "begun")}`], box };
    const env = { ...scene.env, PATH: `${path}:${left.length}` };
    await using own = openPool({ entry }, { ...scene, env });
    const said = failureText(await failureOf(own.listTools("entry", {})), folder.path);
    expect(said).toStartWith('SANDBOX_UNAVAILABLE: Server "entry" did not start: its sandbox cannot be made: ');
    expect(said).toMatch(expected);
    if (process.getuid?.() === 0) expect(said).toContain("hint: Run claudikins as another user than root.");
    expect(existsSync(join(folder.path, "data", "begun"))).toBe(false);
  });
});
