/** Bundles the servers of npm that tests start: `bun test/support/bundle-servers.ts <folder>`. */
import { cpSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledPackages } from "./servers.ts";

const [outdir = ""] = process.argv.slice(2);

for (const name of bundledPackages) {
  const manifest = fileURLToPath(import.meta.resolve(`${name}/package.json`));
  const dist = join(dirname(manifest), "dist");
  const folder = join(outdir, "node_modules", name);
  await Bun.build({
    entrypoints: [join(dist, "index.js")],
    outdir: join(folder, "dist"),
    target: "node",
    format: "esm",
  });
  cpSync(manifest, join(folder, "package.json"));
  // Modules in a folder of `dist` find it beside that folder.
  if (existsSync(join(dist, "docs"))) cpSync(join(dist, "docs"), join(folder, "docs"), { recursive: true });
}
