/** Two builds of a released executable give the same bytes, whatever folder they are made in. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { executable, root } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** Containers may forbid programs to fix their addresses, and then the order of some bytes differs. */
const canFix = Bun.which("setarch") !== null && Bun.spawnSync(["setarch", "--addr-no-randomize", "true"]).success;

test.skipIf(!canFix)(
  `a build in another folder gives the same bytes${canFix ? "" : " (skipped: needs setarch to fix addresses)"}`,
  async () => {
    using folder = temporaryFolder();
    const other = join(folder.path, "other");
    mkdirSync(other);
    for (const name of ["src", "registry", "scripts", "package.json", "bun.lock", "tsconfig.json", "LICENSE"]) {
      cpSync(join(root, name), join(other, name), { recursive: true });
    }
    // Packages in a folder of their own, without what an earlier build has kept. Linked files take no room.
    mkdirSync(join(other, "node_modules"));
    const packages = readdirSync(join(root, "node_modules")).filter((name) => name !== ".cache");
    const copied = (options: string) =>
      Bun.spawnSync(["cp", options, ...packages, join(other, "node_modules")], { cwd: join(root, "node_modules") });
    if (!copied("-al").success) expect(copied("-af").success).toBe(true);
    const outfile = join(folder.path, "claudikins");
    const options = ["--released", "--version", "0.1.0"];
    const build = [process.execPath, join(other, "scripts", "build.ts"), ...options, "--outfile", outfile];
    const built = Bun.spawnSync(build, { cwd: other });
    expect(built.exitCode, built.stderr.toString()).toBe(0);
    const [one, two] = await Promise.all([executable(...options), outfile].map((path) => Bun.file(path).bytes()));
    expect(one!.length).toBe(two!.length);
    const differing = one!.findIndex((byte, at) => byte !== two![at]);
    expect(differing).toBe(-1);
    const text = Buffer.from(two!.buffer).includes(folder.path) || Buffer.from(two!.buffer).includes(join(root, "src"));
    expect(text).toBe(false);
  },
  240_000,
);
