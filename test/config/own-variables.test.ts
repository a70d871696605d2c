/** Variables that an entry sets itself, and variables that nobody sets. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { expect, test } from "bun:test";
import { loadConfig, unfilledText } from "../../src/config/load.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = ownFolder();
const server = async (entry: object, env: Record<string, string> = {}) => {
  folder.write("claudikins.json", { mcpServers: { r: entry } });
  const { servers } = await loadConfig({ cwd: folder.path, env: { HOME: folder.path, CI: "true", ...env } });
  return servers.get("r")!;
};
const remote = { command: "npx", args: ["mcp-remote", "https://x.example", "--header", "Authorization:${AUTH}"] };

test("a variable in arguments is looked up in the entry's own env first", async () => {
  const own = { ...remote, env: { AUTH: "Bearer ${TOKEN}" } };
  const { args, needs } = (await server(own, { AUTH: "other", TOKEN: "t" })) as { args: string[]; needs: string[] };
  expect([args.at(-1), needs]).toEqual(["Authorization:Bearer t", []]);
  const { needs: missing } = await server(own);
  expect(missing).toEqual(["TOKEN"]);
});

test("a variable in an address or a header is looked up in the entry's own env first, which goes no further", async () => {
  const entry = { url: "https://${HOST}/mcp", headers: { A: "${KEY}" }, env: { HOST: "a.example", KEY: "k", N: 5 } };
  const found = await server(entry, { KEY: "other" });
  expect(found).toMatchObject({ url: "https://a.example/mcp", headers: { A: "k" }, needs: [], variables: {} });
  expect(found).not.toHaveProperty("env");
  expect((await server({ ...entry, env: {} })).needs).toEqual(["HOST", "KEY"]);
});

test("a variable in arguments that nobody sets is passed on as it is written, with a note", async () => {
  const found = await server({ command: "sh", args: ["-c", "echo ${f} ${SET} ${X:-y}"] }, { SET: "s" });
  expect(found).toMatchObject({ args: ["-c", "echo ${f} s y"], needs: [], unfilled: ["f"] });
  expect(unfilledText(found)).toBe(
    'The arguments of "r" have ${f}, which is not set and is passed on as it is written',
  );
  expect(unfilledText(await server({ command: "sh" }))).toBeUndefined();
});

test("an entry's own variables do not count as variables of the environment", async () => {
  const { variables } = await server({ ...remote, env: { AUTH: "${TOKEN}" } }, { TOKEN: "t", AUTH: "other" });
  expect(variables).toEqual({ TOKEN: "t" });
});
