/** `list` says of each server what is known: failed, in whatever process, denied, disabled or not started. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { cli } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const secret = "s3cr3t-t0k3n-0123456789";

const folder = ownFolder();

const run = (...argv: string[]) => cli(argv, { cwd: folder.path });

const states = async (...flags: string[]) => {
  const { servers } = JSON.parse((await run("list", "--json", ...flags)).stdout);
  return Object.fromEntries(servers.map((each: { server: string; state: string }) => [each.server, each.state]));
};

const configure = (bad: object) =>
  folder.write("claudikins.json", {
    mcpServers: {
      bad,
      fine: fixture("chatty", folder.path),
      off: { ...fixture("odd"), disabled: true },
      shut: { ...fixture("odd"), deny: ["*"] },
    },
  });

test('a server that failed in another process is broken, with the reason and its age, and not "not started"', async () => {
  configure(fixture("crash-on-start", folder.path));
  expect(await states()).toEqual({ bad: "idle", fine: "idle", shut: "denied", off: "disabled" });
  expect((await run("call", "bad.anything")).exitCode).toBe(4);
  expect(await states()).toEqual({ bad: "broken", fine: "idle", shut: "denied", off: "disabled" });
  const { stdout } = await run("list");
  expect(stdout).toMatch(/^bad +stdio fixtures +broken: did not start: its process exited with code 3 \(just now\) /m);
  expect(stdout).toMatch(/^fine +stdio fixtures +not started /m);
  expect(stdout).toMatch(/^shut +stdio fixtures +denied /m);
  expect(stdout).toMatch(/^off +stdio fixtures +disabled /m);
});

test.skipIf(process.platform === "win32")(
  "the reason is forgotten when the server works again, and when its entry changes",
  async () => {
    const flag = join(folder.path, "repaired");
    const { command, args } = fixture("chatty", folder.path);
    const sometimes = (file: string) => ({
      command: "/bin/sh",
      args: ["-c", 'test -e "$0" || exit 3; exec "$@"', file, command, ...args],
    });
    configure(sometimes(flag));
    await run("call", "bad.env");
    expect((await states())["bad"]).toBe("broken");
    configure(sometimes(`${flag}-of-another`));
    expect((await states())["bad"]).toBe("idle");
    configure(sometimes(flag));
    expect((await states())["bad"]).toBe("broken");
    folder.write("repaired", "");
    expect((await states("--check"))["bad"]).toBe("ready");
    expect((await states())["bad"]).toBe("idle");
  },
);

test("the note has no secrets", async () => {
  configure({ ...fixture("crash-on-start", folder.path, secret), env: { API_TOKEN: secret } });
  await run("call", "bad.anything");
  const notes = join(folder.path, ".local", "share", "claudikins", "failures");
  const texts = readdirSync(notes).map((name) => readFileSync(join(notes, name), "utf8"));
  expect(texts).toEqual([expect.stringContaining("its process exited with code 3")]);
  expect(texts.join("")).not.toContain(secret);
});

test("a process without logs leaves no note", async () => {
  folder.write("claudikins.json", { mcpServers: { bad: fixture("crash-on-start", folder.path) }, logs: false });
  await run("call", "bad.anything");
  expect(existsSync(join(folder.path, ".local", "share", "claudikins", "failures"))).toBe(false);
});
