/** The server catalog: every entry works as written, the index has every entry, and servers are found and recognised. */
import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { servers } from "../../registry/index.ts";
import { indexText, readServers, serverFolders, withTable } from "../../scripts/catalog.ts";
import { expand } from "../../src/config/expand.ts";
import { parseConfig } from "../../src/config/parse.ts";
import {
  type CatalogServer,
  findInCatalog,
  recognise,
  recogniseByTools,
  resultsOf,
} from "../../src/tools/server-catalog.ts";
import { root } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";

const waysOf = (server: CatalogServer) => [server.server, ...(server.alternatives ?? []).map((each) => each.server)];

/** The variables in a way to start a server: those without a default, and all. */
function variablesIn(way: unknown): { needed: string[]; all: string[] } {
  const all = [...JSON.stringify(way).matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name);
  return { needed: expand(way, {}).missing, all: [...new Set(all)].sort() };
}

describe("the catalog", () => {
  test("has every folder, and its files are the output of the script", async () => {
    expect(serverFolders().length).toBeGreaterThan(40);
    expect(await readServers()).toEqual([...servers]);
    expect(readFileSync(join(root, "registry", "index.ts"), "utf8")).toBe(indexText(serverFolders()));
    const readme = readFileSync(join(root, "registry", "README.md"), "utf8");
    expect(readme).toBe(withTable(readme, servers));
  });

  test("uses the names of its folders, and unique server names", () => {
    expect(servers.map(({ category, name }) => `${category}/${name}`)).toEqual(serverFolders());
    expect(new Set(servers.map(({ name }) => name)).size).toBe(servers.length);
    // A name or alias of two servers would find only one of them.
    for (const server of servers) {
      expect(new Set(server.aliases).size).toBe(server.aliases.length);
      for (const key of [server.name, ...server.aliases]) {
        expect([key, findInCatalog(key)]).toEqual([key, { server }]);
        const others = servers.filter((other) => other !== server && [other.name, ...other.aliases].includes(key));
        expect([key, others]).toEqual([key, []]);
      }
    }
  });

  test.each(servers.map((server) => [server.name, server] as const))("has a valid entry for %s", (name, server) => {
    const ways = waysOf(server);
    for (const way of ways) {
      const { servers: parsed } = parseConfig(JSON.stringify({ mcpServers: { [name]: way } }), "claudikins.json");
      expect([...parsed.keys()]).toEqual([name]);
      expect(recognise(way)?.name).toBe(name);
    }

    const declared = server.variables.map((variable) => variable.name).sort();
    const required = server.variables.flatMap((variable) => (variable.required ? [variable.name] : [])).sort();
    expect(variablesIn(ways).all).toEqual(declared);
    expect(variablesIn(server.server).needed).toEqual(required);

    const urls = [
      server.homepage,
      ...server.variables.flatMap(({ from }) => from ?? []),
      ...ways.flatMap((way) => ("url" in way ? [way.url] : "openapi" in way ? [way.openapi] : [])),
    ];
    for (const url of urls) expect(new URL(url).protocol).toBe("https:");

    const texts = [
      server.title,
      server.description,
      ...server.goodFor,
      ...server.notes,
      ...server.aliases,
      ...server.variables.map(({ what }) => what),
      ...(server.alternatives ?? []).map(({ what }) => what),
    ];
    for (const text of texts) {
      expect(text.trim()).toBe(text);
      expect(text).toMatch(/^[^\n|]+$/);
    }
    expect(server.description.length).toBeLessThanOrEqual(160);
    expect(server.description).not.toMatch(/\.$/);
    expect(server.goodFor.length).toBeGreaterThanOrEqual(3);
    expect(server.goodFor.length).toBeLessThanOrEqual(6);
    for (const alias of server.aliases) expect(alias).toBe(alias.toLowerCase());
    expect(server.checked.date).toMatch(/^20\d\d-\d\d-\d\d$/);
    // An entry says if a program or a browser is needed to sign in.
    if (server.signIn === "token") expect(required).not.toEqual([]);
    if (server.signIn === "program") expect(server.notes.join()).toMatch(/sign in|signed in|requires/i);
    if (server.signIn === "oauth") expect(server.server).not.toHaveProperty("command");
  });
});

describe("findInCatalog", () => {
  const found = (name: string) => findInCatalog(name).server?.name;

  test("finds servers by name, alias, package, program, image and address", () => {
    const names = {
      github: "github",
      " GitHub ": "github",
      chrome: "chrome-devtools",
      brightdata: "bright-data",
      "@modelcontextprotocol/server-github": "github",
      "@playwright/mcp@0.0.83": "playwright",
      "mcp-server-fetch": "fetch",
      "mcp-server-fetch==2025.4.7": "fetch",
      "ghcr.io/github/github-mcp-server:latest": "github",
      "https://mcp.context7.com/mcp": "context7",
      "mcp.stackoverflow.com": "stackoverflow",
      "git+https://github.com/oraios/serena@main": "serena",
    };
    expect(Object.fromEntries(Object.keys(names).map((name) => [name, found(name)]))).toEqual(names);
  });

  test("returns each similar name once if nothing matches", () => {
    expect(findInCatalog("playwrihgt")).toEqual({ near: ["playwright"] });
    expect(findInCatalog("chrome-dev-tool")).toEqual({ near: ["chrome-devtools"] });
    expect(findInCatalog("qqqqqqqq")).toEqual({ near: [] });
    for (const odd of ["", "__proto__", "constructor", "@", "https://", "a".repeat(10_000)]) {
      expect(findInCatalog(odd).server).toBeUndefined();
    }
  });
});

describe("recognise", () => {
  const name = (way: Parameters<typeof recognise>[0]) => recognise(way)?.name;
  test("finds the package of a program that is started by its path", () => {
    using folder = temporaryFolder();
    folder.write("src/memory/package.json", { name: "@modelcontextprotocol/server-memory" });
    const script = folder.write("src/memory/dist/index.js", "");
    folder.write("src/memory/dist/package.json", { type: "module" });
    folder.write("fetch/pyproject.toml", '[project]\nname = "mcp-server-fetch"\n');
    folder.write("fetch/server.py", "");
    folder.write("own/package.json", { name: "my-own" });
    const own = folder.write("own/index.js", "");
    const link = join(folder.path, "memory-server");
    symlinkSync(script, link);
    expect(name({ command: "node", args: [script] })).toBe("memory");
    expect(
      name({ command: "node", args: ["--no-warnings", "./dist/index.js"], cwd: join(folder.path, "src/memory") }),
    ).toBe("memory");
    expect(name({ command: link, args: [] })).toBe("memory");
    expect(name({ command: "uv", args: ["--directory", join(folder.path, "fetch"), "run", "server.py"] })).toBe(
      "fetch",
    );
    expect(name({ command: "python3", args: [join(folder.path, "fetch", "server.py")] })).toBe("fetch");
    // Neither another package nor a path that is only an argument.
    expect(name({ command: "node", args: [own] })).toBeUndefined();
    expect(name({ command: "node", args: [own, script] })).toBeUndefined();
    expect(name({ command: "my-server", args: [script] })).toBeUndefined();
    expect(name({ command: "node", args: [join(folder.path, "nowhere.js")] })).toBeUndefined();
  });

  const run = (line: string) => {
    const [command, ...args] = line.split(" ");
    return name({ command, args });
  };

  test("finds a server in any command that starts it", () => {
    const lines = {
      "npx -y @playwright/mcp@latest --headless": "playwright",
      "/opt/homebrew/bin/npx --yes @playwright/mcp": "playwright",
      "npx --package=@playwright/mcp@0.0.83 mcp-server-playwright": "playwright",
      "npx -y -p @playwright/mcp mcp-server-playwright": "playwright",
      "npm exec -- firecrawl-mcp": "firecrawl",
      "bunx firecrawl-mcp@3.1.0": "firecrawl",
      "bun x firecrawl-mcp": "firecrawl",
      "pnpm dlx chrome-devtools-mcp@latest": "chrome-devtools",
      "deno run -A npm:mcp-fetch-server": "fetch",
      "cmd /c npx -y tavily-mcp": "tavily",
      "C:\\Program-Files\\nodejs\\npx.cmd -y tavily-mcp": "tavily",
      "uvx mcp-server-fetch --ignore-robots-txt": "fetch",
      "uvx -p 3.13 --from serena-agent@latest serena start-mcp-server": "serena",
      "uvx --from git+https://github.com/oraios/serena@v1 serena start-mcp-server": "serena",
      "serena start-mcp-server": "serena",
      "uv tool run mcp-server-git": "git",
      "docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN ghcr.io/github/github-mcp-server:v0.20": "github",
      "node /srv/app/node_modules/@modelcontextprotocol/server-memory/dist/index.js": "memory",
      "node C:\\app\\node_modules\\@sentry\\mcp-server\\dist\\index.js": "sentry",
      "node /srv/app/node_modules/firecrawl-mcp/node_modules/other/index.js": undefined,
      "npx -y mcp-remote https://mcp.linear.app/mcp": "linear",
      "npx -y mcp-remote@latest https://example.com/mcp": undefined,
      "/srv/app/node_modules/firecrawl-mcp/dist/index.js": "firecrawl",
      "/srv/app/node_modules/.bin/firecrawl-mcp": "firecrawl",
      "bun run /srv/app/node_modules/firecrawl-mcp/dist/index.js": "firecrawl",
      "my-server --note shadcn": undefined,
      "node server.js /srv/app/node_modules/firecrawl-mcp": undefined,
      "npx -y @modelcontextprotocol/server-filesystem /srv/app/node_modules/firecrawl-mcp": "filesystem",
      "node server.js @playwright/mcp": undefined,
      "npx -y some-firecrawl-mcp": undefined,
      npx: undefined,
      cmd: undefined,
      docker: undefined,
    };
    expect(Object.fromEntries(Object.keys(lines).map((line) => [line, run(line)]))).toEqual(lines);
  });

  test("finds a server by the host of its address", () => {
    expect(name({ url: "https://api.githubcopilot.com/mcp/x/issues/readonly" })).toBe("github");
    expect(name({ url: "https://mcp.apify.com/?tools=docs" })).toBe("apify");
    expect(name({ url: "https://evil.example/mcp.apify.com" })).toBeUndefined();
    expect(name({ url: "https://mcp.apify.com.evil.example/" })).toBeUndefined();
    expect(name({ url: "${MY_SERVER}/mcp" })).toBeUndefined();
    expect(name({})).toBeUndefined();
  });
});

describe("a server is recognised by what it is, however it is started", () => {
  const filesystem = "@modelcontextprotocol/server-filesystem";
  const program = "mcp-server-filesystem";

  /** A folder of programs, and the script of the package that is installed beside it. */
  function installed() {
    const folder = temporaryFolder();
    const home = `lib/node_modules/${filesystem}`;
    folder.write(`${home}/package.json`, JSON.stringify({ name: filesystem }));
    const script = folder.write(`${home}/dist/index.js`, "#!/usr/bin/env node\n");
    chmodSync(script, 0o755);
    folder.write("bin/.keep", "");
    return { folder, script, bin: join(folder.path, "bin") };
  }

  test("as a global package, which is a link on the PATH", () => {
    const { folder, script, bin } = installed();
    using _ = folder;
    symlinkSync(script, join(bin, program));
    expect(resultsOf({ command: program, args: ["/srv"], env: { PATH: bin } })?.package).toBe(filesystem);
    expect(resultsOf({ command: "env", args: ["A=1", "-u", "B", join(bin, program)] })?.package).toBe(filesystem);
    expect(resultsOf({ command: program, env: { PATH: folder.path } })).toBeUndefined();
  });

  test.each([
    ["pnpm", `#!/bin/sh\nexec node  "$basedir/../lib/node_modules/${filesystem}/dist/index.js" "$@"\n`],
    [
      "npm on Windows",
      `@ECHO off\r\n"%_prog%"  "%dp0%\\node_modules\\@modelcontextprotocol\\server-filesystem\\dist\\index.js" %*\r\n`,
    ],
  ])("as a launcher of %s", (_, text) => {
    const { folder, bin } = installed();
    using __ = folder;
    const launcher = folder.write(`bin/${program}`, text);
    chmodSync(launcher, 0o755);
    expect(resultsOf({ command: program, env: { PATH: bin } })?.package).toBe(filesystem);
  });

  test.each([
    ["sh", ["-c", `npx -y ${filesystem} "/srv/my files"`]],
    ["bash", ["-lc", `exec npx -y ${filesystem}@1.2.3 /srv`]],
    ["env", ["HOME=/root", "npx", "-y", filesystem, "/srv"]],
    ["nice", ["-n", "5", "env", "A=1", "npx", "-y", filesystem]],
  ])("in a command line of %s", (command, args) => {
    expect(resultsOf({ command, args })?.package).toBe(filesystem);
  });

  test.each([
    ["sh", ["-c", `cd /srv && npx -y ${filesystem}`]],
    ["sh", ["run.sh", filesystem]],
    ["env", ["A=1"]],
    ["sh", ["-c"]],
  ])("but not in %s %p, which may start anything", (command, args) => {
    expect(resultsOf({ command, args })).toBeUndefined();
  });

  test("by its tools, if they are all there and few others", () => {
    const known = servers.filter(({ results }) => Object.keys(results?.tools ?? {}).length >= 4);
    expect(known.length).toBeGreaterThan(5);
    for (const server of known) {
      const tools = Object.keys(server.results!.tools);
      expect([server.name, recogniseByTools([...tools, "one_more"])?.name]).toEqual([server.name, server.name]);
      expect(recogniseByTools(tools.slice(1))).toBeUndefined();
      const others = Array.from({ length: tools.length + 4 }, (_, at) => `other_${at}`);
      expect(recogniseByTools([...tools, ...others])).toBeUndefined();
    }
    expect(recogniseByTools([])).toBeUndefined();
  });
});
