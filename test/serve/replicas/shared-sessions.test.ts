/** The sessions of a replica in the store that all replicas share. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { silentLog } from "../../../src/base/log.ts";
import { SharedSessions } from "../../../src/serve/http/replicas/shared-sessions.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { postgresFixture, postgresNote } from "../../support/postgres.ts";

setDefaultTimeout(60_000);

test.skipIf(postgresNote !== "")(
  `a session that is not in the store yet is not taken for one that another replica has${postgresNote}`,
  async () => {
    await using server = await postgresFixture();
    await using store = new PostgresStore(await server.database());
    await using replica = await store.replicas.join("http://127.0.0.1:9");
    const sessions = new SharedSessions({
      rows: store.replicas.sessions,
      replica: () => replica,
      place: "config",
      idleMs: 0,
      log: silentLog,
      here: new Map(),
    });
    const [begun, beginning] = [
      { id: "begun", unusedMs: 0 },
      { id: "beginning", unusedMs: 0 },
    ];
    const parameters = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "agent", version: "1" } };
    await sessions.begin({ id: begun.id, owner: undefined, client: "agent", parameters });
    expect(await sessions.tend([begun, beginning])).toEqual([]);
    expect(await sessions.confirm([begun, beginning])).toEqual([]);
    await store.replicas.sessions.end(begun.id, replica.name);
    expect(await sessions.confirm([begun, beginning])).toEqual(["begun"]);
  },
);
