/** The sessions of a replica in the store that all replicas share. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { silentLog } from "../../../src/base/log.ts";
import { SharedSessions } from "../../../src/serve/http/replicas/shared-sessions.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import type { Replica } from "../../../src/store/replicas.ts";
import { postgresFixture, postgresNote } from "../../support/postgres.ts";

setDefaultTimeout(60_000);

const parameters = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "agent", version: "1" } };

function sessionsOf(store: PostgresStore, replica: Replica, idleMs: number): SharedSessions {
  const { sessions: rows } = store.replicas;
  return new SharedSessions({
    rows,
    replica: () => replica,
    place: "config",
    idleMs,
    log: silentLog,
    here: new Map(),
  });
}

test.skipIf(postgresNote !== "")(
  `a session that is not in the store yet is not taken for one that another replica has${postgresNote}`,
  async () => {
    await using server = await postgresFixture();
    await using store = new PostgresStore(await server.database());
    await using replica = await store.replicas.join("http://127.0.0.1:9");
    const sessions = sessionsOf(store, replica, 0);
    const [begun, beginning] = [
      { id: "begun", unusedMs: 0, isConnected: true },
      { id: "beginning", unusedMs: 0, isConnected: true },
    ];
    await sessions.begin({ id: begun.id, owner: undefined, client: "agent", parameters });
    expect(await sessions.tend([begun, beginning])).toEqual([]);
    expect(await sessions.confirm([begun, beginning])).toEqual([]);
    await store.replicas.sessions.end(begun.id, replica.name);
    expect(await sessions.confirm([begun, beginning])).toEqual(["begun"]);
  },
);

test.skipIf(postgresNote !== "")(
  `every replica knows whether the client of a session is connected${postgresNote}`,
  async () => {
    await using server = await postgresFixture();
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using otherStore = new PostgresStore(url);
    const replica = await store.replicas.join("http://127.0.0.1:9");
    await using other = await otherStore.replicas.join("http://127.0.0.1:10");
    const [here, there] = [sessionsOf(store, replica, 60_000), sessionsOf(otherStore, other, 60_000)];
    expect(await there.isConnected("s")).toBe(false);
    await here.begin({ id: "s", owner: undefined, client: "agent", parameters });
    expect(await there.isConnected("s")).toBe(true);
    await here.tend([{ id: "s", unusedMs: 0, isConnected: false }]);
    expect(await there.isConnected("s")).toBe(false);
    await here.tend([{ id: "s", unusedMs: 0, isConnected: true }]);
    expect(await there.isConnected("s")).toBe(true);
    await replica[Symbol.asyncDispose]();
    expect(await there.isConnected("s")).toBe(false);
  },
);
