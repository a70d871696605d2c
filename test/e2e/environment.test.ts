/** What a server sees of the user's environment, from the executable: eight harmless variables and what its entry declares. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { expect, setDefaultTimeout, test } from "bun:test";
import { executable } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

/** The user's shell, as far as servers may know it. PATH is this machine's own: a server must find its programs. */
const harmless = {
  PATH: process.env["PATH"] ?? "",
  USER: "me",
  LOGNAME: "me",
  SHELL: "/bin/sh",
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
};

/** What must not reach anybody. */
const others = {
  GITHUB_TOKEN: "s3cret",
  AWS_SECRET_ACCESS_KEY: "s3cret",
  SSH_AUTH_SOCK: "/tmp/s3cret",
  NODE_OPTIONS: "--no-warnings",
  BUN_CONFIG_VERBOSE_FETCH: "0",
  LC_ALL: "C",
  EDITOR: "vi",
  CLAUDIKINS_LOG: "warn",
  TOKEN: "s3cret-token",
};

test.skipIf(process.platform === "win32").each([
  ["what there is, and what its entry declares", harmless],
  ["no more than there is", { PATH: harmless.PATH }],
])("%s", async (_, shell) => {
  using folder = temporaryFolder();
  const env = { MINE: "${TOKEN}", LANG: "xx", PLAIN: "yes" };
  folder.write("claudikins.json", {
    mcpServers: { declares: { ...fixture("odd"), env }, plain: fixture("odd") },
  });
  const { stdout, stderr, exitCode } = await runProgram(
    [executable(), "exec", "--json", "-e", "return [await declares.environment(), await plain.environment()]"],
    { cwd: folder.path, env: { HOME: folder.path, ...shell, ...others } },
  );
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  // The mark by which what we started is found when we are killed.
  const mark = { CLAUDIKINS_START: expect.stringMatching(/^\d+\.\d+\.\d+\.$/) };
  const seen = { HOME: folder.path, ...shell, ...mark };
  expect(JSON.parse(stdout).value).toEqual([{ ...seen, LANG: "xx", MINE: "s3cret-token", PLAIN: "yes" }, seen]);
  expect(stderr).not.toContain("s3cret");
});
