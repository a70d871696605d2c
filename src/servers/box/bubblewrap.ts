/** bubblewrap, the program that makes boxes on Linux: whether it works here, and its arguments. */
import { existsSync } from "node:fs";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { HeldPath } from "../../base/held-path.ts";
import { megabyte } from "../../base/units.ts";
import { systemPaths } from "../../config/box-places.ts";
import { Contents } from "./contents.ts";

/** Size of each folder in the memory of a box, such as /tmp. */
const boxMemoryMb = 256;

/** The oldest version with everything that is used. */
const oldest = { text: "0.8", major: 0, minor: 8 };

/** Its own namespaces, no rights of root, and no further user namespaces. It ends with this process. */
const walls = ["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent"];

/** What of `/proc` describes the machine, and root may read. */
const hiddenFiles = ["interrupts", "kcore", "keys", "latency_stats", "sched_debug", "slabinfo", "timer_list"];
const hiddenFolders = ["acpi", "asound", "bus", "driver", "fs", "irq", "scsi"];

export interface BoxContents {
  contents: Contents;
  /** Files that are shown at another place: where they are, and where they are shown. */
  elsewhere?: readonly (readonly [from: string, at: string])[];
  cwd: string;
  sharesNetwork: boolean;
  /** Variables that bubblewrap itself must not get. */
  variables: Readonly<Record<string, string>>;
}

/** The arguments of bubblewrap that come before the command, and the open files that it must get, from descriptor 3 on. */
export function wrapArguments(box: BoxContents): { args: string[]; files: number[] } {
  const { contents, elsewhere = [], cwd, sharesNetwork, variables } = box;
  const files: number[] = [];
  const args = [
    ...walls,
    ...(sharesNetwork ? ["--share-net"] : []),
    ...kernelParts(),
    ...contents.mounts.flatMap(({ at, kind, held }) => {
      if (!held) return emptyFolder(at);
      return [kind === "write" || kind === "pin" ? "--bind-fd" : "--ro-bind-fd", `${2 + files.push(held.fd)}`, at];
    }),
    ...contents.links.flatMap(({ at, to }) => ["--symlink", to, at]),
    ...elsewhere.flatMap(([from, at]) => ["--ro-bind", from, at]),
    ...["--remount-ro", "/", "--chdir", cwd],
    ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
    "--",
  ];
  return { args, files };
}

const emptyFolder = (at: string) => ["--size", `${boxMemoryMb * megabyte}`, "--tmpfs", at];

/**
 * `/dev` and `/proc`. As root, a program without capabilities still owns the files of the kernel in `/proc`, so that all of it is read-only. Devices
 * cannot be: they would be unusable.
 */
function kernelParts(): string[] {
  const there = (names: string[]) => names.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  return [
    ...["--dev", "/dev", ...emptyFolder("/dev/shm"), "--remount-ro", "/dev", "--proc", "/proc"],
    ...there(hiddenFiles).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...there(hiddenFolders).flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
    ...["--remount-ro", "/proc"],
  ];
}

/** The result for each path of bubblewrap, for as long as this process runs. Failures are tried again. */
const working = new Map<string, Promise<void>>();

/** The path of bubblewrap. Throws SANDBOX_UNAVAILABLE if it is missing, too old, or not allowed to confine. */
export async function requireBubblewrap(path: string | undefined): Promise<string> {
  if (process.platform !== "linux") {
    throw unavailable("only Linux is supported so far", "Run claudikins on Linux.");
  }
  const file = Bun.which("bwrap", path === undefined ? {} : { PATH: path });
  if (file === null) {
    throw unavailable("bubblewrap is not installed", "Install it: apt install bubblewrap, or dnf install bubblewrap.");
  }
  let known = working.get(file);
  if (!known) {
    known = tryOut(file);
    working.set(file, known);
    known.catch(() => working.delete(file));
  }
  await known;
  return file;
}

/** Prints what a program in a box can write to and must not: nothing is changed, because a file that opens is not written to. */
const probe = `
  exec 2>&-
  for file in /proc/* /proc/*/* /proc/sys/*/*/* /proc/sys/*/*/*/* /sys/*/* /dev/probe /etc/passwd /probe; do
    if [ ! -d "$file" ] && true >> "$file"; then echo "it could write to $file"; fi
  done
  while read -r name value; do
    case $name:$value in Cap*:*[1-9a-f]*) echo "it would have capabilities ($name $value)" ;; esac
  done < /proc/self/status
  echo held`;

async function tryOut(file: string): Promise<void> {
  const held: HeldPath[] = [];
  const contents = new Contents([], held);
  for (const path of systemPaths(false)) contents.add(path);
  const { args, files } = wrapArguments({ contents, cwd: "/", sharesNetwork: false, variables: {} });
  const [version, trial] = await Promise.all([
    outputOf([file, "--version"]),
    outputOf([file, ...args, "/bin/sh", "-c", probe], files),
  ]).finally(() => {
    for (const each of held) each[Symbol.dispose]();
  });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version.text) ?? [];
  const isOld = Number(major) === oldest.major && Number(minor) < oldest.minor;
  if (isOld || /unknown option/i.test(trial.text)) {
    const updated = "It must know --bind-fd, as 0.10 does, and 0.8 and 0.9 with the security updates of distributions.";
    const hint = `Install bubblewrap ${oldest.text} or later. ${updated}`;
    throw unavailable(`${version.text || "bubblewrap"} is too old`, hint);
  }
  if (trial.isOk && trial.text === "held") return;
  if (trial.isOk && trial.text !== "") {
    const root = process.getuid?.() === 0 ? "Run claudikins as another user than root." : "Update bubblewrap.";
    throw unavailable(`a program in it would not be confined: ${trial.text}`, root);
  }
  const hint =
    "Allow user namespaces for bubblewrap: on Ubuntu with an AppArmor profile for bwrap, in a container with its security options.";
  throw unavailable(`the system does not let bubblewrap confine programs: ${trial.text || "no output"}`, hint);
}

async function outputOf(command: string[], files: number[] = []): Promise<{ isOk: boolean; text: string }> {
  try {
    const child = Bun.spawn(command, { cwd: "/", env: {}, stdio: ["ignore", "pipe", "pipe", ...files] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { isOk: code === 0, text: (out + err).trim().split("\n")[0] ?? "" };
  } catch (error) {
    return { isOk: false, text: messageOf(error) };
  }
}

export function unavailable(why: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("SANDBOX_UNAVAILABLE", `its sandbox cannot be made: ${why}`, {
    hint: `${hint} Without "sandbox" in its entry, the server runs with all your rights.`,
  });
}
