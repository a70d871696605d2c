/** Runs install.sh on a simulated machine: a home, a temporary folder, chosen tools, and a release server. */
import { expect } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { posixWord } from "../../src/base/shell-word.ts";
import { platforms } from "../../src/setup/upgrade/platforms.ts";
import { temporaryFolder } from "../support/temporary.ts";

export const script = join(import.meta.dir, "..", "..", "install.sh");
export const scriptText = readFileSync(script, "utf8");

/** One for each platform that the script installs on. */
export const archives = platforms.filter(({ os }) => os !== "win32").map(({ name }) => `claudikins-${name}.tar.gz`);

/** The archive of a release with this program. */
export function packed(program: string): Uint8Array<ArrayBuffer> {
  using folder = temporaryFolder();
  folder.write("claudikins", program);
  folder.write("LICENSE", "MIT License\n");
  chmodSync(join(folder.path, "claudikins"), 0o755);
  return tarOf(folder.path, "claudikins", "LICENSE");
}

/** A compressed archive of files in a folder. Options of tar may stand before the files. */
export function tarOf(folder: string, ...words: string[]): Uint8Array<ArrayBuffer> {
  const { stdout, stderr, success } = Bun.spawnSync(["tar", "-czf", "-", "-C", folder, ...words]);
  if (!success) throw new Error(stderr.toString());
  return Uint8Array.from(stdout);
}

/** The programs that the script needs, except one for downloads and one for checksums. */
export const basics = [
  "sh",
  "uname",
  "ldd",
  "mktemp",
  "mkdir",
  "dirname",
  "sed",
  "tar",
  "gzip",
  "chmod",
  "mv",
  "rm",
  "cat",
  "ls",
];

/** A small program that runs anywhere: it prints its version, and its "demo" prints where it ran. */
export function fakeProgram(version: string): string {
  return `#!/bin/sh
case $1 in
  --version) echo ${version} ;;
  exec) echo "home: $HOME, folder: $(pwd), files: $(ls)" ;;
  *) exit 9 ;;
esac
`;
}

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  env?: Record<string, string>;
  args?: string[];
  shell?: string;
  /** Run from a file; by default the script is piped into the shell. */
  file?: string;
  /** Replaces the text of the script. */
  text?: string;
  cwd?: string;
}

export class Machine implements Disposable {
  readonly root: string;
  readonly home: string;
  readonly temporary: string;
  /** The first folder on PATH. */
  readonly tools: string;
  path: string;

  constructor(name = "claudikins-install-") {
    this.root = mkdtempSync(join(tmpdir(), name));
    this.home = this.#folder("home");
    this.temporary = this.#folder("tmp");
    this.tools = this.#folder("tools");
    this.path = `${this.tools}:${process.env["PATH"]}`;
  }

  /** The path of the installed program, unless CLAUDIKINS_INSTALL is set. */
  get program(): string {
    return join(this.home, ".local", "bin", "claudikins");
  }

  #folder(name: string): string {
    const folder = join(this.root, name);
    mkdirSync(folder);
    return folder;
  }

  /** Leaves only these programs of the real machine, as far as they exist, and the fakes on PATH. */
  restrictTo(...names: string[]): this {
    const folder = this.#folder("restricted");
    for (const name of names) {
      const found = Bun.which(name, { PATH: process.env["PATH"] ?? "" });
      // Not a link: some tools of macOS depend on their own location.
      if (found) this.write(join(folder, name), `#!/bin/sh\nexec ${posixWord(found)} "$@"\n`);
    }
    this.path = `${this.tools}:${folder}`;
    return this;
  }

  fake(name: string, body: string): this {
    return this.write(join(this.tools, name), `#!/bin/sh\n${body}\n`);
  }

  /** Writes a program. */
  write(file: string, text: string): this {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return this;
  }

  start({ env = {}, args = [], shell = "/bin/sh", file, text = scriptText, cwd = this.root }: RunOptions = {}) {
    return Bun.spawn([shell, ...(file ? [file] : ["-s", "--"]), ...args], {
      cwd,
      argv0: basename(shell),
      env: { PATH: this.path, HOME: this.home, TMPDIR: this.temporary, SHELL: "/bin/sh", ...env },
      stdin: file ? "ignore" : Buffer.from(text),
      stdout: "pipe",
      stderr: "pipe",
      // In its own process group, so that a signal reaches its children like Ctrl-C does.
      detached: true,
    });
  }

  /** Runs to the end, and expects that no temporary file is left. */
  async run(options: RunOptions = {}): Promise<Run> {
    const process = this.start(options);
    const [stdout, stderr] = await Promise.all([process.stdout.text(), process.stderr.text()]);
    const code = await process.exited;
    this.expectNoLeftovers();
    return { code, stdout: this.#anonymous(stdout), stderr: this.#anonymous(stderr) };
  }

  expectNoLeftovers(): void {
    expect(readdirSync(this.temporary)).toEqual([]);
    const files = readdirSync(this.root, { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => basename(file).startsWith(".claudikins."))).toEqual([]);
  }

  /** With `~` and `<tmp>` for the paths of this machine. */
  #anonymous(text: string): string {
    return text
      .replaceAll(this.home, "~")
      .replaceAll(this.temporary, "<tmp>")
      .replaceAll(/<tmp>\/claudikins\.\w+/g, "<tmp>")
      .replaceAll(this.root, "<root>");
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

type Answer = Uint8Array | string | number | ((path: string) => Response | Promise<Response>);

/** A release on a real HTTP server: `program` under every archive's name, except files with other answers. */
export class Release implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly #server: Bun.Server<undefined>;
  readonly #scheme: string;

  /** With `tls`, over https. */
  constructor(program: string, files: Record<string, Answer> = {}, tls?: { key: string; cert: string }) {
    this.#scheme = tls ? "https" : "http";
    const archive = packed(program);
    const known: Record<string, Answer> = { ...everyArchive(archive), SHA256SUMS: sumsOf(archive), ...files };
    this.#server = Bun.serve({
      port: 0,
      ...(tls ? { tls } : {}),
      fetch: (request) => {
        const name = new URL(request.url).pathname.slice(1);
        this.requests.push(name);
        const answer = known[name] ?? 404;
        if (typeof answer === "function") return answer(name);
        return typeof answer === "number"
          ? new Response("", { status: answer })
          : new Response(answer as Uint8Array<ArrayBuffer> | string);
      },
    });
  }

  get base(): string {
    return `${this.#scheme}://127.0.0.1:${this.#server.port}`;
  }

  get env(): Record<string, string> {
    return { CLAUDIKINS_BASE_URL: this.base };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

/** The same answer for the archive of every platform. */
export function everyArchive(answer: Answer): Record<string, Answer> {
  return Object.fromEntries(archives.map((name) => [name, answer]));
}

/** SHA256SUMS of a release that has the same archive for every platform. */
export function sumsOf(archive: Uint8Array | string): string {
  const sum = new Bun.CryptoHasher("sha256").update(archive).digest("hex");
  return archives.map((name) => `${sum}  ${name}`).join("\n");
}
