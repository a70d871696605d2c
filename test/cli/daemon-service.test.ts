/**
 * `claudikins daemon enable` and `disable`. A stand-in for `systemctl` notes what it is told, because no service manager runs where tests do;
 * `systemd-analyze` checks the file where it is installed.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serviceOf } from "../../src/setup/service.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

/** The demo's config in a home whose `systemctl` writes its words into a file, and fails with `exitCode`. */
function home({ exitCode = 0 } = {}) {
  const script = folder.write(
    "bin/systemctl",
    `#!/bin/sh\necho "$@" >> ${folder.path}/told\necho refused >&2\nexit ${exitCode}\n`,
  );
  chmodSync(script, 0o755);
  const env = { PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}`, SECRET_TOKEN: "hidden-value" };
  return {
    unit: join(folder.path, ".config/systemd/user/claudikins-demo.service"),
    told: () =>
      existsSync(join(folder.path, "told")) ? readFileSync(join(folder.path, "told"), "utf8").trim().split("\n") : [],
    run: (argv: string[], more: CliOptions = {}) => cli(["daemon", ...argv], { cwd: folder.path, env, ...more }),
  };
}

const onLinux = test.skipIf(process.platform !== "linux");

onLinux("a service is shown, written with consent, started, and removed without leftovers", async () => {
  const { unit, told, run } = home();
  const dry = await run(["enable", "--dry-run"]);
  expect(dry.stdout).toContain("+ExecStart=");
  expect(dry.stdout).toContain("systemctl --user enable --now claudikins-demo.service");
  expect((await run(["enable"])).stderr).toContain("only with your consent");
  const refused = await run(["enable"], { answers: ["n"], terminal: true });
  expect([refused.exitCode === 0, existsSync(unit), told()]).toEqual([false, false, []]);
  const { exitCode, stdout, stderr } = await run(["enable"], { answers: ["y"], terminal: true });
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining("Enabled claudikins-demo.service"),
  });
  expect(stderr).toContain("ExecStart=");
  const text = readFileSync(unit, "utf8");
  expect(text).toContain('"daemon" "run" "--service" "--demo"');
  expect(text).not.toContain("hidden-value");
  expect(told()).toEqual(["--user daemon-reload", "--user enable --now claudikins-demo.service"]);
  expect((await run(["enable", "--dry-run"])).stdout).toContain("is unchanged");
  expect((await run(["disable", "--yes", "--json"])).exitCode).toBe(0);
  expect(existsSync(unit)).toBe(false);
  expect(told().slice(2)).toEqual(["--user disable --now claudikins-demo.service", "--user daemon-reload"]);
  expect((await run(["disable"])).stderr).toContain("There is no service");
});

onLinux("a service that the system does not start is named, with what the system says", async () => {
  const { unit, run } = home({ exitCode: 1 });
  const { exitCode, stderr } = await run(["enable", "--yes"]);
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("was written but not started");
  expect(stderr).toContain("refused");
  expect(existsSync(unit)).toBe(true);
});

onLinux("variables that servers need are named, and their values are not written", async () => {
  const { unit, run } = home();
  folder.write("claudikins.json", {
    mcpServers: {
      a: { command: "x", env: { TOKEN: "${SECRET_TOKEN}" } },
      b: { command: "y", env: { KEY: "${NOT_SET}" } },
    },
  });
  const { stdout } = await run(["enable", "--dry-run"]);
  expect(stdout).toContain("Servers need these: NOT_SET, SECRET_TOKEN");
  expect(stdout).not.toContain("hidden-value");
  await run(["enable", "--yes"]);
  expect(existsSync(unit)).toBe(false);
});

const odd = ["/opt/my tools/claudikins", "daemon", "run", "--config", '/home/a/100% "odd" $HOME/claudikins.json'];
const options = {
  id: "claudikins-x",
  description: "claudikins: 100%",
  command: odd,
  env: { HOME: "/home/a", PATH: "/bin:/usr/my bin" },
};

test.skipIf(Bun.which("systemd-analyze") === null)("systemd reads the words of a command as they are", async () => {
  const { file } = serviceOf("linux", { ...options, command: ["/bin/sh", ...odd.slice(1)] });
  const path = folder.write("claudikins-x.service", file?.text ?? "");
  const child = Bun.spawn(["systemd-analyze", "verify", "--user", path], {
    env: { ...process.env, XDG_RUNTIME_DIR: folder.path },
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = `${await child.stdout.text()}${await child.stderr.text()}`;
  expect(said.split("\n").filter((line) => line.includes("claudikins-x"))).toEqual([]);
  expect(file?.text).toContain('"/home/a/100%% \\"odd\\" $$HOME/claudikins.json"');
});

test("launchd and Windows get the same command, with a way back", () => {
  const mac = serviceOf("darwin", { ...options, uid: 501 });
  expect(mac.file?.path).toBe("/home/a/Library/LaunchAgents/dev.claudikins.claudikins-x.plist");
  expect(mac.file?.text).toContain('<string>/home/a/100% "odd" $HOME/claudikins.json</string>');
  expect(mac.enable).toEqual([["launchctl", "bootstrap", "gui/501", mac.file?.path ?? ""]]);
  expect(mac.disable.before).toEqual([["launchctl", "bootout", "gui/501/dev.claudikins.claudikins-x"]]);
  const windows = serviceOf("win32", options);
  expect(windows.file).toBeUndefined();
  expect(windows.enable[0]).toContain("ONLOGON");
  expect(windows.disable.before.at(-1)).toEqual(["schtasks", "/Delete", "/F", "/TN", "claudikins-x"]);
});

test("a proxy's password is not written", () => {
  const env = { HOME: "/home/a", HTTPS_PROXY: "http://user:password@proxy:3128", HTTP_PROXY: "http://proxy:3128" };
  const { file } = serviceOf("linux", { ...options, env });
  expect(file?.text).toContain("HTTP_PROXY=http://proxy:3128");
  expect(file?.text).not.toContain("password");
});
