/** Which program opens a browser, on which machine, and what is made of how it went. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { browserCommands, hasBrowser, openBrowser } from "../../src/cli/browser.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(30_000);

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

test("where one is likely to open", () => {
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
  // Who sets it knows better, over SSH too.
  expect(hasBrowser({ BROWSER: "lynx", SSH_TTY: "x" }, "linux")).toBe(true);
  expect(hasBrowser({ BROWSER: "none", ...desktop }, "linux")).toBe(false);
});

test("the commands", () => {
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

describe("opening", () => {
  test("the program is not started in the folder that somebody stands in", async () => {
    const said = join(folder.path, "where");
    const BROWSER = program("where-am-i", `pwd > ${said}`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    expect(readFileSync(said, "utf8")).toBe("/\n");
  });

  test("the address arrives as one word, and no shell reads it", async () => {
    const said = join(folder.path, "said");
    const BROWSER = program("says", `printf '%s\\n' "$#" "$1" > ${said}`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    expect(readFileSync(said, "utf8")).toBe(`1\n${url.href}\n`);
  });

  test("the next one is tried after one that fails or is not there", async () => {
    const said = join(folder.path, "second");
    const BROWSER = [program("fails", "exit 3"), "/no/such/program", program("works", `echo > ${said}`)].join(":");
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    expect(existsSync(said)).toBe(true);
  });

  test("none worked", async () => {
    expect(await openBrowser(url, { PATH: "/nowhere", BROWSER: program("fails-too", "exit 1") })).toBe(false);
  });

  test("one that stays is a browser", async () => {
    const file = join(folder.path, "pid");
    const BROWSER = program("stays", `echo $$ > ${file}; exec sleep 60`);
    expect(await openBrowser(url, { PATH: process.env["PATH"], BROWSER })).toBe(true);
    process.kill(Number(readFileSync(file, "utf8")));
  });

  test("nothing but pages of the web", async () => {
    const said = join(folder.path, "never");
    const env = { PATH: process.env["PATH"], BROWSER: program("never-called", `echo > ${said}`) };
    for (const other of ["file:///etc/passwd", "javascript:alert(1)", "calculator:", "data:text/html,x"]) {
      expect(await openBrowser(new URL(other), env)).toBe(false);
    }
    expect(existsSync(said)).toBe(false);
  });
});
