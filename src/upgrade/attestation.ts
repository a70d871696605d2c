/** Asks GitHub who made a download, if its command gh is installed and signed in. install.sh does the same. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError } from "../errors.ts";
import { repository } from "../version.ts";
import { failureOf, runProgram } from "./run.ts";

const askMs = 60_000;

/** Resolves if the release workflow made the archive, or if nobody can be asked. Throws UPGRADE_FAILED. */
export async function verifyOrigin(
  archive: Uint8Array,
  name: string,
  base: string,
  env: Environment,
  signal: AbortSignal,
): Promise<void> {
  if (!base.startsWith(`${repository}/`)) return;
  const slug = new URL(repository).pathname.slice(1);
  const gh = (...args: string[]) =>
    runProgram(["gh", ...args], { env: { ...env, GH_HOST: "github.com" }, signal, timeoutMs: askMs });
  const able = [await gh("attestation", "verify", "--help"), await gh("auth", "token")];
  if (able.some(({ exitCode }) => exitCode !== 0)) return;
  const sum = new Bun.CryptoHasher("sha256").update(archive).digest("hex");
  const { stdout } = await gh("api", "--include", `repos/${slug}/attestations/sha256:${sum}`);
  const [, status] = /^HTTP\/\S* (\d+)/.exec(stdout) ?? [];
  if (status === "404")
    throw refused(`GitHub knows no attestation of ${name}, so the release workflow did not make it`);
  // Without an answer, the SHA-256 has to be enough, as it is without gh.
  if (status !== "200") return;
  const folder = mkdtempSync(join(tmpdir(), "claudikins-upgrade-"));
  try {
    const file = join(folder, basename(name));
    writeFileSync(file, archive);
    const workflow = `${slug}/.github/workflows/release.yml`;
    const verified = await gh("attestation", "verify", file, "--repo", slug, "--signer-workflow", workflow);
    if (verified.exitCode !== 0) throw refused(`The attestation of ${name} is not valid: ${failureOf(verified)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refused(message: string): ClaudikinsError {
  return new ClaudikinsError("UPGRADE_FAILED", message, {
    hint: `Nothing was changed. Report it: ${repository}/issues`,
  });
}
