/** How failures of servers are shown by the executable: after exec, in the answer of execute_code, and by list --check. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { freePort } from "../support/free-port.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

const secret = "s3cret";

let folder: TemporaryFolder;
let busy: NetworkFixture;
beforeAll(async () => {
  folder = temporaryFolder();
  busy = await networkFixture("busy-for-long");
  const byHand = (what: string) => ({ ...fixture("by-hand", what, folder.path, secret), env: { TOKEN: secret } });
  const broken = {
    crashes: byHand("missing-key"),
    hangs: { ...byHand("hangs"), startTimeoutMs: 3_000 },
    refuses: byHand("refuses"),
    cannotList: byHand("cannot-list"),
    notThere: { command: "no-such-command-anywhere", args: [secret] },
    needy: { command: "x", env: { TOKEN: `\${NO_SUCH_VARIABLE}` } },
    gone: { url: `http://me:${secret}@127.0.0.1:${freePort()}/${secret}` },
  };
  folder.write("claudikins.json", {
    mcpServers: { ...broken, busy: { url: `http://127.0.0.1:${busy.port}/mcp?key=${secret}` } },
  });
  // A session lists new servers in the background, and only the first request finds this server busy.
  folder.write("session.json", { mcpServers: broken });
});
afterAll(async () => {
  await busy.kill();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

/** The text, without what differs between runs and without the padding of tables. */
const plain = (text: string) =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
    .replaceAll(/ · [\d,.]+ m?s\]/g, " · N ms]")
    .replaceAll(/ \((?:failed \d times in a row, )?not tried again[^)]*\)/g, "")
    .replaceAll(/can be retried in \d+ (min|s)/g, "can be retried in N $1")
    .replaceAll(/\b\d+ +\d+ MB/g, "PID  N MB")
    .replaceAll(/ {2,}(?=\S)/g, "  ");

const names = ["crashes", "hangs", "refuses", "cannotList", "notThere", "needy", "gone", "busy"];

test("exec says what failed, where in the code, and what to do", async () => {
  const runs = names.slice(0, -1).map(async (name) => {
    const { stdout, stderr, exitCode } = await runProgram([executable(), "exec", "-e", `return await ${name}.go()`], {
      cwd: folder.path,
    });
    expect({ stdout, name, exitCode }).toEqual({ stdout: "", name, exitCode: name === "needy" ? 2 : 4 });
    return stderr;
  });
  const text = (await Promise.all(runs)).join("\n");
  expect(text).not.toContain(secret);
  expect(plain(text)).toMatchSnapshot();
});

test("execute_code says to a model what failed, and what its user must do", async () => {
  const [command, args] = [executable(), ["serve", "--config", join(folder.path, "session.json")]];
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command, args, cwd: folder.path, env: testEnvironment(), stderr: "pipe" }),
  );
  const texts: string[] = [];
  for (const name of names.slice(0, -1)) {
    const code = `return await ${name}.go()`;
    const { content, isError } = await client.callTool({ name: "execute_code", arguments: { code } });
    expect(isError).toBe(true);
    // The background decides which other servers are known to be down.
    texts.push((content as { text: string }[])[0]?.text ?? "");
  }
  await client.close();
  const text = texts.join("\n\n");
  expect(text).not.toContain(secret);
  expect(text).not.toContain(folder.path);
  expect(plain(text)).toMatchSnapshot();
});

test("list --check lists every server, then why each broken one cannot be used", async () => {
  const { stdout, stderr, exitCode } = await runProgram([executable(), "list", "--check"], { cwd: folder.path });
  expect(exitCode).toBe(4);
  expect(stdout + stderr).not.toContain(secret);
  expect(plain(`${stdout}\n${stderr}`)).toMatchSnapshot();
});
