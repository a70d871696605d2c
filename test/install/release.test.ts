/** scripts/release.ts builds a release for this machine, and install.sh installs it from a server. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { Machine } from "./harness.ts";

const release = join(import.meta.dir, "..", "..", "scripts", "release.ts");

test("a built release can be installed, and its demo runs", async () => {
  using machine = new Machine();
  const outdir = join(machine.root, "release");
  // A file of an earlier run must not become part of the release.
  machine.write(join(outdir, "claudikins-plan9-x64.gz"), "");
  const built = Bun.spawnSync([process.execPath, release, "--targets", "host", "--outdir", outdir]);
  expect(built.exitCode, built.stderr.toString()).toBe(0);
  expect(readdirSync(outdir).sort()).toEqual(["SHA256SUMS", expect.stringMatching(/^claudikins-\w+-\w+(-musl)?\.gz$/)]);

  using server = Bun.serve({
    port: 0,
    fetch: (request) => new Response(Bun.file(join(outdir, new URL(request.url).pathname))),
  });
  const { code, stdout, stderr } = await machine.run({
    env: { CLAUDIKINS_BASE_URL: `http://127.0.0.1:${server.port}` },
  });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`\nclaudikins ${manifest.version} is installed: ~/.local/bin/claudikins\n`);
  const [, value = ""] = /\n(\{\n[\s\S]*?\n\})\n/.exec(stdout) ?? [];
  expect(Object.keys(JSON.parse(value))).toEqual(["orders", "best_country", "its_revenue_eur"]);
  expect(stderr).toMatch(/^\[7 calls · /m);
}, 300_000);

test("an unknown target is refused, and nothing is built", () => {
  const refused = Bun.spawnSync([process.execPath, release, "--targets", "host,bun-plan9-x64"]);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr.toString()).toStartWith("error: unknown target bun-plan9-x64\n\nhint: ");
});
