/** Replicas whose addresses are of IPv6, and systems without IPv6. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { executeRequest, rawSession, resultText } from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { runProgram } from "../../support/process.ts";
import { openReplicas } from "../../support/replicas.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const token = "0123456789abcdef0123456789abcdef";

describe.skipIf(postgresNote !== "")(`replicas with addresses of IPv6${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("listen on both families, and pass requests on to the host that each names", async () => {
    folder.write("claudikins.json", { mcpServers: {} });
    folder.write("token", token);
    const env = { CLAUDIKINS_REPLICA_HOST: "::1" };
    const flags = ["--token-file", `${folder.path}/token`];
    await using set = await openReplicas(folder, server, 2, { port: "[::]:0", flags, env });
    const [one, two] = set.all;
    const port = new URL(one!.url).port;
    expect(one!.stderr()).toContain(`answers at http://[::1]:${port}`);
    const session = await rawSession(`http://127.0.0.1:${port}/mcp`, undefined, {}, "raw", {
      authorization: `Bearer ${token}`,
    });
    const elsewhere = await fetch(`http://[::1]:${new URL(two!.url).port}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": session.id,
      },
      body: JSON.stringify(executeRequest(1, "return 6 * 7")),
    });
    expect(await resultText(elsewhere)).toBe("42");
  });
});

/** The numbers of `socket` and of the words that seccomp compares, on the processors that we know. */
const socketCall = { x64: 41, arm64: 198 }[process.arch as string];

/** A system without IPv6: the kernel refuses such sockets to the process. Then listens on every address, and prints the one that it has. */
const withoutIpv6 = `
  import { dlopen, ptr } from "bun:ffi";
  import { listen } from ${JSON.stringify(new URL("../../../src/serve/http/listen.ts", import.meta.url).pathname)};
  const { symbols } = dlopen("libc.so.6", { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } });
  const step = (code, yes, no, value) => [code | (yes << 16) | (no << 24), value];
  const [load, isEqual, end, noFamily, allow] = [0x20, 0x15, 0x06, 0x00050000 | 97, 0x7fff0000];
  const steps = new Uint32Array([
    step(load, 0, 0, 0), step(isEqual, 0, 3, ${socketCall}), step(load, 0, 0, 16), step(isEqual, 0, 1, 10),
    step(end, 0, 0, noFamily), step(end, 0, 0, allow),
  ].flat());
  const filter = new BigUint64Array([6n, BigInt(ptr(steps))]);
  if (symbols.prctl(38, 1, 0, 0, 0) + symbols.prctl(22, 2, ptr(filter), 0, 0) !== 0) throw new Error("no filter");
  const server = listen({ host: "::", port: 0, maxBodyBytes: 1 }, async () => new Response("here"));
  console.log(server.address.family, await (await fetch(\`http://127.0.0.1:\${server.port}\`)).text());
  server.stop(true);
  process.exit(0);
`;

test.skipIf(process.platform !== "linux" || socketCall === undefined)(
  "a system without IPv6 listens on all addresses of IPv4 (skipped where seccomp is not known)",
  async () => {
    const file = folder.write("listen.ts", withoutIpv6);
    const { stdout, stderr } = await runProgram([process.execPath, file], { cwd: folder.path });
    expect({ stdout, stderr }).toEqual({ stdout: "IPv4 here\n", stderr: "" });
  },
);
