/** Which program opens the browser on each system, and how its success is judged. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browserCommands, hasBrowser, isRemoteShell, openBrowser } from "../../src/cli/terminal/browser.ts";
import { ownFolder } from "../support/own-folder.ts";

setDefaultTimeout(60_000);

const url = new URL("https://login.example/authorize?a=1&b=%22$(touch%20x)%22;c");

const folder = ownFolder({ isShared: true });

function program(name: string, script: string): string {
  const file = folder.write(name, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

test("isRemoteShell is true over SSH if no browser or display of this machine is seen", () => {
  const remote = { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" };
  expect(isRemoteShell(remote)).toBe(true);
  expect(isRemoteShell({ ...remote, BROWSER: "none" })).toBe(true);
  expect(isRemoteShell({})).toBe(false);
  for (const seen of [{ DISPLAY: ":0" }, { WAYLAND_DISPLAY: "w" }, { BROWSER: "firefox" }]) {
    expect(isRemoteShell({ ...remote, ...seen })).toBe(false);
  }
});

test("hasBrowser is false over SSH and without a display, unless BROWSER is set", () => {
  const desktop = { DISPLAY: ":0" };
  expect(hasBrowser(desktop, "linux")).toBe(true);
  expect(hasBrowser({ WAYLAND_DISPLAY: "wayland-0" }, "linux")).toBe(true);
  expect(hasBrowser({}, "linux")).toBe(false);
  expect(hasBrowser({ DISPLAY: "" }, "linux")).toBe(false);
  expect(hasBrowser({}, "darwin")).toBe(true);
  expect(hasBrowser({}, "win32")).toBe(true);
  for (const name of ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"]) {
    expect(hasBrowser({ ...desktop, [name]: "x" }, "linux")).toBe(false);
    expect(hasBrowser({ [name]: "x" }, "darwin")).toBe(false);
  }
  // BROWSER counts over SSH too.
  expect(hasBrowser({ BROWSER: "lynx", SSH_TTY: "x" }, "linux")).toBe(true);
  expect(hasBrowser({ BROWSER: "none", ...desktop }, "linux")).toBe(false);
  // It opens addresses on another machine, which has not the file that leads to the page.
  const relay = "/home/me/.vscode-server/cli/servers/Stable-1/server/bin/helpers/browser.sh";
  expect(hasBrowser({ BROWSER: relay, ...desktop }, "linux")).toBe(false);
});

test("browserCommands lists the programs of BROWSER before the default of the system", () => {
  expect(browserCommands(url, {}, "linux")).toEqual([["xdg-open", url.href]]);
  expect(browserCommands(url, {}, "darwin")).toEqual([["open", url.href]]);
  expect(browserCommands(url, {}, "win32")).toEqual([["rundll32", "url.dll,FileProtocolHandler", url.href]]);
  expect(browserCommands(url, { BROWSER: "w3m -o x=%s:firefox  --new-tab:" }, "linux")).toEqual([
    ["w3m", "-o", `x=${url.href}`],
    ["firefox", "--new-tab", url.href],
    ["xdg-open", url.href],
  ]);
  expect(browserCommands(url, { BROWSER: "C:\\b.exe" }, "win32")[0]).toEqual(["C:\\b.exe", url.href]);
});

describe("openBrowser", () => {
  test("does not start the program in the current folder", async () => {
    const said = join(folder.path, "where");
    const BROWSER = program("where-am-i", `pwd > ${said}`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    expect(readFileSync(said, "utf8")).toBe("/\n");
  });

  test("passes one word, the address of a file that leads to the page, without a shell", async () => {
    const said = join(folder.path, "said");
    const BROWSER = program("says", `printf '%s\\n' "$#" "$1" > ${said}`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    const [count, address] = readFileSync(said, "utf8").split("\n");
    expect([count, address]).toEqual(["1", expect.stringMatching(/^file:\/\/\/\S+\/claudikins-open-\w+\/open\.html$/)]);
    const file = new URL(address!);
    expect(readFileSync(file, "utf8")).toContain(`content="0; url=${Bun.escapeHTML(url.href)}"`);
    expect([statSync(file).mode & 0o777, statSync(new URL(".", file)).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("removes the file when it is no longer needed, and at once if no program works", async () => {
    const said = join(folder.path, "file");
    const until = new AbortController();
    const BROWSER = program("shows", `printf %s "$1" > ${said}`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER }, until.signal)).toBe(true);
    const file = new URL(readFileSync(said, "utf8"));
    expect(existsSync(file)).toBe(true);
    until.abort();
    expect(existsSync(new URL(".", file))).toBe(false);
    const broken = program("shows-and-fails", `printf %s "$1" > ${said}; exit 1`);
    expect(await openBrowser(url, { PATH: "/nowhere", BROWSER: broken })).toBe(false);
    expect(existsSync(new URL(".", readFileSync(said, "utf8")))).toBe(false);
  });

  test("removes files that killed processes have left, and not those of other programs", async () => {
    const made = (name: string) => {
      const path = join(tmpdir(), name);
      mkdirSync(path, { recursive: true });
      utimesSync(path, new Date(0), new Date(0));
      return path;
    };
    const [left, other] = [made(`claudikins-open-left${process.pid}`), made(`somebody-open-left${process.pid}`)];
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER: program("quiet", "") })).toBe(true);
    expect([existsSync(left), existsSync(other)]).toEqual([false, true]);
    rmSync(other, { recursive: true });
  });

  test("tries the next program if one fails or does not exist", async () => {
    const said = join(folder.path, "second");
    const BROWSER = [program("fails", "exit 3"), "/no/such/program", program("works", `echo > ${said}`)].join(":");
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    expect(existsSync(said)).toBe(true);
  });

  test("returns false if no program works", async () => {
    expect(await openBrowser(url, { PATH: "/nowhere", BROWSER: program("fails-too", "exit 1") })).toBe(false);
  });

  test("returns true if the program keeps running", async () => {
    const file = join(folder.path, "pid");
    const BROWSER = program("stays", `echo $$ > ${file}; exec sleep 60`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    process.kill(Number(readFileSync(file, "utf8")));
  });

  test("opens only http and https addresses", async () => {
    const said = join(folder.path, "never");
    const env = { PATH: process.env["PATH"], BROWSER: program("never-called", `echo > ${said}`) };
    for (const other of ["file:///etc/passwd", "javascript:alert(1)", "calculator:", "data:text/html,x"]) {
      expect(await openBrowser(new URL(other), env)).toBe(false);
    }
    expect(existsSync(said)).toBe(false);
  });
});
