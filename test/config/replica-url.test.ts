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

test("an address that stands for all addresses of the machine is replaced by one that others can use", () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  const { hostname, port } = new URL(replicaUrl({}, "http://0.0.0.0:4600/mcp"));
  expect([[...own, "localhost"].includes(hostname.replace(/^\[|\]$/g, "")), port]).toEqual([true, "4600"]);
});

test.each(["10.0.0.7:4600", "http://me:secret@10.0.0.7", "http://10.0.0.7/mcp", "postgres://10.0.0.7", "x"])(
  "%s is refused as the address of a replica, and the error does not repeat it",
  (given) => {
    const thrown = (() => {
      try {
        return replicaUrl({ CLAUDIKINS_REPLICA_URL: given }, "http://127.0.0.1:4600");
      } catch (error) {
        return error as Error & { code: string };
      }
    })();
    expect(thrown).toMatchObject({ code: "CONFIG_INVALID" });
    expect(String(thrown)).not.toContain("secret");
  },
);
