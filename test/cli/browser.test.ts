/** Which program opens the browser on each system, and how its success is judged. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { browserCommands, hasBrowser, openBrowser } from "../../src/cli/browser.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const url = new URL("https://login.example/authorize?a=1&b=%22$(touch%20x)%22;c");

let folder: TemporaryFolder;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder[Symbol.dispose]());

function program(name: string, script: string): string {
  const file = folder.write(name, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

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

  test("passes the address as one word, without a shell", async () => {
    const said = join(folder.path, "said");
    const BROWSER = program("says", `printf '%s\\n' "$#" "$1" > ${said}`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    expect(readFileSync(said, "utf8")).toBe(`1\n${url.href}\n`);
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
