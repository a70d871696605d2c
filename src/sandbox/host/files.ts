/**
 * The file operations of programs. They reach only `./workspace`, which can be read and written, and `./registry`, which can be
 * read.
 */
import { systemCodeOf } from "../../base/errors.ts";
import { descriptorsHaveNames } from "../../base/open-folder.ts";
import type { Mounts } from "../contract.ts";
import type { FileFault } from "../guest/host.ts";
import { Disk } from "./filesystem/disk.ts";
import { describeFault, FileRefusal } from "./filesystem/fault.ts";
import { defaultQuotas, type Quotas } from "./filesystem/quota.ts";
import { describeStats } from "./filesystem/stats.ts";

/** A use of an entry of the workspace, by its path below the workspace. */
export interface FileUse {
  path: string;
  /** `reads`: its contents or the names in a folder. `replaces`: nothing of what it had is left. */
  how: "reads" | "writes" | "replaces";
}

export interface FilesOptions {
  /** Called with each use of the workspace that has succeeded. */
  onUse?: ((use: FileUse) => void) | undefined;
  quotas?: Partial<Quotas>;
  /** Whether the system has names for open folders. See open-folder.ts. */
  byDescriptor?: boolean;
}

export class Files {
  readonly #disk: Disk;
  readonly #onUse: FilesOptions["onUse"];

  constructor(mounts: Mounts, options: FilesOptions = {}) {
    const { quotas, onUse, byDescriptor = descriptorsHaveNames } = options;
    this.#onUse = onUse;
    this.#disk = new Disk(mounts, { ...defaultQuotas, ...quotas }, byDescriptor);
  }

  /** The first path below ./registry that the program used, whether or not the operation succeeded. */
  get registryPath(): string | undefined {
    return this.#disk.registryPath;
  }

  set registryPath(path: string | undefined) {
    this.#disk.registryPath = path;
  }

  /** Runs an operation for a program. The arguments and the answer are JSON. */
  run(operation: string, argsJson: string): string {
    return JSON.stringify(this.ask(operation, JSON.parse(argsJson)));
  }

  #tell(operation: string, args: Arguments): void {
    if (!this.#onUse || !Object.hasOwn(uses, operation)) return;
    for (const { path: given, how } of uses[operation]!(args)) {
      const path = this.#disk.workspacePath(given);
      if (path !== undefined) this.#onUse({ path, how });
    }
  }

  /** Runs an operation. The paths in an error are the program's own. Throws only if the operation does not exist. */
  ask(operation: string, given: unknown): { value?: unknown; error?: FileFault } {
    const [syscall, run] = operations[operation] ?? [];
    if (syscall === undefined || run === undefined) throw new Error(`there is no operation ${operation}`);
    const args = new Arguments(given);
    try {
      const value = run(this.#disk, args);
      this.#tell(operation, args);
      return { value };
    } catch (error) {
      return { error: describeFault(error, syscall, args.paths) };
    }
  }
}

/** The arguments of an operation. They come from the sandbox and can be anything until they are checked. */
class Arguments {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(given: unknown) {
    this.#values = new Map(typeof given === "object" && given !== null ? Object.entries(given) : []);
  }

  /** The paths as they were written, for messages. */
  get paths(): string[] {
    return ["path", "dest"].map((name) => this.#values.get(name)).filter((value) => typeof value === "string");
  }

  get path(): string {
    return this.text("path");
  }

  get dest(): string {
    return this.text("dest");
  }

  text(name: string): string {
    const value = this.#values.get(name);
    if (typeof value !== "string") throw new FileRefusal("EINVAL", `${name} must be a string`);
    return value;
  }

  flag(name: string): boolean {
    return Boolean(this.#values.get(name));
  }

  /** Returns `data` as bytes, decoded by `encoding`. The default is utf8. */
  bytes(): Buffer {
    return Buffer.from(this.text("data"), this.encoding());
  }

  encoding(): BufferEncoding {
    const given = this.#values.get("encoding") ?? "utf8";
    if (typeof given !== "string" || !Buffer.isEncoding(given))
      throw new FileRefusal(
        "EINVAL",
        `there is no encoding ${JSON.stringify(given)}`,
        'Use "utf8", "base64" or "hex".',
      );
    return given;
  }
}

/** The name of the system call in messages, and the function that does it. */
type Operation = [syscall: string, run: (disk: Disk, args: Arguments) => unknown];

const operations: Record<string, Operation> = {
  __proto__: null as never,
  readFile: ["open", read],
  writeFile: ["open", write],
  readdir: ["scandir", (disk, args) => disk.list(args.path, args.flag("recursive"))],
  stat: ["stat", (disk, args) => describeStats(disk.stat(args.path, true))],
  lstat: ["lstat", (disk, args) => describeStats(disk.stat(args.path, false))],
  access: ["access", (disk, args) => disk.access(args.path, args.flag("write"))],
  realpath: ["realpath", (disk, args) => disk.resolve(args.path)],
  mkdir: ["mkdir", (disk, args) => disk.makeFolder(args.path, args.flag("recursive"))],
  mkdtemp: ["mkdtemp", (disk, args) => disk.makeTemporaryFolder(args.path)],
  rm: ["rm", remove],
  rmdir: ["rmdir", (disk, args) => disk.remove(args.path, "folder")],
  unlink: ["unlink", (disk, args) => disk.remove(args.path, "file")],
  rename: ["rename", (disk, args) => disk.rename(args.path, args.dest)],
  copyFile: ["copyfile", copy],
};

/** The uses of operations that read or write. */
const uses: Record<string, (args: Arguments) => FileUse[]> = {
  readFile: ({ path }) => [{ path, how: "reads" }],
  readdir: ({ path }) => [{ path, how: "reads" }],
  writeFile: (args) => [{ path: args.path, how: args.text("flag").startsWith("a") ? "writes" : "replaces" }],
  mkdir: ({ path }) => [{ path, how: "writes" }],
  rename: ({ path, dest }) => [
    { path, how: "reads" },
    { path: dest, how: "replaces" },
  ],
  copyFile: ({ path, dest }) => [
    { path, how: "reads" },
    { path: dest, how: "replaces" },
  ],
};

/** The encoding is checked first, because reading may take long. */
function read(disk: Disk, args: Arguments): string {
  const encoding = args.encoding();
  return disk.read(args.path).toString(encoding);
}

/** Writes a file as `flag` says: `w` replaces it, `a` appends, and an `x` with either requires that it does not exist. */
function write(disk: Disk, args: Arguments): void {
  const flag = args.text("flag");
  const kind = /^(?:(a)s?|w)(x)?\+?$|^(x)(?:w|a)\+?$/.exec(flag);
  if (!kind)
    throw new FileRefusal("EINVAL", `there is no flag ${JSON.stringify(flag)} for writing`, 'Use "w", "a" or "wx".');
  const [, adds, exclusive, alsoExclusive] = kind;
  const how = exclusive || alsoExclusive ? "create" : adds ? "append" : "replace";
  disk.write(args.path, args.bytes(), how);
}

function copy(disk: Disk, args: Arguments): void {
  disk.write(args.dest, disk.read(args.path), args.flag("exclusive") ? "create" : "replace");
}

function remove(disk: Disk, args: Arguments): void {
  try {
    disk.remove(args.path, args.flag("recursive") ? "all" : "file");
  } catch (error) {
    if (!args.flag("force") || systemCodeOf(error) !== "ENOENT") throw error;
  }
}
