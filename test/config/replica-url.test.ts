/** The address at which other replicas reach this one. */
import { expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { replicaUrl } from "../../src/config/replica-url.ts";

test("the address of a replica is the one in the environment, or else the one that is listened on", () => {
  const listens = "http://127.0.0.1:4600/mcp";
  expect(replicaUrl({}, listens)).toBe("http://127.0.0.1:4600");
  expect(replicaUrl({ CLAUDIKINS_REPLICA_URL: "http://10.0.0.7:4600/" }, listens)).toBe("http://10.0.0.7:4600");
  expect(replicaUrl({ CLAUDIKINS_REPLICA_URL: "https://one.example.com" }, listens)).toBe("https://one.example.com");
});

test("a host stands beside the port that is listened on, and an address of IPv6 in brackets", () => {
  const at = (host: string, listens = "http://[::]:4600/mcp") => replicaUrl({ CLAUDIKINS_REPLICA_HOST: host }, listens);
  expect(at("fd00::7")).toBe("http://[fd00::7]:4600");
  expect(at("10.0.0.7", "http://0.0.0.0:8080/mcp")).toBe("http://10.0.0.7:8080");
  expect(at("one.replicas.svc")).toBe("http://one.replicas.svc:4600");
  expect(replicaUrl({ CLAUDIKINS_REPLICA_URL: "http://[fd00::7]:4600" }, "http://[::]:1")).toBe(
    "http://[fd00::7]:4600",
  );
});

test.each(["fd00::7:4600:", "10.0.0.7:4600", "[fd00::7]", "http://one", "me@one", "one/two", "-"])(
  "%s is refused as the host of a replica",
  (host) => {
    expect(() => replicaUrl({ CLAUDIKINS_REPLICA_HOST: host }, "http://[::]:4600")).toThrow(
      "CLAUDIKINS_REPLICA_HOST is not a host",
    );
  },
);

test("an address that stands for all addresses of the machine is replaced by one that others can use", () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  const { hostname, port } = new URL(replicaUrl({}, "http://0.0.0.0:4600/mcp"));
  expect([[...own, "localhost"].includes(hostname.replace(/^\[|\]$/g, "")), port]).toEqual([true, "4600"]);
});

test.each([
  "10.0.0.7:4600",
  "http://me:secret@10.0.0.7",
  "http://10.0.0.7/mcp",
  "postgres://10.0.0.7",
  "http://fd00::1:4600",
  "x",
])("%s is refused as the address of a replica, and the error does not repeat it", (given) => {
  const thrown = (() => {
    try {
      return replicaUrl({ CLAUDIKINS_REPLICA_URL: given }, "http://127.0.0.1:4600");
    } catch (error) {
      return error as Error & { code: string };
    }
  })();
  expect(thrown).toMatchObject({ code: "CONFIG_INVALID" });
  expect(String(thrown)).not.toContain("secret");
});
