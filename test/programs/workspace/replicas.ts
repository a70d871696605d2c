/** Replicas that share a workspace: each has a store and a folder of its own, all in this process. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import { SharedWorkspace } from "../../../src/programs/workspace/shared-workspace.ts";
import type { Bucket } from "../../../src/store/postgres/bucket.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import type { PostgresFixture } from "../../support/postgres.ts";
import { temporaryFolder } from "../../support/temporary.ts";

export const config = "/etc/claudikins.json";
export const person = { id: "3f0c52b9a1d4", name: "ann" };

/** Replicas with one database. */
export async function workspaceReplicas(server: PostgresFixture) {
  const url = await server.database();
  const folder = temporaryFolder();
  const stores: PostgresStore[] = [];
  const warnings: string[] = [];
  /** A replica that is started with the folder of this name, which may have files already. */
  const start = (name: string, bucket?: Bucket) => {
    const store = new PostgresStore(url, { bucket });
    stores.push(store);
    const path = join(folder.path, name, "workspace");
    const folders = { workspace: path, registry: path, bases: { workspace: folder.path, registry: folder.path } };
    const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
    const origin = { kind: "project", file: config } as const;
    const parts = { origin, person, folders: { ...folders, workspaceName: "/srv/workspace" } };
    const workspace = new SharedWorkspace(store.files, parts as never, log);
    const at = (file: string) => join(path, file);
    return {
      store,
      workspace,
      path,
      at,
      write: (file: string, content: string | Uint8Array, changedAt?: number) => {
        mkdirSync(dirname(at(file)), { recursive: true });
        writeFileSync(at(file), content);
        if (changedAt !== undefined) utimesSync(at(file), changedAt / 1_000, changedAt / 1_000);
      },
      remove: (file: string) => rmSync(at(file), { recursive: true }),
      /** The files and their texts, and folders without one. */
      files: () =>
        Object.fromEntries(
          (existsSync(path) ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [])
            .sort()
            .map((file) => [file, lstatSync(at(file)).isFile() ? readFileSync(at(file), "utf8") : null]),
        ),
    };
  };
  return {
    url,
    start,
    warnings,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
      folder[Symbol.dispose]();
    },
  };
}
