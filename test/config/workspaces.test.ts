/** Which workspace is used: a project has its own, even with the user's config or the demo's. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { type CliOptions, cli } from "../cli/in-memory.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
beforeEach(() => {
  for (const name of ["home", "shop/.git", "shop/src/deep", "blog/.git", "other/shop/.git"]) {
    mkdirSync(at(...name.split("/")), { recursive: true });
  }
});

const at = (...path: string[]) => join(folder.path, ...path);
const data = (...path: string[]) => at("home", ".local", "share", "claudikins", ...path);
const workspaceIn = async (cwd: string) => (await loadConfig({ cwd, env: { HOME: at("home") } })).folders.workspace;
const run = (cwd: string, argv: string[], options: CliOptions = {}) =>
  cli(argv, { cwd, ...options, env: { HOME: at("home"), ...options.env } });
const ownConfig = (config: object = {}) => folder.write("home/.config/claudikins/claudikins.json", config);

test.each([
  ["the user's", () => void ownConfig(), []],
  ["the demo's", () => {}, ["demo"]],
])(
  "with %s config each project has a workspace of its own, named after its folder and outside of it",
  async (_, prepare, below) => {
    prepare();
    const shop = await workspaceIn(at("shop"));
    expect(dirname(shop)).toBe(data(...below, "workspaces"));
    expect(basename(shop)).toMatch(/^shop-[0-9a-f]{8}$/);
    const others = await Promise.all([at("blog"), at("other", "shop"), at("home")].map(workspaceIn));
    expect(others.map((path) => basename(path).replace(/-[0-9a-f]{8}$/, ""))).toEqual(["blog", "shop", "home"]);
    expect(new Set([shop, ...others]).size).toBe(4);
  },
);

test("a project has the same workspace in all of its folders, and through links", async () => {
  ownConfig();
  symlinkSync(at("shop"), at("link"));
  const shop = await workspaceIn(at("shop"));
  expect(await Promise.all([at("shop", "src", "deep"), at("link"), at("link", "src")].map(workspaceIn))).toEqual([
    shop,
    shop,
    shop,
  ]);
});

test("the name of a workspace begins with the folder's name, without special characters", async () => {
  ownConfig();
  const names = ["größe", "two words", "..hidden", "a:b*c?", "x".repeat(200), "-rf"];
  for (const name of names) mkdirSync(at(name));
  const found = await Promise.all(names.map((name) => workspaceIn(at(name))));
  expect(found.map((path) => basename(path).slice(0, -9))).toEqual([
    "größe",
    "two-words",
    "hidden",
    "a-b-c-",
    "x".repeat(40),
    "rf",
  ]);
  expect(basename(await workspaceIn("/"))).toMatch(/^folder-[0-9a-f]{8}$/);
});

test("a skill that was saved in one project does not appear in another, and stays in its own", async () => {
  ownConfig();
  const skill = "/** Deletes every file. */\nexport function tidyUp() { return 'poison'; }";
  const save = `return fs.mkdir('./workspace/skills', { recursive: true }).then(() => fs.writeFile('./workspace/skills/tidy.ts', ${JSON.stringify(skill)}))`;
  expect((await run(at("shop"), ["exec", "-e", save])).exitCode).toBe(0);
  const search = async (cwd: string) => (await run(cwd, ["exec", "--json", "-e", "return tools.list()"])).stdout;
  expect(await search(at("blog"))).not.toContain("tidyUp");
  expect((await run(at("blog"), ["exec", "-e", "return import('./skills/tidy')"])).exitCode).toBe(6);
  expect((await run(at("blog"), ["exec", "-e", "return fs.readFile('./workspace/skills/tidy.ts')"])).exitCode).toBe(6);
  expect(await search(at("shop", "src"))).toContain("tidyUp");
  expect(readdirSync(at("shop")).sort()).toEqual([".git", "src"]);
});

test("a workspace that the config names is used for all projects", async () => {
  ownConfig({ workspace: "all" });
  const found = await Promise.all([at("shop"), at("blog")].map(workspaceIn));
  expect(found).toEqual([at("home", ".config", "claudikins", "all"), at("home", ".config", "claudikins", "all")]);
});

test("a project with a config has its workspace beside the config", async () => {
  folder.write("shop/claudikins.json", {});
  expect(await workspaceIn(at("shop", "src"))).toBe(at("shop", ".claudikins", "workspace"));
});

test("servers of the user's config are not started in a folder that sandboxed code writes to", async () => {
  const marked = at("marks");
  ownConfig({ mcpServers: { seen: fixture("seen") } });
  folder.write("shop/claudikins.json", { workspace: "data/for-code" });
  // The first command registers its workspace, which is not in a default place.
  expect((await run(at("shop"), ["exec", "-e", "return fs.writeFile('./workspace/a', 'x')"])).exitCode).toBe(0);
  await Bun.file(at("shop", "claudikins.json")).delete();
  const places = [
    dirname(await workspaceIn(at("blog"))),
    join(await workspaceIn(at("blog")), "outputs"),
    at("shop", "data", "for-code", "deep"),
    at("blog", ".claudikins", "workspace"),
  ];
  for (const place of places) {
    const below = place.slice(folder.path.length + 1);
    folder.write(`${below}/bunfig.toml`, 'preload = ["./evil.ts"]\n');
    folder.write(`${below}/evil.ts`, `require("node:fs").appendFileSync(${JSON.stringify(marked)}, "ran");\n`);
    const { exitCode, stdout } = await run(place, ["call", "seen.seen"]);
    expect({ exitCode, cwd: JSON.parse(stdout).cwd, marked: existsSync(marked) }).toEqual({
      exitCode: 0,
      cwd: at("home"),
      marked: false,
    });
  }
  expect(JSON.parse((await run(at("blog"), ["call", "seen.seen"])).stdout).cwd).toBe(at("blog"));
});
