/** Gets the Bun that the executable for a platform contains, from npm. bun.lock has the checksum of each. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { type Platform, platformOf } from "../../src/setup/upgrade/platforms.ts";

const root = join(import.meta.dir, "..", "..");

interface Locked {
  name: string;
  version: string;
  /** `sha512-` and the checksum of the package in base64. */
  integrity: string;
}

/** Returns the path of the runtime. It is downloaded if it is neither the running one nor in the cache. */
export async function runtimeFor(platform: Platform): Promise<string> {
  const locked = lockedRuntime(platform);
  // Bun has verified it when it installed itself in node_modules.
  if (platform === platformOf(process) && isFromNodeModules(process.execPath)) return process.execPath;
  const file = platform.os === "win32" ? "bun.exe" : "bun";
  const checksum = Buffer.from(locked.integrity.slice("sha512-".length), "base64").toString("hex");
  const path = join(root, "node_modules", ".cache", "claudikins", "runtimes", checksum.slice(0, 16), file);
  if (existsSync(path)) return path;
  const folder = mkdtempSync(join(tmpdir(), "claudikins-runtime-"));
  try {
    const content = await unpacked(await downloaded(locked, folder), `package/bin/${file}`);
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}`;
    await Bun.write(temporary, content);
    chmodSync(temporary, 0o755);
    renameSync(temporary, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return path;
}

function isFromNodeModules(path: string): boolean {
  return realpathSync(path).startsWith(realpathSync(join(root, "node_modules")));
}

/** The package of a runtime, as bun.lock pins it. */
export function lockedRuntime({ os, cpu, libc }: Platform): Locked {
  const system = os === "win32" ? "windows" : os;
  const name = `@oven/bun-${system}-${cpu === "arm64" ? "aarch64" : cpu}${libc === "musl" ? "-musl" : ""}`;
  return lockedPackage(name);
}

/** A package at the top of node_modules. */
export function lockedPackage(name: string): Locked {
  const { packages } = parse(readFileSync(join(root, "bun.lock"), "utf8")) as { packages: Record<string, string[]> };
  const [id = "", ...rest] = packages[name] ?? [];
  const integrity = rest.at(-1);
  if (!integrity?.startsWith("sha512-")) throw new Error(`bun.lock has no checksum of ${name}`);
  return { name, version: id.slice(name.length + 1), integrity };
}

/** npm knows the registry, its credentials and the proxy. It verifies only what the registry itself says. */
async function downloaded({ name, version, integrity }: Locked, folder: string): Promise<Uint8Array<ArrayBuffer>> {
  console.log(`downloading ${name}@${version}`);
  const command = ["npm", "pack", `${name}@${version}`, "--silent", "--ignore-scripts", "--pack-destination", folder];
  const { exitCode } = Bun.spawnSync(command, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const [file] = readdirSync(folder);
  if (exitCode !== 0 || !file) throw new Error(`npm cannot download ${name}@${version}`);
  const content = await Bun.file(join(folder, file)).bytes();
  const actual = `sha512-${new Bun.CryptoHasher("sha512").update(content).digest("base64")}`;
  if (actual !== integrity) {
    throw new Error(`${name}@${version} is not the package of bun.lock: its checksum is ${actual}, not ${integrity}`);
  }
  return content;
}

/** The content of one file of an archive. */
async function unpacked(content: Uint8Array<ArrayBuffer>, path: string): Promise<Blob> {
  const file = (await new Bun.Archive(content).files()).get(path);
  if (!file) throw new Error(`the package has no ${path}`);
  return file;
}
