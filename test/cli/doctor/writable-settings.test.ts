/** doctor: servers with access to a folder whose files decide what is started and allowed. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { fixture } from "../../support/servers.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, doctor, configure, run } = home;
const odd = fixture("odd");
const given = (...args: string[]) => ({ ...odd, args: [...odd.args, ...args] });

describe("a server that may write to the config's folder is a warning:", () => {
  const ways: Record<string, () => object> = {
    "by an argument": () => given(at(".")),
    "by its working directory": () => given("."),
    "as the value of a flag": () => given(`--root=${at(".")}`),
    "in a list": () => given(`${at("other")},${at(".")}`),
    "as a mount": () => given("-v", `${at(".")}:/data:rw`),
    "in a variable": () => ({ ...odd, env: { ALLOWED: at(".") } }),
    "from a variable": () => given("${HOME}"),
    "as the home": () => given("~"),
    "as everything": () => given("/"),
    "by a link": () => {
      symlinkSync(at("."), at("link"));
      return given(at("link"));
    },
    "as the file itself": () => given(at("claudikins.json")),
  };
  for (const [name, entry] of Object.entries(ways)) {
    test(name, async () => {
      configure({ odd: entry() });
      const { of, exitCode } = await doctor();
      const found = of("rules.odd");
      expect(exitCode).toBe(0);
      expect(found).toMatchObject({ state: "warning", repair: expect.stringContaining("mcpServers.odd") });
      expect(found?.details).toContain("the config: FOLDER/claudikins.json");
    });
  }
});

test("a server that may write to the registry's programs, skills, agents' settings or the trust store is a warning", async () => {
  for (const name of [".claudikins/registry", ".claudikins/workspace/skills", ".local/share/claudikins"])
    mkdirSync(at(name), { recursive: true });
  home.folder.write(".cursor/mcp.json", { mcpServers: {} });
  home.folder.write(".config/claudikins/claudikins.json", { mcpServers: {} });
  configure({ odd: given(at(".")) });
  const { details = [] } = (await doctor()).of("rules.odd") ?? {};
  for (const what of [
    "the config: ",
    "your own config: ",
    "generated programs of the registry: ",
    "skills ",
    "settings of Cursor: ",
  ])
    expect(details.some((line) => line.startsWith(what))).toBe(true);
  expect(details.some((line) => line.startsWith("your trusted configs and sign-ins"))).toBe(true);
});

test("a server is not a warning if it has its own folder, is denied, or only reads", async () => {
  mkdirSync(at("notes"));
  configure({ odd: given(at("notes")) });
  expect((await doctor()).of("rules.odd")).toBeUndefined();
  configure({ odd: { ...given("."), deny: ["*"] } });
  expect((await doctor()).of("rules.odd")).toBeUndefined();
  const recording = fixture("recording");
  const writes = async (...allow: string[]) => {
    configure({ recording: { ...recording, args: [...recording.args, "."], allow } });
    await run(["gen"]);
    return (await doctor()).of("rules.recording") !== undefined;
  };
  expect(await writes("read-it", "add-it")).toBe(true);
  expect(await writes("read-it")).toBe(false);
});
