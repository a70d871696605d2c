/**
 * Runs the executable for Windows under Wine. Bun needs a DLL that Wine 8 lacks; a linker makes one that leads to the function that
 * Wine has. Under Wine, the daemon keeps the pipes of the process that started it open, so output goes to files.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "./temporary.ts";

const root = join(import.meta.dir, "..", "..");
const tools = ["x86_64-w64-mingw32-dlltool", "x86_64-w64-mingw32-ld"];

/** Why the tests cannot run here, or undefined. */
export const noWine =
  process.arch !== "x64" || process.platform !== "linux"
    ? "needs Linux on x64"
    : Bun.which("wine") === null
      ? "needs Wine (Debian: wine, wine64)"
      : tools.some((tool) => Bun.which(tool) === null)
        ? "needs the linker of MinGW (Debian: binutils-mingw-w64-x86-64)"
        : undefined;

const forwarder = `LIBRARY bcryptprimitives.dll
EXPORTS
ProcessPrng = advapi32.SystemFunction036
`;

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  env?: Record<string, string>;
  stdin?: string;
  /** A folder on this machine. */
  cwd?: string;
}

export class WindowsMachine implements AsyncDisposable {
  readonly #folder: TemporaryFolder;
  #runs = 0;

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  /** Builds the executable, and a machine with a new user. Takes some 20 seconds. */
  static async create(): Promise<WindowsMachine> {
    const machine = new WindowsMachine(temporaryFolder());
    const { bin } = machine;
    mkdirSync(bin);
    buildForWindows("0.1.0", machine.executable);
    const definition = machine.#folder.write("prng.def", forwarder);
    const object = join(machine.path, "prng.o");
    run(["x86_64-w64-mingw32-dlltool", "-d", definition, "-e", object]);
    const library = join(bin, "bcryptprimitives.dll");
    run(["x86_64-w64-mingw32-ld", "-shared", "-e", "0", "-o", library, object, definition]);
    run(["wine", "wineboot", "-i"], machine.#environment());
    return machine;
  }

  get path(): string {
    return this.#folder.path;
  }

  /** A folder whose name has a space. It is on the PATH. */
  get bin(): string {
    return join(this.path, "my tools");
  }

  get executable(): string {
    return join(this.bin, "claudikins.exe");
  }

  /** The home folder of the user of Windows. */
  get home(): string {
    const users = join(this.path, "prefix", "drive_c", "users");
    const name = readdirSync(users).find((each) => each !== "Public") ?? "";
    return join(users, name);
  }

  /** Writes a file with the line ends of Windows below the machine's folder. */
  write(name: string, text: string | object): string {
    const content = typeof text === "string" ? text.replaceAll("\n", "\r\n") : text;
    return this.#folder.write(name, content);
  }

  #environment(more: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: this.path,
      WINEPREFIX: join(this.path, "prefix"),
      WINEDEBUG: "-all",
      WINEDLLOVERRIDES: "mscoree,mshtml=",
      WINEPATH: windowsPath(this.bin),
      ...more,
    };
  }

  start(args: string[], { env, stdin, cwd = this.path }: RunOptions = {}) {
    this.#runs += 1;
    const output = ["out", "err"].map((name) => join(this.path, `${name}-${this.#runs}`)) as [string, string];
    for (const file of output) writeFileSync(file, "");
    const child = Bun.spawn(["wine", this.executable, ...args], {
      cwd,
      env: this.#environment(env),
      stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
      stdout: Bun.file(output[0]),
      stderr: Bun.file(output[1]),
    });
    const texts = () => ({
      stdout: lines(readFileSync(output[0], "utf8")),
      stderr: lines(readFileSync(output[1], "utf8")).replace(
        /^it looks like wine32 is missing[\s\S]*?wine32:i386"\n/,
        "",
      ),
    });
    return { child, texts };
  }

  async run(args: string[], options: RunOptions = {}): Promise<Ran> {
    const { child, texts } = this.start(args, options);
    const code = await child.exited;
    return { code, ...texts() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Ends every process of this machine.
    await Bun.spawn(["wineserver", "-k"], {
      env: this.#environment(),
      stdio: ["ignore", "ignore", "ignore"],
    }).exited.catch(() => undefined);
    this.#folder[Symbol.dispose]();
  }
}

/** Builds the executable of a release. */
export function buildForWindows(version: string, outfile: string): void {
  const options = ["--target", "bun-windows-x64", "--released", "--version", version, "--outfile", outfile];
  run([process.execPath, "--no-env-file", join(root, "scripts", "build.ts"), ...options]);
}

/** `/tmp/x` → `Z:\tmp\x`. */
export function windowsPath(path: string): string {
  return `Z:${path.replaceAll("/", "\\")}`;
}

const lines = (text: string) => text.replaceAll("\r\n", "\n");

function run(command: string[], env: Record<string, string | undefined> = process.env): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { env, stdio: ["ignore", "ignore", "pipe"] });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr}`);
}
