/** Replicas whose addresses are of IPv6, and systems without IPv6. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executeRequest, rawSession, resultText } from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { runProgram, shellLine } from "../../support/process.ts";
import { openReplicas } from "../../support/replicas.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const support = (name: string) => JSON.stringify(join(import.meta.dir, "../../support", name));
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

  test.skipIf(!canIsolate)("need no address of IPv4 at all (skipped without root, unshare and ip)", async () => {
    folder.write("claudikins.json", { mcpServers: {} });
    folder.write("token", token);
    const file = folder.write("network.ts", inNetwork);
    const script = `${onlyIpv6} && exec ${shellLine([process.execPath, file])}`;
    const env = { CLAUDIKINS_DATABASE: await server.database(), PATH: `${process.env["PATH"]}:/sbin:/usr/sbin` };
    const { stdout, stderr } = await runProgram(["unshare", "--net", "sh", "-c", script], { cwd: folder.path, env });
    expect({ stdout, stderr }).toEqual({ stdout: "42 http://[fd00::7]\n", stderr: "" });
  });
});

/** Commands that leave a network with addresses of IPv6 alone. The database is reached by its socket in the file system. */
const onlyIpv6 = "ip link set lo up && ip addr del 127.0.0.1/8 dev lo && ip addr add fd00::7/64 dev lo nodad";

const canIsolate = process.getuid?.() === 0 && Bun.which("unshare") !== null && Bun.which("ip") !== null;

/** A session at one replica gets its answer at another one. Prints the answer, and where others reach the first one. */
const inNetwork = `
  import { executeRequest, rawSession, resultText } from ${support("http-serve.ts")};
  import { openReplicas } from ${support("replicas.ts")};
  const server = { database: async () => process.env.CLAUDIKINS_DATABASE };
  const options = { port: "[::]:0", flags: ["--token-file", "token"], env: { CLAUDIKINS_REPLICA_HOST: "fd00::7" } };
  const set = await openReplicas({ path: process.cwd() }, server, 2, options);
  const [one, two] = set.all.map(({ url }) => "http://[fd00::7]:" + new URL(url).port + "/mcp");
  const authorization = "Bearer ${token}";
  const session = await rawSession(one, undefined, {}, "raw", { authorization });
  const accept = "application/json, text/event-stream";
  const headers = { authorization, accept, "content-type": "application/json", "mcp-session-id": session.id };
  const answer = await fetch(two, { method: "POST", headers, body: JSON.stringify(executeRequest(1, "return 6 * 7")) });
  console.log(await resultText(answer), /answers at ([^ ]+):/.exec(set.all[0].stderr())[1]);
  await set[Symbol.asyncDispose]();
  process.exit(0);
`;

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
