/** Bundles the conformance suite with bytecode: `bun test/conformance/bundle-suite.ts <folder>`. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { installed } from "./suite.ts";

const [outdir = ""] = process.argv.slice(2);

await Bun.build({
  entrypoints: [join(installed, "dist", "index.js")],
  outdir: join(outdir, "dist"),
  target: "bun",
  format: "cjs",
  bytecode: true,
});
// The suite finds them beside its own folder.
cpSync(join(installed, "requirements"), join(outdir, "requirements"), { recursive: true });
