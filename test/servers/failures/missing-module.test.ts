/** What runtimes and package runners say about something that does not exist, and what can be seen before a server starts. */
import { describe, expect, test } from "bun:test";
import type { StdioServer } from "../../../src/config/load.ts";
import { missingModule } from "../../../src/servers/failures/missing-module.ts";
import { ownPool } from "../../support/own-pool.ts";
import { failureOf, serverConfig } from "../../support/pool.ts";

const server = serverConfig("s", { command: "node" }) as StdioServer;

describe("the last lines of a server", () => {
  test.each([
    ["Error: Cannot find module '/srv/x/index.js'", "there is no file /srv/x/index.js"],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/x.mjs",
      "it cannot find the module zod",
    ],
    [
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/srv/b.js' imported from /srv/a.js",
      "there is no file /srv/b.js",
    ],
    ['error: Module not found "/srv/x.ts"', "there is no file /srv/x.ts"],
    ['error: Module not found "file:///srv/x.ts".', "there is no file /srv/x.ts"],
    ["ModuleNotFoundError: No module named 'mcp_server_git'", "it cannot find the module mcp_server_git"],
    ["/usr/bin/python3: No module named mcp_server_git", "it cannot find the module mcp_server_git"],
    ["python3: can't open file '/srv/x.py': [Errno 2] No such file or directory", "there is no file /srv/x.py"],
    ["npm error 404  '@acme/mcp@*' is not in this registry.", "no registry has the package @acme/mcp"],
    ["npm error 404  The requested resource '@acme/mcp@*' could not be found", "no registry has the package @acme/mcp"],
    ["  Because mcp-acme was not found in the package registry", "no registry has the package mcp-acme"],
  ])("%j say that %s", (line, why) => {
    expect(missingModule(["starting", line, "  code: 'X'"], server)?.why).toBe(why);
  });

  test.each<[string[], string]>([
    [
      [
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /h/_npx/1/node_modules/@acme/mcp/dist/a.js",
      ],
      "its package @acme/mcp cannot find the module zod",
    ],
    [
      [
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/h/node_modules/acme/b.js' imported from /h/node_modules/acme/a.js",
      ],
      "its package acme cannot find the module /h/node_modules/acme/b.js",
    ],
    [
      [
        "Error: Cannot find module './lib/b'",
        "Require stack:",
        "- /h/node_modules/acme/index.js",
        "    at Module._load",
      ],
      "its package acme cannot find the module ./lib/b",
    ],
    [
      ["error: Cannot find module 'zod' from '/h/node_modules/acme/index.js'"],
      "its package acme cannot find the module zod",
    ],
    [
      [
        "Traceback (most recent call last):",
        '  File "/h/bin/mcp-acme", line 5, in <module>',
        '  File "/h/lib/python3.12/site-packages/mcp_acme/server.py", line 3, in <module>',
        "    import requests",
        "ModuleNotFoundError: No module named 'requests'",
      ],
      "its package mcp_acme cannot find the module requests",
    ],
    [
      ["Error: Cannot find module 'C:\\h\\node_modules\\acme\\b.js'"],
      "its package acme cannot find the module C:\\h\\node_modules\\acme\\b.js",
    ],
  ])("blame a package for what its files do not find: %j", (lines, why) => {
    const found = missingModule(lines, server);
    expect(found?.why).toBe(why);
    expect(found?.hint).not.toContain("args");
  });

  test("blame the config for a file of a package that it names", () => {
    const file = "/h/node_modules/acme/x.js";
    const found = missingModule([`Error: Cannot find module '${file}'`], { ...server, args: [file] });
    expect(found?.why).toBe(`there is no file ${file}`);
  });

  test.each(["fatal: no database", "Error: cannot find module settings", "404 Not Found", "module ready", ""])(
    "%j name nothing that is missing",
    (line) => {
      expect(missingModule([line], server)).toBeUndefined();
    },
  );
});

describe("a server that cannot start", () => {
  const own = ownPool();

  test.each([
    ["a file that does not exist", { command: "node", args: ["/nowhere/x.js"] }, "there is no file /nowhere/x.js"],
    ["a command that is not on the PATH", { command: "no-such-mcp" }, "command not found: no-such-mcp"],
    ["a command whose path does not exist", { command: "/nowhere/mcp" }, "command not found: /nowhere/mcp"],
  ])("is known to be down before it starts, for the reason that a start gives: %s", async (_, entry, why) => {
    const pool = own.open({ s: entry });
    expect(pool.fault("s")).toMatchObject({ why: `cannot start: ${why}`, lasting: true });
    expect(pool.state("s")).toEqual({ state: "idle" });
    expect((await failureOf(pool.listTools("s"))).message).toBe(`Server "s" did not start: ${why}`);
    expect(pool.fault("s")).toMatchObject({ why: `did not start: ${why}`, lasting: true });
  });

  test.each([
    ["a program with a flag before its file", { command: "node", args: ["--no-warnings", "/nowhere/x.js"] }],
    ["a program that is given a file to make", { command: "sh", args: ["/nowhere/new.db"] }],
    ["a module", { command: "python3", args: ["-m", "no_such_module"] }],
    ["a file that is named by a relative path", { command: "node", args: ["no-such-file.js"] }],
  ])("%s is not judged before it starts", (_, entry) => {
    expect(own.open({ s: entry }).fault("s")).toBeUndefined();
  });

  test("is tried again once its file exists, and is no longer down", async () => {
    const file = `${own.mark}/late.js`;
    const pool = own.open({ s: { command: process.execPath, args: [file] } });
    await failureOf(pool.listTools("s"));
    own.folder.write("late.js", "process.exitCode = 4;");
    expect((await failureOf(pool.listTools("s"))).message).toContain("its process exited with code 4");
    expect(pool.fault("s")).toMatchObject({ lasting: false });
  });
});
