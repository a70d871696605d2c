/**
 * The file operations of programs. They reach only `./workspace`, which can be read and written, and `./registry`, which can be
 * read.
 */
import { descriptorsHaveNames } from "../../open-folder.ts";
import type { Mounts } from "../contract.ts";
import { Arguments } from "./filesystem/arguments.ts";
import { Disk } from "./filesystem/disk.ts";
import { codeOf, describeFault, Fault } from "./filesystem/fault.ts";
import { parsePath } from "./filesystem/path.ts";
import { defaultQuotas, type Quotas } from "./filesystem/quota.ts";
import { describeStats } from "./filesystem/stats.ts";

export interface FilesOptions {
  quotas?: Partial<Quotas>;
  /** Whether the system has names for open folders. See open-folder.ts. */
  byDescriptor?: boolean;
}

/** The name of the system call in messages, and the function that does it. */
type Operation = [syscall: string, run: (disk: Disk, args: Arguments) => unknown];

export class Files {
  readonly #disk: Disk;
  /** The first path below ./registry that the program used, whether or not the operation succeeded. */
  registryPath: string | undefined;

  constructor(mounts: Mounts, options: FilesOptions = {}) {
    const { quotas, byDescriptor = descriptorsHaveNames } = options;
    this.#disk = new Disk(mounts, { ...defaultQuotas, ...quotas }, byDescriptor);
  }

  /**
   * Runs an operation. The arguments are JSON. Returns JSON of `{ value }`, or of `{ error }` with `code`, `message`, `syscall`,
   * `path`, `dest` and `hint`, whose paths are the program's own. Throws only if the operation does not exist.
   */
  run(operation: string, argsJson: string): string {
    const [syscall, run] = operations.get(operation) ?? [];
    if (syscall === undefined || run === undefined) throw new Error(`there is no operation ${operation}`);
    const args = new Arguments(argsJson);
    this.registryPath ??= args.paths.map(belowRegistry).find((path) => path !== undefined);
    try {
      return JSON.stringify({ value: run(this.#disk, args) });
    } catch (error) {
      return JSON.stringify({ error: describeFault(error, syscall, args.paths) });
    }
  }
}

function belowRegistry(path: string): string | undefined {
  if (!path.includes("registry")) return undefined;
  try {
    const { mount, names } = parsePath(path);
    return mount === "registry" ? names.join("/") : undefined;
  } catch {
    return undefined;
  }
}

const operations = new Map<string, Operation>([
  [
    "readFile",
    [
      "open",
      (disk, args) => {
        const encoding = args.encoding();
        return disk.read(args.text("path")).toString(encoding);
      },
    ],
  ],
  ["writeFile", ["open", (disk, args) => write(disk, args)]],
  ["readdir", ["scandir", (disk, args) => disk.list(args.text("path"), args.flag("recursive"))]],
  ["stat", ["stat", (disk, args) => describeStats(disk.stat(args.text("path"), true))]],
  ["lstat", ["lstat", (disk, args) => describeStats(disk.stat(args.text("path"), false))]],
  ["access", ["access", (disk, args) => disk.access(args.text("path"), args.flag("write"))]],
  ["realpath", ["realpath", (disk, args) => disk.resolve(args.text("path"))]],
  ["mkdir", ["mkdir", (disk, args) => disk.makeFolder(args.text("path"), args.flag("recursive"))]],
  ["mkdtemp", ["mkdtemp", (disk, args) => disk.makeTemporaryFolder(args.text("path"))]],
  ["rm", ["rm", (disk, args) => remove(disk, args)]],
  ["rmdir", ["rmdir", (disk, args) => disk.remove(args.text("path"), "folder")]],
  ["unlink", ["unlink", (disk, args) => disk.remove(args.text("path"), "file")]],
  ["rename", ["rename", (disk, args) => disk.rename(args.text("path"), args.text("dest"))]],
  [
    "copyFile",
    ["copyfile", (disk, args) => disk.write(args.text("dest"), disk.read(args.text("path")), args.flag("exclusive"))],
  ],
]);

/** Writes a file as `flag` says: `w` replaces it, `a` appends, and an `x` with either requires that it does not exist. */
function write(disk: Disk, args: Arguments): void {
  const flag = args.text("flag");
  const kind = /^(?:(a)s?|w)(x)?\+?$|^(x)(?:w|a)\+?$/.exec(flag);
  if (!kind) throw new Fault("EINVAL", `there is no flag ${JSON.stringify(flag)} for writing`, 'Use "w", "a" or "wx".');
  const [, adds, exclusive, alsoExclusive] = kind;
  const bytes = args.bytes();
  if (adds && !exclusive) disk.append(args.text("path"), bytes);
  else disk.write(args.text("path"), bytes, Boolean(exclusive || alsoExclusive));
}

function remove(disk: Disk, args: Arguments): void {
  try {
    disk.remove(args.text("path"), args.flag("recursive") ? "all" : "file");
  } catch (error) {
    if (!args.flag("force") || codeOf(error) !== "ENOENT") throw error;
  }
}
