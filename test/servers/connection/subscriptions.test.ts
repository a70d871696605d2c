/** Listeners to a resource share one subscription, which is renewed on each new connection and ends with the last listener. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { ClaudikinsError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { defaultServerTimes } from "../../../src/config/defaults.ts";
import type { ServerConfig } from "../../../src/config/load.ts";
import { policyOf } from "../../../src/config/policy.ts";
import { backoffTimes } from "../../../src/servers/connection/lifecycle.ts";
import { Pool } from "../../../src/servers/pool.ts";
import { toolValue } from "../../../src/servers/result.ts";
import { eventually } from "../../support/eventually.ts";
import { networkFixture } from "../../support/network.ts";
import { processesLeft, processesWith } from "../../support/process.ts";
import { type Entry, fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let pool: Pool;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await pool.close();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

/** A pool with the server "shop", and functions that wait for updates. */
function open(entry: Entry | { url: string } = fixture("protocol", "stdio", folder.path), more: object = {}) {
  const { PATH = "" } = process.env;
  const defaults = { args: [], env: {}, headers: {}, disabled: false, ...defaultServerTimes, needs: [] };
  const server = { ...defaults, transport: "http", ...entry, ...more, name: "shop" };
  const backoff = { ...backoffTimes, firstMs: 10, maxMs: 100 };
  pool = new Pool(new Map([["shop", server as never]]), { env: { PATH }, cwd: folder.path, log: silentLog, backoff });
}

/** A listener that counts updates and waits for a number of them. */
function listener() {
  const heard: string[] = [];
  let look = () => {};
  return {
    heard,
    listen: (uri: string) => {
      heard.push(uri);
      look();
    },
    async times(count: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      look = () => heard.length >= count && resolve();
      look();
      await promise;
    },
  };
}

async function call(tool: string, args: object = {}): Promise<unknown> {
  const value = toolValue(await pool.callTool("shop", tool, args), tool);
  return "json" in value ? JSON.parse(value.json) : value;
}

const touch = (uri: string) => call("touch-resource", { uri });
const subscriptionsSeen = async () => ((await call("seen")) as { subscriptions: string[] }).subscriptions;

test.each(["stdio", "http"])(
  "over %s listeners share one subscription, which ends with the last of them",
  async (way) => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    open(server && { url: `http://127.0.0.1:${server.port}/` });
    const [one, two, other] = [listener(), listener(), listener()];
    const ends = await Promise.all([
      pool.subscribe("shop", "file:///a", one.listen),
      pool.subscribe("shop", "file:///a", two.listen),
      pool.subscribe("shop", "file:///b", other.listen),
    ]);
    await touch("file:///a");
    await touch("file:///a/below");
    await touch("file:///ab");
    await touch("file:///b");
    await Promise.all([one.times(2), two.times(2), other.times(1)]);
    expect([one.heard, other.heard]).toEqual([["file:///a", "file:///a/below"], ["file:///b"]]);
    expect((await subscriptionsSeen()).sort()).toEqual(["+file:///a", "+file:///b"]);
    ends[0]();
    ends[0]();
    await touch("file:///a");
    await two.times(3);
    expect(one.heard.length).toBe(2);
    ends[1]();
    // A new subscription is requested after the old one has ended.
    const again = await pool.subscribe("shop", "file:///a", one.listen);
    expect((await subscriptionsSeen()).filter((each) => each.endsWith("a"))).toEqual([
      "+file:///a",
      "-file:///a",
      "+file:///a",
    ]);
    again();
  },
);

test("a server that dies is restarted and subscribed to again, and listeners are notified of possible changes", async () => {
  open();
  const { listen, heard, times } = listener();
  await pool.subscribe("shop", "file:///a", listen);
  await call("exit").catch(() => {});
  // No call starts the server again, only the listener.
  await times(1);
  expect(heard).toEqual(["file:///a"]);
  expect(await subscriptionsSeen()).toEqual(["+file:///a"]);
  await touch("file:///a");
  await times(2);
});

test("listeners stay when the entry of their server changes, and its old process ends", async () => {
  open();
  const { listen, heard, times } = listener();
  const end = await pool.subscribe("shop", "file:///a", listen);
  const [before] = processesWith(folder.path);
  pool.replaced(["shop"]);
  await times(1);
  expect(await subscriptionsSeen()).toEqual(["+file:///a"]);
  await touch("file:///a");
  await times(2);
  expect(heard).toEqual(["file:///a", "file:///a"]);
  await eventually(() => !processesWith(folder.path).includes(before!));
  end();
  expect(await subscriptionsSeen()).toEqual(["+file:///a", "-file:///a"]);
});

test.each(["is gone", "has no resources that are allowed"])(
  "listeners and the process of a server end when it %s",
  async (what) => {
    open();
    const { listen, heard } = listener();
    const end = await pool.subscribe("shop", "file:///a", listen);
    const shop = pool.servers.get("shop")!;
    const servers = pool.servers as Map<string, ServerConfig>;
    if (what === "is gone") servers.delete("shop");
    else
      servers.set("shop", { ...shop, policy: policyOf("shop", { deny: ["*"] }, undefined, new Map([["shop", {}]])) });
    pool.replaced(["shop"]);
    expect(await processesLeft(folder.path)).toEqual([]);
    end();
    expect(heard).toEqual([]);
  },
);

test("a server with a listener is not idle", async () => {
  open(undefined, { idleTimeoutMs: 100 });
  const end = await pool.subscribe("shop", "file:///a", () => {});
  const [pid] = processesWith(folder.path);
  await Bun.sleep(400);
  expect(processesWith(folder.path)).toEqual([pid!]);
  end();
  await eventually(() => processesWith(folder.path).length === 0);
  expect(pool.state("shop")).toEqual({ state: "idle" });
});

test("a failed subscription says why, and has no listener", async () => {
  const shown = (error: ClaudikinsError) => `${error.code}: ${error.message} | ${error.hint}`;
  open(fixture("odd", folder.path));
  expect(await pool.subscribe("shop", "file:///a", () => {}).catch(shown)).toMatchInlineSnapshot(
    `"PROTOCOL_ERROR: Server "shop" does not support resource subscriptions | Poll the resource instead."`,
  );
  await pool.close();
  open(fixture("crash-on-start", folder.path));
  expect(await pool.subscribe("shop", "file:///a", () => {}).catch((error) => error.code)).toBe("SERVER_UNAVAILABLE");
  await pool.close();
  open(fixture("never-starts", folder.path));
  const signal = AbortSignal.timeout(100);
  expect(await pool.subscribe("shop", "file:///a", () => {}, { signal }).catch(shown)).toMatchInlineSnapshot(
    `"CANCELLED: shop: the resource file:///a was cancelled | undefined"`,
  );
  await expect(pool.subscribe("nope", "file:///a", () => {})).rejects.toMatchObject({ code: "SERVER_NOT_FOUND" });
});

test("changes of lists other than tools are announced too", async () => {
  open();
  const heard: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = pool.onListChanged((server, what) => heard.push(`${server} ${what}`) === 2 && resolve());
  await call("notify", { method: "notifications/resources/list_changed" });
  await call("notify", { method: "notifications/prompts/list_changed" });
  await promise;
  end();
  await call("notify", { method: "notifications/prompts/list_changed" });
  expect(heard).toEqual(["shop resources", "shop prompts"]);
});
