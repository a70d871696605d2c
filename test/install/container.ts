/** An empty Debian in a folder: what `debootstrap` unpacks, without a user, a home or anything that the project needs. */
import { cpSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { strippingNode } from "../support/node.ts";
import { type Ended, runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

const canMake = process.platform === "linux" && process.getuid?.() === 0 && Bun.which("debootstrap") !== null;

/** Added to the names of skipped tests. */
export const containerNote = canMake ? "" : " (skipped: needs Linux, root and debootstrap)";

export class Container implements Disposable {
  readonly root: string;
  readonly #folder: TemporaryFolder;

  private constructor(folder: TemporaryFolder) {
    this.#folder = folder;
    this.root = join(folder.path, "root");
  }

  /** Unpacks the packages, and does not configure them: programs run without, and it takes most of the time. */
  static async create(...packages: string[]): Promise<Container> {
    const container = new Container(temporaryFolder());
    try {
      await container.#unpack(packages);
    } catch (error) {
      container[Symbol.dispose]();
      throw error;
    }
    return container;
  }

  async #unpack(packages: string[]): Promise<void> {
    const options = ["--foreign", "--variant=minbase", `--include=${packages.join(",")}`];
    await run("debootstrap", ...options, "bookworm", this.root, "http://deb.debian.org/debian");
    const archives = join(this.root, "var", "cache", "apt", "archives");
    // Packages beyond the required ones are only downloaded by now.
    for (const name of readdirSync(archives)) {
      if (name.endsWith(".deb")) await run("dpkg-deb", "--extract", join(archives, name), this.root);
    }
    rmSync(archives, { recursive: true });
    mkdirSync(join(this.root, "home"), { recursive: true });
  }

  /** Copies Node.js and npm into it, and nothing of this machine's settings. */
  addNode(): void {
    const npm = dirname(dirname(realpathSync(Bun.which("npm") ?? "")));
    cpSync(realpathSync(strippingNode ?? Bun.which("node") ?? ""), join(this.root, "usr", "bin", "node"));
    cpSync(npm, join(this.root, "usr", "lib", "node_modules", "npm"), { recursive: true });
    for (const name of ["npm", "npx"]) {
      const file = `/usr/lib/node_modules/npm/bin/${name}-cli.js`;
      symlinkSync(file, join(this.root, "usr", "bin", name));
    }
  }

  removeNode(): void {
    for (const path of ["bin/node", "bin/npm", "bin/npx", "lib/node_modules"]) {
      rmSync(join(this.root, "usr", path), { recursive: true });
    }
  }

  /** Runs a shell script in it, in an empty home. It shares nothing with this machine but the network, and sees only its own processes. */
  async run(name: string, script: string, env: Record<string, string> = {}): Promise<Ended> {
    const home = join("home", name);
    mkdirSync(join(this.root, home), { recursive: true });
    const inside = `mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$0" /bin/sh -c "cd /${home} && $1"`;
    const variables = { PATH: "/usr/bin:/bin", HOME: `/${home}`, ...env };
    const words = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
    const command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inside, this.root, script];
    return runProgram(["env", "-i", `PATH=${process.env["PATH"]}:/usr/sbin:/sbin`, ...words.slice(1), ...command]);
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

async function run(...command: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await runProgram(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stdout}${stderr}`);
}
