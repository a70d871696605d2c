/** A web API from its OpenAPI document to results in programs: `add --openapi`, search, calls, pages, files and errors, over real HTTP. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PetsApi } from "../fixtures/pets-api.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
const api = new PetsApi("key");
afterAll(() => {
  api[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const env = { PETS_KEY: "sesame-12345" };
const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env });
const program = async (code: string) => {
  const { exitCode, stdout, stderr } = await run("exec", "-e", code, "--json");
  expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
  return JSON.parse(stdout).value;
};

beforeAll(async () => {
  const added = await run("add", "pets", "--openapi", api.document, "--auth", "${PETS_KEY}");
  expect([added.exitCode, added.stdout]).toEqual([0, expect.stringContaining(": 5 tools\n")]);
});

test("add writes the entry with a reference to the credential", () => {
  const file = join(folder.path, ".config", "claudikins", "claudikins.json");
  expect(JSON.parse(readFileSync(file, "utf8")).mcpServers).toEqual({
    pets: { openapi: api.document, auth: "${PETS_KEY}" },
  });
});

test("list says that it is a web API", async () => {
  const { stdout } = await run("list", "--json");
  expect(JSON.parse(stdout).servers[0]).toMatchObject({ server: "pets", transport: "openapi", tools: 5 });
});

test("a search finds an operation, with the type of its result and its pages", async () => {
  const { stdout } = await run("search", "list pets");
  expect(stdout).toContain(
    "pets.list_pets(args?: { cursor?: string; limit?: number }): Promise<{ data: { id: number; name: string }[]; next_cursor?: string }> /* all items: .pages(args) */",
  );
});

describe("a program", () => {
  test("gets the value of an operation", async () => {
    expect(await program("return await pets.get_pet({ id: 7 })")).toEqual({ id: 7, name: "Pet 7" });
    expect(await program("return await pets.delete_pet.raw({ id: 7 })")).toMatchObject({
      content: [{ type: "text", text: "null" }],
    });
  });

  test("iterates over 10,000 items, and stops where it wants", async () => {
    api.asked.length = 0;
    const all = await program(
      "let n = 0; for await (const pet of pets.list_pets.pages({ limit: 2500 })) n += pet.id; return n",
    );
    expect([all, api.asked]).toEqual([
      50_005_000,
      ["GET /v1/pets?limit=2500", ...[2500, 5000, 7500].map((at) => `GET /v1/pets?cursor=${at}&limit=2500`)],
    ]);
    api.asked.length = 0;
    const first = await program(
      "for await (const pet of pets.list_pets.pages({ limit: 2 })) if (pet.id === 3) return pet",
    );
    expect([first, api.asked.length]).toEqual([{ id: 3, name: "Pet 3" }, 2]);
  });

  test("hears that a tool has no pages before the tool is called", async () => {
    api.asked.length = 0;
    const code =
      "try { for await (const each of pets.get_pet.pages({ id: 1 })); } catch (e) { return [e.code, e.message] }";
    expect(await program(code)).toEqual(["INVALID_ARGUMENTS", "pets.get_pet has no pages that claudikins recognises"]);
    expect(api.asked).toEqual([]);
  });

  test("gets the status and the body of an error", async () => {
    const code = "try { await pets.get_pet({ id: 20000 }) } catch (e) { return [e.message.split('\\n')[0], e.data] }";
    expect(await program(code)).toEqual([
      "404 Not Found: No such pet",
      { status: 404, body: { message: "No such pet" } },
    ]);
  });

  test("sends a file of the workspace", async () => {
    const code = `import fs from "node:fs/promises";
      await fs.writeFile("workspace/note.txt", "hello");
      return await pets.upload_photo({ file: "workspace/note.txt" })`;
    expect(await program(code)).toEqual({ name: "note.txt", text: "hello" });
  });

  test("gets a file in the workspace", async () => {
    const code = `import fs from "node:fs/promises";
      const { file, bytes, mediaType } = await pets.get_photo();
      return [bytes, mediaType, (await fs.stat("workspace/" + file)).size]`;
    expect(await program(code)).toEqual([1000, "image/png", 1000]);
  });

  test("sends no file from elsewhere", async () => {
    for (const path of ["/etc/hostname", "../../etc/hostname", "workspace/../../x"]) {
      const code = `try { await pets.upload_photo({ file: ${JSON.stringify(path)} }) } catch (e) { return e.code }`;
      expect([path, await program(code)]).toEqual([path, "INVALID_ARGUMENTS"]);
    }
  });
});

test("a credential that is wrong is named, and not shown", async () => {
  const { exitCode, stderr } = await cli(["call", "pets.get_pet", "id=1"], {
    cwd: folder.path,
    env: { PETS_KEY: "wrong-secret-99" },
  });
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining('check "auth" of "pets" in the config')]);
  expect(stderr).not.toContain("wrong-secret-99");
});

test("a document that does not exist is an error with the next step", async () => {
  const { exitCode, stderr } = await run("add", "other", "--openapi", `${api.url}/v1/nothing`);
  expect([exitCode !== 0, stderr]).toEqual([true, expect.stringContaining("--no-check")]);
});

describe("the flags of a web API", () => {
  const failed = async (...argv: string[]) => (await run("add", ...argv)).stderr;

  test("need a document", async () => {
    expect(await failed("x", "--base-url", "https://a.example")).toContain("--base-url only applies to --openapi");
  });

  test("name several credentials by their schemes", async () => {
    expect(await failed("x", "--openapi", api.document, "--auth", "a", "--auth", "b")).toContain(
      "each names its security scheme",
    );
  });
});

test("an API that cannot be reached is named in the error, and the next call is tried", async () => {
  const document = (await (await fetch(api.document)).json()) as object;
  const config = {
    mcpServers: {
      away: { openapi: folder.write("away.json", JSON.stringify(document)), baseUrl: "http://127.0.0.1:9" },
    },
  };
  const file = folder.write("away-config.json", JSON.stringify(config));
  const code = "return await Promise.allSettled([away.get_pet({ id: 1 }), away.delete_pet({ id: 1 })])";
  const { stdout } = await run("exec", "--config", file, "-e", code, "--json");
  const { value } = JSON.parse(stdout);
  for (const { reason } of value) expect(JSON.stringify(reason)).toContain("nothing listens at http://127.0.0.1:9");
});
