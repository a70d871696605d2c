/** The question to GitHub who made an archive, with a program in the place of gh. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../../src/base/version.ts";
import { verifyOrigin } from "../../../src/setup/upgrade/releases.ts";
import { ownFolder } from "../../support/own-folder.ts";

const folder = ownFolder();

const archive = Buffer.from("archive");
const github = `${repository}/releases/download/v0.2.0`;

/** gh, signed in or not, with GitHub's answer and its own verdict. */
function gh(options: { token?: number; status?: string; verdict?: number } = {}): Record<string, string> {
  const { token = 0, status = "200 OK", verdict = 0 } = options;
  const calls = join(folder.path, "calls");
  const path = folder.write(
    "bin/gh",
    `#!/bin/sh
echo "$*" >> ${calls}
case "$1 $2" in
  'auth token') exit ${token} ;;
  'api --include') echo 'HTTP/2.0 ${status}' ;;
  'attestation verify') if [ "$3" != --help ]; then cp "$3" ${folder.path}/seen; echo 'error: not signed' >&2; exit ${verdict}; fi ;;
esac
`,
  );
  chmodSync(path, 0o755);
  return { PATH: `${join(folder.path, "bin")}:/usr/bin:/bin` };
}

const verify = (env: Record<string, string>, base = github) =>
  verifyOrigin(archive, "claudikins-linux-x64.tar.gz", base, env, new AbortController().signal);
const refusal = (message: string) => expect.objectContaining({ code: "UPGRADE_FAILED", message }) as never;

test("an archive that the release workflow made is accepted", async () => {
  await verify(gh());
  expect(readFileSync(join(folder.path, "seen"), "utf8")).toBe("archive");
  expect(readFileSync(join(folder.path, "calls"), "utf8")).toContain(
    "--repo claudikins/claudikins --signer-workflow claudikins/claudikins/.github/workflows/release.yml\n",
  );
});

test("an archive without an attestation, or with a wrong one, is refused", async () => {
  await expect(verify(gh({ status: "404 Not Found" }))).rejects.toThrow(
    refusal("GitHub knows no attestation of claudikins-linux-x64.tar.gz, so the release workflow did not make it"),
  );
  await expect(verify(gh({ verdict: 1 }))).rejects.toThrow(
    refusal(
      "The attestation of claudikins-linux-x64.tar.gz is not valid: it ended with exit code 1: error: not signed",
    ),
  );
});

test("the sum is enough without gh, without a sign-in, without an answer, and for another server", async () => {
  await verify({ PATH: "/nowhere" });
  await verify(gh({ token: 1, status: "404 Not Found" }));
  await verify(gh({ status: "503 Unavailable" }));
  await verify(gh({ status: "404 Not Found" }), "https://mirror.example/claudikins");
  expect(existsSync(join(folder.path, "seen"))).toBe(false);
});
