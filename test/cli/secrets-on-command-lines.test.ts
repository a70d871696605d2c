/** No command line shows a secret, because every user of a machine can read the command lines of all programs. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { generatedProject } from "../support/daemon.ts";
import { oauthFixture } from "../support/oauth.ts";
import { runProgram } from "../support/process.ts";
import { browserCommand } from "../support/sign-in.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

/** A $BROWSER that copies the page that it is started with and writes all command lines of the machine, before it does its work. */
function watchingBrowser(
  folder: TemporaryFolder,
  work = "exit 0",
): { browser: string; page: string; lines: string; words: string } {
  const [page, lines, words] = ["page", "lines", "words"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const script = `#!/bin/sh
printf '%s\\n' "$@" > ${words}
cp "\${1#file://}" ${page}
for line in /proc/[0-9]*/cmdline /proc/[0-9]*/comm; do tr '\\0' ' ' < $line; echo; done > ${lines} 2>/dev/null
ps -axo args >> ${lines} 2>/dev/null
${work}
`;
  const browser = folder.write("watching-browser.sh", script);
  chmodSync(browser, 0o755);
  return { browser, page, lines, words };
}

const addressIn = (page: string) =>
  new URL(/;\s*url=([^"]+)"/.exec(readFileSync(page, "utf8"))![1]!.replaceAll("&amp;", "&"));

test("ui starts the browser with a file, and no command line has the token or the path of the page", async () => {
  await using project = await generatedProject();
  const { browser, page, lines, words } = watchingBrowser(project);
  const { stdout, exitCode } = await runProgram([...claudikinsCommand, "ui"], {
    cwd: join(project.path, "project"),
    env: { ...project.env, BROWSER: browser },
  });
  expect([exitCode, stdout]).toEqual([0, "The page is open in your browser.\n"]);
  const { hash, pathname } = addressIn(page);
  expect(hash).toMatch(/^#[\w-]{43}$/);
  const seen = readFileSync(lines, "utf8");
  // The command lines were read: the browser's own is among them.
  expect(seen).toContain(browser);
  expect([hash.slice(1), pathname.slice(1, -1)].filter((secret) => seen.includes(secret))).toEqual([]);
  const [file, ...more] = readFileSync(words, "utf8").trim().split("\n");
  expect(more).toEqual([]);
  const path = new URL(file!).pathname;
  expect([statSync(path).mode & 0o777, statSync(join(path, "..")).mode & 0o777]).toEqual([0o600, 0o700]);
  await project.claudikins("daemon", "stop");
  expect(existsSync(join(path, ".."))).toBe(false);
});

test("auth login starts the browser with a file, and no command line has what belongs to the sign-in", async () => {
  using folder = temporaryFolder();
  await using server = await oauthFixture();
  folder.write("claudikins.json", { mcpServers: { guarded: { url: server.url } } });
  const work = `exec ${browserCommand(join(folder.path, "last.html"))} "$@"`;
  const { browser, page, lines, words } = watchingBrowser(folder, work);
  const { exitCode, stderr } = await runProgram([...claudikinsCommand, "auth", "login", "guarded"], {
    cwd: folder.path,
    env: { BROWSER: browser, XDG_DATA_HOME: join(folder.path, "data") },
  });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Opening your browser")]);
  const { searchParams } = addressIn(page);
  const secrets = ["state", "code_challenge"].map((name) => searchParams.get(name)!);
  expect(secrets.every((each) => each.length >= 16)).toBe(true);
  const seen = readFileSync(lines, "utf8");
  expect(seen).toContain(browser);
  expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  // The file is gone when the sign-in has ended.
  expect(existsSync(new URL(".", readFileSync(words, "utf8").trim()))).toBe(false);
});
