/** Runs before any test: sets temporary HOME and XDG folders, so that no test reads or writes the developer's. */
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { useBuiltDemo } from "./support/built-demo.ts";
import { useBundledWorkers } from "./support/bundled-workers.ts";
import { useMemoryDisk } from "./support/memory-disk.ts";

useMemoryDisk();
const home = mkdtempSync(join(tmpdir(), "claudikins-home-"));
process.env["HOME"] = home;
process.env["USERPROFILE"] = home;
for (const name of ["CONFIG", "DATA", "CACHE", "STATE"]) {
  process.env[`XDG_${name}_HOME`] = join(home, name.toLowerCase());
}
// Configs of tests are trusted, as in continuous integration, except in tests of trust.
process.env["CI"] = "true";
for (const name of Object.keys(process.env)) if (name.startsWith("CLAUDIKINS_")) delete process.env[name];
// The keychain belongs to the developer.
process.env["CLAUDIKINS_KEYCHAIN"] = "off";

useBundledWorkers();
useBuiltDemo();

afterAll(() => rmSync(home, { recursive: true, force: true }));
