/** A server of the executable gets variables that say where things are, and what its entry declares. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { expect, setDefaultTimeout, test } from "bun:test";
import { executable } from "../support/claudikins.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

/** The variables of the user's shell that servers may see. PATH is that of this machine: a server must find its programs. */
const harmless = {
  PATH: process.env["PATH"] ?? "",
  USER: "me",
  LOGNAME: "me",
  SHELL: "/bin/sh",
  TERM: "xterm-256color",
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
  LC_ALL: "C",
  SSH_AUTH_SOCK: "/tmp/agent",
  DISPLAY: ":1",
  HTTPS_PROXY: "http://127.0.0.1:9",
  NODE_EXTRA_CA_CERTS: "/etc/ssl/own.pem",
};

/** Variables that no server may see. */
const others = {
  GITHUB_TOKEN: "s3cret",
  AWS_SECRET_ACCESS_KEY: "s3cret",
  NODE_OPTIONS: "--no-warnings",
  BUN_CONFIG_VERBOSE_FETCH: "0",
  EDITOR: "vi",
  CLAUDIKINS_LOG: "warn",
  TOKEN: "s3cret-token",
};

test.skipIf(process.platform === "win32").each([
  ["gets the safe variables and what its entry declares", harmless],
  ["gets only variables that exist", { PATH: harmless.PATH }],
])("a server %s", async (_, shell) => {
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
  // Marks our processes, so that they are found if we are killed.
  const mark = { CLAUDIKINS_START: expect.stringMatching(/^\d+\.\d+\.\d+\.$/) };
  const xdg = Object.entries(testEnvironment()).filter(([name]) => name.startsWith("XDG_"));
  const seen = { HOME: folder.path, ...shell, ...Object.fromEntries(xdg), ...mark };
  expect(JSON.parse(stdout).value).toEqual([{ ...seen, LANG: "xx", MINE: "s3cret-token", PLAIN: "yes" }, seen]);
  expect(stderr).not.toContain("s3cret");
});
