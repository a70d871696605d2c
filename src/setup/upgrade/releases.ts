/**
 * The files of a release: finds and downloads them by HTTP, verifies their origin, and unpacks the executable. Data from a server is not
 * trusted: sizes and times are limited, a version must have the right form, and the SHA-256 of an archive must be the listed one.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { parsedJson } from "../../base/json-object.ts";
import { megabyte } from "../../base/units.ts";
import { repository } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import { runFailure, runProgram } from "./run.ts";
import { isVersion } from "./versions.ts";

/** Size of the list of releases, of checksums and of other small files. */
const maxReleaseFileBytes = megabyte;

/** Time to download one such file. */
const releaseFileMs = 30_000;

/** Redirects of one download. */
const maxReleaseRedirects = 10;

/** Time for `gh` to check where a release was built. */
const attestationMs = 60_000;

/** Size of an executable in an archive. One has about 140 MB. */
const maxExecutableBytes = 600 * megabyte;

export interface DownloadLimits {
  /** Maximum time without any bytes. */
  silenceMs: number;
  /** Time for a whole download. */
  wholeMs: number;
  archiveBytes: number;
}

export const usualLimits: DownloadLimits = { silenceMs: 30_000, wholeMs: 900_000, archiveBytes: 400 * megabyte };

const unchanged = "Nothing was changed.";

export interface Release {
  version: string;
  /** The address of its folder. */
  base: string;
}

/** Finds a release: the latest one, or the one of a version. Throws VERSION_NOT_FOUND, SERVER_UNAVAILABLE, UPGRADE_FAILED, CANCELLED. */
export async function findRelease(wanted: string | undefined, env: Environment, signal: AbortSignal): Promise<Release> {
  const own = env["CLAUDIKINS_BASE_URL"]?.replace(/\/+$/, "");
  const base = own || addressOf(wanted);
  const answer = await small(`${base}/release.json`, signal);
  if (answer === undefined) {
    if (wanted !== undefined && !own) throw unknownVersion(wanted);
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `There is no release at ${base}`, { hint: unchanged });
  }
  const { version } = Object(parsedJson(answer)) as { version?: unknown };
  if (!isVersion(version)) {
    throw failed(`${base}/release.json does not name a version`);
  }
  if (wanted !== undefined && version !== wanted) throw unknownVersion(wanted, version);
  // The latest release may become another one meanwhile.
  return { version, base: own || addressOf(version) };
}

function addressOf(version: string | undefined): string {
  return `${repository}/releases/${version === undefined ? "latest/download" : `download/v${version}`}`;
}

function unknownVersion(wanted: string, there?: string): ClaudikinsError {
  const instead = there === undefined ? `All versions: ${repository}/releases` : `This server has ${there}.`;
  return new ClaudikinsError("VERSION_NOT_FOUND", `There is no claudikins ${wanted}`, {
    hint: `${unchanged} ${instead}`,
  });
}

/** Downloads a file of the release and checks its SHA-256. Throws SERVER_UNAVAILABLE, UPGRADE_FAILED, CANCELLED. */
export async function downloadFile(
  { base }: Release,
  name: string,
  signal: AbortSignal,
  limits = usualLimits,
): Promise<Uint8Array> {
  const sums = await small(`${base}/SHA256SUMS`, signal);
  const expected = sums === undefined ? undefined : listedSum(sums, name);
  if (expected === undefined) throw failed(`This release has no ${name} (see ${base}/SHA256SUMS)`);
  const bytes = await get(`${base}/${name}`, limits.archiveBytes, limits, signal);
  if (bytes === undefined) throw failed(`${base}/${name} is missing, though SHA256SUMS lists it`);
  const actual = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  if (actual === expected) return bytes;
  throw failed(`${name} is damaged or is not the released file: its SHA-256 is ${actual}, but ${expected} is listed`);
}

/** The sum of a file; undefined if it is not listed. */
function listedSum(sums: string, name: string): string | undefined {
  for (const line of sums.split("\n")) {
    const [, sum, file] = /^([0-9a-f]{64}) [ *](\S+)\s*$/.exec(line) ?? [];
    if (file === name) return sum;
  }
  return undefined;
}

async function small(address: string, signal: AbortSignal): Promise<string | undefined> {
  const bytes = await get(address, maxReleaseFileBytes, { silenceMs: releaseFileMs, wholeMs: releaseFileMs }, signal);
  return bytes && new TextDecoder().decode(bytes);
}

/** Undefined if the server has no such file. */
async function get(
  address: string,
  maxBytes: number,
  { silenceMs, wholeMs }: Pick<DownloadLimits, "silenceMs" | "wholeMs">,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silenceMs);
  const all = AbortSignal.any([signal, silence.signal, AbortSignal.timeout(wholeMs)]);
  try {
    const response = await ask(address, all);
    if (response.status === 404 || response.status === 410) return undefined;
    if (!response.ok) throw new Error(`the server answered with status ${response.status}`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      size += chunk.length;
      if (size > maxBytes) throw failed(`${address} is larger than ${Math.round(maxBytes / megabyte)} MB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof ClaudikinsError) throw error;
    if (signal.aborted) throw new ClaudikinsError("CANCELLED", unchanged.replace(".", ""));
    const why = all.aborted ? "the server took too long" : reasonOf(error);
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `Cannot download ${address}: ${why}`, {
      hint: `${unchanged} Check the network, and run the command again.`,
    });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function reasonOf(error: unknown): string {
  switch (systemCodeOf(error)) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host was not found";
    case "ECONNREFUSED":
      return "nothing listens at this address";
    default:
      return messageOf(error);
  }
}

/** Follows redirects. A request that began with TLS must stay with TLS. */
async function ask(address: string, signal: AbortSignal): Promise<Response> {
  let at = address;
  for (let count = 0; count <= maxReleaseRedirects; count++) {
    const response = await fetch(at, { signal, redirect: "manual", keepalive: false });
    const next = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || next === null) return response;
    const to = new URL(next, at);
    if (at.startsWith("https:") && to.protocol !== "https:")
      throw failed(`${at} redirects from https to ${to.protocol}`);
    if (!/^https?:$/.test(to.protocol)) throw failed(`${at} redirects to ${to.protocol}`);
    at = to.href;
  }
  throw new Error("it redirects too often");
}

function failed(message: string): ClaudikinsError {
  return new ClaudikinsError("UPGRADE_FAILED", message, {
    hint: `${unchanged} Run the command again. If it fails again, report it: ${repository}/issues`,
  });
}

/**
 * Asks GitHub who built a download, if the command `gh` is installed and signed in. install.sh does the same. Resolves if the release
 * workflow made the archive, or if GitHub cannot be asked. Throws UPGRADE_FAILED.
 */
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
    runProgram(["gh", ...args], { env: { ...env, GH_HOST: "github.com" }, signal, timeoutMs: attestationMs });
  const able = [await gh("attestation", "verify", "--help"), await gh("auth", "token")];
  if (able.some(({ exitCode }) => exitCode !== 0)) return;
  const sum = new Bun.CryptoHasher("sha256").update(archive).digest("hex");
  const { stdout } = await gh("api", "--include", `repos/${slug}/attestations/sha256:${sum}`);
  const [, status] = /^HTTP\/\S* (\d+)/.exec(stdout) ?? [];
  if (status === "404") throw wrong(`GitHub knows no attestation of ${name}, so the release workflow did not make it`);
  // Without an answer, the SHA-256 must be enough, as it is without `gh`.
  if (status !== "200") return;
  const folder = mkdtempSync(join(tmpdir(), "claudikins-upgrade-"));
  try {
    const file = join(folder, basename(name));
    writeFileSync(file, archive);
    const workflow = `${slug}/.github/workflows/release.yml`;
    const verified = await gh("attestation", "verify", file, "--repo", slug, "--signer-workflow", workflow);
    if (verified.exitCode !== 0) throw wrong(`The attestation of ${name} is not valid: ${runFailure(verified)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bytes of the file with this name. Nothing else of the archive is used, so no path in it matters. Throws UPGRADE_FAILED if there is none, or if the archive is damaged or enormous. */
export async function executableIn(archive: Uint8Array, name: string, limit = maxExecutableBytes): Promise<Uint8Array> {
  try {
    const tar = gunzipSync(archive, { maxOutputLength: limit });
    // Links are not files.
    const files = await new Bun.Archive(tar).files([name, `./${name}`]);
    const [file] = files.values();
    if (file && file.size > 0) return await file.bytes();
  } catch (error) {
    throw wrong(`Cannot unpack the archive: ${messageOf(error)}`);
  }
  throw wrong(`The archive has no file ${name}`);
}

/** The error for a file that another attempt would not fix. */
function wrong(message: string): ClaudikinsError {
  return new ClaudikinsError("UPGRADE_FAILED", message, { hint: `${unchanged} Report it: ${repository}/issues` });
}
