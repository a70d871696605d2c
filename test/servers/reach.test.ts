/** Where a server may send us to sign in: one on the internet never to this machine, its network or a cloud's metadata. */
import { afterEach, describe, expect, test } from "bun:test";
import { privateFetch } from "../../src/servers/auth/private-fetch.ts";
import { checkReach, kindOf, type Resolve } from "../../src/servers/auth/reach.ts";
import { NetworkFailure } from "../../src/servers/failures/network-failure.ts";

const names: Record<string, string[]> = {
  "mcp.example.com": ["93.184.216.34"],
  "auth.example.com": ["2606:2800:220:1::1"],
  "inside.example.com": ["10.1.2.3"],
  "rebound.example.com": ["93.184.216.34", "127.0.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "mapped.example.com": ["::ffff:10.0.0.1"],
  "intranet.corp": ["10.9.9.9"],
  "login.corp": ["192.168.7.7"],
};
const resolve: Resolve = async (name) => {
  const found = names[name];
  if (!found) throw new Error("ENOTFOUND");
  return found;
};

const isAllowed = (to: string, from: string) =>
  checkReach(new URL(to), new URL(from), resolve).then(
    () => true,
    (error: unknown) => {
      expect(error).toBeInstanceOf(NetworkFailure);
      return false;
    },
  );

describe("a server on the internet", () => {
  const from = "https://mcp.example.com/mcp";

  test.each([
    "https://mcp.example.com:8443/",
    "https://auth.example.com/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://not-to-be-resolved.example/",
  ])("may send us to %s", async (to) => expect(await isAllowed(to, from)).toBe(true));

  test.each([
    "http://127.0.0.1/",
    "http://127.1:6379/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://db.localhost/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://224.0.0.1/",
    "https://inside.example.com/",
    "https://rebound.example.com/",
    "https://metadata.example.com/",
    "https://mapped.example.com/",
  ])("may not send us to %s", async (to) => expect(await isAllowed(to, from)).toBe(false));
});

describe("a server of this machine or its network", () => {
  test.each([
    ["http://127.0.0.1:3000/mcp", "http://127.0.0.1:4000/", true],
    ["http://localhost:3000/mcp", "http://[::1]:4000/", true],
    ["http://localhost:3000/mcp", "https://auth.example.com/", true],
    ["http://localhost:3000/mcp", "https://login.corp/", true],
    ["http://localhost:3000/mcp", "http://169.254.169.254/", false],
    ["http://localhost:3000/mcp", "http://[fd00:ec2::254]/", false],
    ["https://intranet.corp/mcp", "https://login.corp/", true],
    ["https://intranet.corp/mcp", "https://intranet.corp:8443/", true],
    ["https://intranet.corp/mcp", "https://auth.example.com/", true],
    ["https://intranet.corp/mcp", "http://127.0.0.1/", false],
    ["https://intranet.corp/mcp", "https://metadata.example.com/", false],
    // A name with addresses on the internet and on this machine counts as on the internet.
    ["https://rebound.example.com/mcp", "http://127.0.0.1/", false],
  ])("%s sends us to %s: %p", async (from, to, expected) => expect(await isAllowed(to, from)).toBe(expected));
});

test("an address inside an address counts as its target", () => {
  expect(["::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"].map(kindOf)).toEqual(["public", "public", "public"]);
  expect(["fe80::1%eth0", "::ffff:a9fe:a9fe"].map(kindOf)).toEqual(["forbidden", "forbidden"]);
});

describe("a request for a sign-in", () => {
  let listener: Bun.TCPSocketListener<undefined> | undefined;
  afterEach(() => listener?.stop(true));

  test.each(["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "0x7f.1"])(
    "to this machine from another one is not even connected: %s",
    async (host) => {
      let connections = 0;
      listener = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          open(socket) {
            connections += 1;
            socket.end();
          },
          data() {},
        },
      });
      const fetch = privateFetch(new URL("https://mcp.example.com/mcp"), AbortSignal.timeout(20_000));
      for (const init of [{}, { method: "POST", body: "grant_type=refresh_token" }]) {
        const asked = fetch(`https://${host}:${listener.port}/token`, init);
        expect(await asked.catch((error: NetworkFailure) => [error.code, error.message])).toEqual([
          "PROTOCOL_ERROR",
          expect.stringContaining("which only this machine or its network can reach"),
        ]);
      }
      expect(connections).toBe(0);
    },
  );
});
