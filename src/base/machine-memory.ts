/** The memory of the machine that this process runs on. A container with a limit counts as a machine. */
import { existsSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";

/** Time between two looks at what all processes of a container take: other processes than this one rarely grow fast. */
const lookAgainMs = 500;

/** The files of a control group, as Linux names them. */
interface Files {
  limit: string;
  usage: string;
  statistics: string;
  /** Names in the statistics: contents of files, which Linux drops when it needs the memory. */
  dropped: readonly string[];
}

const version1: Files = {
  limit: "memory.limit_in_bytes",
  usage: "memory.usage_in_bytes",
  statistics: "memory.stat",
  dropped: ["total_inactive_file", "total_active_file"],
};

const version2: Files = {
  limit: "memory.max",
  usage: "memory.current",
  statistics: "memory.stat",
  dropped: ["inactive_file", "active_file"],
};

interface ControlGroup extends Files {
  folder: string;
}

/** What a container and this process took at the same moment, in bytes. */
interface Look {
  /** As `performance.now()`. */
  at: number;
  container: number;
  process: number;
}

let group: ControlGroup | "none" | undefined;
let look: Look | undefined;

/** In bytes. Inside a container with a limit, that limit. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** The part of `machineMemory` that is taken, in bytes: by all processes of a container with a limit, and elsewhere by this process. */
export function takenMemory(): number {
  const own = process.memoryUsage.rss();
  group ??= controlGroup() ?? "none";
  if (group === "none") return own;
  if (!look || performance.now() - look.at > lookAgainMs) look = lookAt(group, own);
  return look.container + own - look.process;
}

function lookAt(group: ControlGroup, own: number): Look {
  try {
    return { at: performance.now(), container: takenIn(group), process: own };
  } catch {
    // Without the files, this process counts alone.
    return { at: performance.now(), container: own, process: own };
  }
}

/** Contents of files do not count, because Linux drops them before it ends a process. */
function takenIn({ folder, usage, statistics, dropped }: ControlGroup): number {
  const lines = readFileSync(join(folder, statistics), "utf8").split("\n");
  const files = lines.map((line) => line.split(" ")).filter(([name = ""]) => dropped.includes(name));
  return numberIn(join(folder, usage)) - files.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** The control group with the limit of this process: its own, or one around it. Inside a container, it is often the root of all that is seen. */
function controlGroup(): ControlGroup | undefined {
  const limit = process.constrainedMemory();
  if (process.platform !== "linux" || limit <= 0 || limit >= totalmem()) return undefined;
  try {
    const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n");
    return lines.flatMap(groupsOf).find((each) => isOfLimit(each, limit));
  } catch {
    return undefined;
  }
}

/** The control groups of a line such as `9:memory:/a/b` or `0::/a/b`, from the inner ones to the root. */
function groupsOf(line: string): ControlGroup[] {
  const [, controllers, path = ""] = /^\d+:([^:]*):\/(.*)$/.exec(line) ?? [];
  const files = controllers === "" ? version2 : controllers?.split(",").includes("memory") ? version1 : undefined;
  if (!files) return [];
  const root = files === version1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
  const names = path.split("/").filter(Boolean);
  return [...names, ""].map((_, outer) => ({ ...files, folder: join(root, ...names.slice(0, names.length - outer)) }));
}

function isOfLimit({ folder, limit, usage }: ControlGroup, bytes: number): boolean {
  const file = join(folder, limit);
  return existsSync(file) && existsSync(join(folder, usage)) && numberIn(file) === bytes;
}

function numberIn(file: string): number {
  return Number(readFileSync(file, "utf8"));
}
