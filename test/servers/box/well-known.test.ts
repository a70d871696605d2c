/** Well-known servers work in the sandbox that the catalog has for them. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { catalogServers } from "../../../src/tools/server-catalog.ts";
import { catalogSandbox, started, wellKnownServers } from "../../support/confined-servers.ts";
import { withoutSandbox } from "../../support/sandbox.ts";
import { diskFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = temporaryFolder(diskFolder);
afterAll(() => folder[Symbol.dispose]());

describe.skipIf(withoutSandbox !== undefined)("the sandbox of the catalog", () => {
  test.each(wellKnownServers(folder.path))("is enough for $name", async (server) => {
    const sandbox = await catalogSandbox(server.name, folder.path);
    expect(await started(server, sandbox, folder.path)).toEqual({
      ms: expect.any(Number),
      megabytes: expect.any(Number),
    });
  });

  test("opens the folder of the memory, which is lost without it", async () => {
    using other = temporaryFolder(diskFolder);
    const memory = wellKnownServers(other.path).find(({ name }) => name === "memory")!;
    const file = join(other.path, "data", "memory.json");
    await started(memory, {}, other.path);
    expect(existsSync(file)).toBe(false);
    await started(memory, await catalogSandbox("memory", other.path), other.path);
    expect(readFileSync(file, "utf8")).toContain('"name":"a"');
  });
});

test("each program of the catalog has a sandbox or a reason why it has none, and servers on the network have neither", () => {
  for (const { name, server, confined } of catalogServers()) {
    expect([name, confined !== undefined]).toEqual([name, "command" in server]);
  }
});
