/** The structure of the source: imports point down, and some things are done in one place only. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { bridgeCode } from "../../src/tools/registry/bridge-code.ts";
import { codesIn, pageAt, rowsOf } from "../docs/pages.ts";
import { root } from "../support/claudikins.ts";

const source = join(root, "src");

/** The table of rooms in `src/README.md`: which rooms each may import, besides itself. Higher rooms come first. */
const below: Record<string, string[]> = Object.fromEntries(
  rowsOf(pageAt("src/README.md"), "room").map(({ cells }) => {
    const [room = ""] = codesIn(cells["room"]);
    return [room.replace(/\/$/, ""), codesIn(cells["imports"])];
  }),
);
below["cli"] = Object.keys(below).filter((room) => room !== "cli");
below["main"] = ["cli"];

/** What the files of `base` may import. */
const base: Record<string, string[]> = {
  "limits.ts": ["units.ts"],
  "units.ts": [],
  "byte-order-mark.ts": [],
  "errors.ts": [],
  "exact-json.ts": ["limits.ts"],
  "json-object.ts": ["exact-json.ts"],
  "json-size.ts": [],
  "large-json.ts": ["exact-json.ts", "json-object.ts"],
  "json-weight.ts": ["limits.ts"],
  "json-schema.ts": ["json-object.ts", "limits.ts"],
  "json-shape.ts": ["errors.ts"],
  "near-names.ts": ["limits.ts"],
  "line-difference.ts": [],
  "same-secret.ts": ["sha256.ts"],
  "seal.ts": ["json-object.ts", "limits.ts", "sha256.ts"],
  "sha256.ts": [],
  "shell-word.ts": [],
  "collect-soon.ts": ["units.ts"],
  "duration.ts": ["units.ts"],
  "c-library.ts": [],
  "give-back-memory.ts": ["c-library.ts", "limits.ts"],
  "idle-timer.ts": ["limits.ts"],
  "context-characters.ts": ["limits.ts"],
  "event-loop.ts": ["limits.ts"],
  "keychain.ts": ["c-library.ts", "errors.ts", "limits.ts"],
  "loopback.ts": [],
  "address-reach.ts": [],
  "inet-diag.ts": ["c-library.ts"],
  "peer-owner.ts": ["inet-diag.ts"],
  "private-file.ts": ["errors.ts"],
  "redirect-file.ts": ["errors.ts", "files.ts", "limits.ts"],
  "fair-queue.ts": [],
  "machine-memory.ts": [],
  "semaphore.ts": ["fair-queue.ts"],
  "trace-context.ts": ["json-object.ts", "limits.ts"],
  "off-thread.ts": ["errors.ts", "limits.ts"],
  "files.ts": ["errors.ts", "guarded-folders.ts", "open-folder.ts", "limits.ts"],
  "guarded-folders.ts": ["errors.ts", "open-folder.ts"],
  "open-folder.ts": ["errors.ts"],
  "held-path.ts": ["errors.ts", "limits.ts"],
  "lock.ts": ["errors.ts", "limits.ts"],
  "documents.ts": ["errors.ts", "files.ts", "lock.ts"],
  "log.ts": ["errors.ts", "visible-text.ts"],
  "spaced.ts": [],
  "time-limit.ts": [],
  "token-estimate.ts": [],
  "basic-authorization.ts": [],
  "percent-decoded.ts": [],
  "bounded-body.ts": [],
  "service-request.ts": ["bounded-body.ts", "errors.ts", "json-object.ts", "units.ts", "visible-text.ts"],
  "aws-credentials.ts": ["json-object.ts", "loopback.ts", "service-request.ts"],
  "bracketed.ts": [],
  "built-in.ts": [],
  "version.ts": ["built-in.ts"],
  "watched.ts": [],
  "program-format.ts": ["built-in.ts", "version.ts"],
  "newer.ts": ["errors.ts", "json-object.ts", "version.ts"],
  "visible-text.ts": [],
  "counted.ts": [],
  "bundled-script.ts": [],
  "media.ts": ["json-object.ts", "counted.ts", "limits.ts"],
};

interface Import {
  from: string;
  /** The path below src for our own files, otherwise the text of the import. */
  to: string;
  ours: boolean;
  typeOnly: boolean;
  /** Whether it is imported dynamically. */
  later: boolean;
}

const files = (readdirSync(source, { recursive: true }) as string[])
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
  .sort();
const text = new Map(files.map((file) => [file, readFileSync(join(source, file), "utf8")]));

/** Every static, dynamic and type import of a file, including types written as `import("…")`. */
function importsOf(file: string): Import[] {
  const code = text.get(file) ?? "";
  const statements = code.matchAll(/^(?:import|export)(?<type> type)?\b[^;"']*?\bfrom\s+"(?<to>[^"]+)"/gm);
  const others = code.matchAll(
    /\bimport\(\s*"(?<to>[^"]+)"|^import\s+"(?<effect>[^"]+)"|\bnew URL\(\s*"(?<url>\.[^"]+)"/gm,
  );
  return [...statements, ...others].map(({ 0: statement, groups }) => {
    const to = groups?.["to"] ?? groups?.["effect"] ?? groups?.["url"] ?? "";
    const ours = to.startsWith(".");
    return {
      from: file,
      to: ours ? normalize(join(dirname(file), to)) : to,
      ours,
      typeOnly: groups?.["type"] !== undefined,
      later: statement.startsWith("import("),
    };
  });
}

const imports = files.flatMap(importsOf);

/** All files that are loaded with a file, directly or indirectly, without dynamic imports. */
function loadedWith(file: string): string[] {
  const found = new Set([file]);
  for (const each of found) {
    for (const { from, to, typeOnly, later } of imports) if (from === each && !typeOnly && !later) found.add(to);
  }
  return [...found];
}

/** The room of a file: its top folder. Only `main.ts` stands at the top. */
const roomOf = (file: string) => (file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, ""));

const shown = ({ from, to }: Import) => `${from} → ${to}`;

/** Files that import each other, directly or through others. Imports of types count. */
function circles(): string[] {
  const imported = new Map(
    files.map((file) => [file, imports.filter(({ from }) => from === file).map(({ to }) => to)]),
  );
  const reached = new Map(files.map((file) => [file, new Set(imported.get(file))]));
  for (const found of reached.values()) {
    for (const each of found) for (const to of imported.get(each) ?? []) found.add(to);
  }
  const inCircle = files.filter((file) => reached.get(file)?.has(file));
  const together = (file: string) =>
    inCircle.filter((each) => reached.get(file)?.has(each) && reached.get(each)?.has(file));
  return [...new Set(inCircle.map((file) => together(file).join(" ↔ ")))];
}

/** The components of the page of an execution. */
const execution = "page/browser/execution/";

/** What the page in the browser carries of other rooms. They import nothing. */
const carried = ["policy/hidden-characters.ts", "base/duration.ts", "base/counted.ts", "base/units.ts"];

describe("imports", () => {
  test("are found: every kind, in every file", () => {
    expect(imports.length).toBeGreaterThan(200);
    const all = imports.map(shown);
    expect(all).toContain("main.ts → cli/run.ts");
    expect(all).toContain("cli/command-table.ts → cli/commands/exec.ts");
    expect(all).toContain("servers/pool.ts → servers/connection/server-connections.ts");
    expect(all).toContain("servers/connection/server-client.ts → @modelcontextprotocol/client");
    // One import for each in the text, whatever its form.
    for (const file of files) {
      const written = text.get(file)?.match(/\bfrom "[^"]+"(?:;| with )|\bimport\("[^"]+"/g)?.length ?? 0;
      const found = imports.filter((each) => each.from === file).length;
      expect([file, found >= written]).toEqual([file, true]);
    }
  });

  test("stand in the rooms of the table; only main.ts stands at the top", () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual(Object.keys(below).sort());
  });

  test("point down", () => {
    const wrong = imports.filter(({ from, to, ours }) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      // package.json and other files outside src belong to no room.
      if (!ours || to.startsWith("..") || room === target) return false;
      return !below[room]?.includes(target);
    });
    expect(wrong.map(shown)).toEqual([]);
  });

  test("by base are few, and known", () => {
    const inBase = imports.filter(({ from, ours, to }) => from.startsWith("base/") && ours && !to.startsWith(".."));
    const nameOf = (file: string) => file.slice("base/".length);
    expect(inBase.filter(({ from, to }) => !base[nameOf(from)]?.includes(nameOf(to))).map(shown)).toEqual([]);
    const names = files.filter((file) => file.startsWith("base/")).map(nameOf);
    expect(names).toEqual(Object.keys(base).sort());
  });

  test("form no circles, not even of types", () => {
    expect(circles()).toEqual([]);
  });

  test("are listed with higher rooms before lower ones", () => {
    const order = ["main", ...Object.keys(below).filter((room) => room !== "main")];
    for (const [room, rooms] of Object.entries(below)) {
      for (const lower of rooms)
        expect([room, lower, order.indexOf(lower) > order.indexOf(room)]).toEqual([room, lower, true]);
    }
  });

  test("by the registry from servers are only types", () => {
    const types = imports.filter(({ from, to }) => from.startsWith("tools/registry/") && to.startsWith("servers/"));
    expect(types.filter(({ typeOnly }) => !typeOnly).map(shown)).toEqual([]);
  });

  test("by `call` with a daemon are few, and load quickly", () => {
    const loaded = loadedWith("cli/commands/call.ts");
    expect(loaded).toContain("daemon/client.ts");
    const heavy =
      /^(?:app\/|config\/load|config\/schema|sandbox\/|servers\/pool|serve\/|@modelcontextprotocol|zod|ajv)/;
    expect(loaded.filter((each) => heavy.test(each))).toEqual([]);
  });

  test("load the SDK neither with `serve`, which answers first, nor with `exec`, unless a server is needed", () => {
    const sdk = /^@modelcontextprotocol\//;
    for (const file of ["serve/stdio.ts", "cli/commands/serve.ts", "cli/commands/exec.ts", "app/app.ts"]) {
      expect([file, loadedWith(file).filter((each) => sdk.test(each))]).toEqual([file, []]);
    }
    expect(loadedWith("servers/connection/connect.ts").some((each) => sdk.test(each))).toBe(true);
  });

  test("are of no packages that only tests need, such as the first version of the SDK", () => {
    const onlyForTests = Object.keys(manifest.devDependencies);
    expect(onlyForTests).toContain("@modelcontextprotocol/sdk");
    const isOf = (to: string, name: string) => to === name || to.startsWith(`${name}/`);
    expect(imports.filter(({ to }) => onlyForTests.some((name) => isOf(to, name))).map(shown)).toEqual([]);
  });

  test("load the server catalog only when it is needed", () => {
    const loading = files.filter((file) =>
      /^import (?!type)[^;]*"[^"]*\/server-catalog\.ts"/m.test(text.get(file) ?? ""),
    );
    expect(loading).toEqual([]);
    expect(imports.map(shown)).toContain("tools/catalog/config-entry.ts → tools/server-catalog.ts");
  });

  test("by the sandbox do not include MCP, and those by the guest only the contract's types", () => {
    const sandbox = imports.filter(({ from }) => from.startsWith("sandbox/"));
    expect(sandbox.filter(({ to }) => to.startsWith("@modelcontextprotocol/")).map(shown)).toEqual([]);
    const guest = sandbox.filter(
      ({ from, to, typeOnly }) => from.startsWith("sandbox/guest/") && !typeOnly && !to.startsWith("sandbox/guest/"),
    );
    const own = guest.filter(
      ({ from, to }) => !buildTime.includes(from) && !guestLibraries.some((name) => to.startsWith(name)),
    );
    expect(own.map(shown)).toEqual([]);
  });

  test("by the page in the browser include only its library, its own files, types, the escapes of invisible characters the texts of numbers, and limits", () => {
    const browser = imports.filter(({ from }) => from.startsWith("page/browser/") && !from.startsWith(execution));
    const libraries = /^preact(?:\/hooks)?$/;
    const allowed = ({ from, to, ours, typeOnly }: Import) =>
      ours
        ? typeOnly || carried.includes(to) || (to.startsWith("page/browser/") && !to.startsWith(execution))
        : libraries.test(to) || (from.startsWith("page/browser/editor/") && /^@(?:codemirror|lezer)\//.test(to));
    expect(browser.length).toBeGreaterThan(20);
    expect(browser.filter((each) => !allowed(each)).map(shown)).toEqual([]);
    // The editor is a script of its own, which the page loads when it is opened.
    expect(loadedWith("page/browser/main.tsx").filter((each) => /codemirror|lezer/.test(each))).toEqual([]);
    const isContract = (file: string) => /^page\/(?:\w+-)?contract\.ts$/.test(file);
    const byCarried = imports.filter(({ from }) => carried.includes(from) || isContract(from));
    expect(byCarried.filter(({ to }) => to !== "base/units.ts" && !isContract(to)).map(shown)).toEqual([]);
  });

  test("by the page of an execution include nothing that needs Bun, and no hooks, because it is made without a browser", () => {
    const entry = `${execution}execution.tsx`;
    const loaded = loadedWith(entry).filter((each) => each !== entry && !each.startsWith("page/browser/"));
    const texts = [
      "programs/limits.ts",
      "programs/outcome-text.ts",
      "programs/trace/overlap.ts",
      "programs/trace/record-text.ts",
    ];
    expect(loaded.sort()).toEqual(
      [...carried, ...texts, "base/exact-json.ts", "base/json-object.ts", "base/limits.ts", "preact"].sort(),
    );
    // Only the script is loaded by a browser.
    expect(loadedWith(`${execution}script.ts`).slice(1)).toEqual(["page/browser/list-keys.ts"]);
  });

  test("load the page's server only when somebody wants to see the page", () => {
    for (const file of ["cli/commands/daemon-run.ts", "cli/commands/ui.ts", "daemon/daemon.ts"]) {
      expect([file, loadedWith(file).filter((each) => /^(?:page\/|preact)/.test(each))]).toEqual([file, []]);
    }
    expect(loadedWith("cli/daemon/open-page.ts")).toContain("page/user-page.ts");
  });

  test("by code and advice include ast, but not each other", () => {
    const between = imports.filter(
      ({ from, to }) =>
        (from.startsWith("sandbox/ast/") && /^sandbox\/(?:advice|code)\//.test(to)) ||
        (from.startsWith("sandbox/code/") && to.startsWith("sandbox/advice/")) ||
        (from.startsWith("sandbox/advice/") && to.startsWith("sandbox/code/")),
    );
    expect(between.map(shown)).toEqual([]);
  });

  test("by other rooms of the store are its interfaces: only open.ts knows where the data is", () => {
    const implementation = /^store\/sqlite\//;
    const outside = imports.filter(({ from, to }) => implementation.test(to) && !implementation.test(from));
    expect(outside.map(shown)).toEqual(["store/open.ts → store/sqlite/store.ts"]);
    const withSqlite = imports.filter(({ from, to }) => to === "bun:sqlite" && !implementation.test(from));
    expect([...new Set(withSqlite.map(({ from }) => from))]).toEqual(["base/lock.ts"]);
  });

  test("load sign-in only with the first server on the network", () => {
    const statically = /^import (?!type\b)[^;]*from "\.\/auth\//m;
    const clients = files.filter((file) => /^servers\/[^/]+$/.test(file));
    expect(clients.filter((file) => statically.test(text.get(file) ?? ""))).toEqual([]);
    expect(imports.map(shown)).toContain("servers/connection/open-channel.ts → servers/auth/access.ts");
  });

  test("by mode.ts do not include the SDK, so that code mode loads it later", () => {
    const loading = imports.filter(({ from, typeOnly }) => from === "serve/proxy/mode.ts" && !typeOnly);
    expect(loading.map(shown)).toEqual(["serve/proxy/mode.ts → base/token-estimate.ts"]);
  });

  test("in src include no test, script or folder", () => {
    const outside = imports.filter(({ to, ours }) => ours && to.startsWith(".."));
    // It is bundled into a text, which nothing of ours may run.
    expect(imports.filter(({ to }) => to === bridge).map(shown)).toEqual([]);
    const catalog = ["../registry/index.ts", "../registry/types.ts", "../registry/testing/demo/results.ts"];
    const wrong = outside.filter(
      ({ from, to }) => to !== "../package.json" && !(from === "tools/server-catalog.ts" && catalog.includes(to)),
    );
    expect(wrong.map(shown)).toEqual([]);
    const unknown = imports.filter(
      ({ to, ours }) => ours && !to.startsWith("..") && !text.has(to) && !existsAsAsset(to),
    );
    expect(unknown.map(shown)).toEqual([]);
  });
});

/** Packages of the registry that run without Node: the guest's globals and modules use them. */
const guestLibraries = [
  "@kayahr/text-encoding/",
  "buffer/",
  "core-js-pure/",
  "event-target-shim",
  "events/",
  "fast-querystring",
  "node-inspect-extracted",
  "path-browserify",
];

/** Run during the build, and are not part of the program. */
const buildTime = [
  "base/bundled-script.ts",
  "tools/registry/bridge-code.ts",
  "sandbox/guest/bundle.ts",
  "page/bundle.ts",
];

/** Is bundled and copied to registries, and runs in the processes of their users. */
const bridge = "cli/bridge.ts";

test("the bridge needs nothing but Node: no packages, and nothing of Bun", () => {
  const code = bridgeCode();
  const loaded = [...code.matchAll(/\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/g)].map(
    ([, one, other]) => one ?? other ?? "",
  );
  expect(loaded.length).toBeGreaterThan(5);
  expect(loaded.filter((name) => !name.startsWith("node:"))).toEqual([]);
  expect(code).not.toMatch(/\bBun\.|^\/\/ package\.json/m);
});

const existsAsAsset = (file: string) => readdirSync(join(source, dirname(file))).includes(file.split("/").at(-1) ?? "");

describe("only one place", () => {
  /** The files whose code, without comments, contains the word. */
  const having = (word: RegExp) => files.filter((file) => word.test(withoutComments(text.get(file) ?? "")));

  test("reads the environment: config", () => {
    expect(having(/process\.env|Bun\.env|import\.meta\.env/).filter((file) => !buildTime.includes(file))).toEqual([
      bridge,
      "config/environment.ts",
    ]);
  });

  test("writes output: the streams of cli/io, never the console", () => {
    // This is the text of a generated example.
    expect(having(/\bconsole\s*\.\s*\w+\(/)).toEqual(["tools/registry/emit.ts"]);
    expect(
      having(/process\.(?:stdout|stderr)\.write|print\(process\.(?:stdout|stderr)|Bun\.(?:stdout|stderr)/),
    ).toEqual([bridge]);
  });

  test("ends the process: with an exit code, except for the second signal and a keychain that does not answer", () => {
    expect(having(/process\.exit\(/)).toEqual(["cli/io.ts"]);
    expect(having(/process\.exitCode/)).toEqual([bridge, "cli/io.ts"]);
  });

  test("starts processes: servers in a group, the watchdog, bubblewrap to see whether it works, npm for a package of a box, a browser, an editor, the daemon, programs asked for their version, commands that notify, and upgrades", () => {
    expect(having(/\bspawn(?:Sync)?\(/).filter((file) => !buildTime.includes(file))).toEqual([
      "cli/commands/config.ts",
      "cli/doctor/executable.ts",
      "cli/terminal/browser.ts",
      "cli/upgrade-hint.ts",
      "daemon/launch.ts",
      "programs/events/notify.ts",
      "servers/box/bubblewrap.ts",
      "servers/box/launchers.ts",
      "servers/process/process-group.ts",
      "servers/process/watchdog.ts",
      "setup/upgrade/run.ts",
    ]);
  });
});

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

test("every file opens with one comment that says what it is for", () => {
  const without = files.filter((file) => !/^(?:#!.*\n)?\/\*\*/.test(text.get(file) ?? ""));
  expect(without).toEqual([]);
});
