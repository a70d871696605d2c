/** doctor: the daemon and its files. */
import { beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { takeLock } from "../../../src/base/lock.ts";
import { version } from "../../../src/base/version.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, doctor } = home;

describe("the daemon", () => {
  const folderOf = () => at("run/claudikins");
  const look = () => doctor(undefined, { env: { XDG_RUNTIME_DIR: at("run") } });
  beforeEach(() => mkdirSync(folderOf(), { recursive: true, mode: 0o700 }));

  test("is reported if none runs, if its folder is open to others, or belongs to another user", async () => {
    expect((await look()).of("daemon.none")).toMatchObject({ state: "ok" });
    chmodSync(folderOf(), 0o755);
    expect((await look()).of("daemon.folder")).toEqual({
      state: "warning",
      message: "Other users of this machine can access the daemon folder: FOLDER/run/claudikins",
      repair: "chmod 700 FOLDER/run/claudikins",
    });
    rmSync(folderOf(), { recursive: true });
    mkdirSync(at("elsewhere"));
    symlinkSync(at("elsewhere"), folderOf());
    expect((await look()).of("daemon.folder")).toMatchObject({ state: "problem", code: "FILE_NOT_WRITABLE" });
  });

  test("is reported if its socket is stale, or if it does not answer", async () => {
    home.folder.write("run/claudikins/abc.lock", "");
    expect((await look()).of("daemon.none")).toMatchObject({ state: "ok" });
    home.folder.write("run/claudikins/abc.sock", "");
    expect((await look()).of("daemon.socket")).toMatchObject({
      state: "warning",
      repair: "rm FOLDER/run/claudikins/abc.sock",
    });
    const held = await takeLock(at("run/claudikins/abc.lock"), "test");
    expect((await look()).of("daemon.silent")).toMatchObject({
      state: "problem",
      message: "A daemon runs, and did not answer within 10 s: it is busy, was paused, or hangs",
      details: ["Its last log lines: tail FOLDER/run/claudikins/abc.log"],
    });
    held?.release();
  });

  test("is not called silent if it only answers late", async () => {
    const status = { pid: 7, version, config: null, startedAt: 0, calls: { running: 0, done: 0 }, servers: {} };
    const held = await takeLock(at("run/claudikins/abc.lock"), "test");
    using daemon = Bun.serve({
      unix: at("run/claudikins/abc.sock"),
      fetch: async () => {
        await Bun.sleep(3_000);
        return Response.json(status);
      },
    });
    const found = await look();
    expect([found.of("daemon.7")?.state, found.of("daemon.silent")]).toEqual(["ok", undefined]);
    held?.release();
    daemon.stop(true);
  });

  test("is reported if it runs, is older, or its config is gone", async () => {
    home.folder.write("run/claudikins/abc.lock", "");
    const status = {
      pid: 7,
      version,
      config: null as string | null,
      startedAt: 0,
      calls: { running: 0, done: 3 },
      servers: {},
    };
    using daemon = Bun.serve({ unix: at("run/claudikins/abc.sock"), fetch: () => Response.json(status) });
    expect((await look()).of("daemon.7")).toEqual({
      state: "ok",
      message: "A daemon is running for the demo: process 7, 3 calls done, 0 running",
    });
    status.config = at("gone.json");
    expect((await look()).of("daemon.7")).toMatchObject({
      state: "warning",
      repair: "claudikins daemon stop --config FOLDER/gone.json",
    });
    status.version = "0.0.1";
    expect((await look()).of("daemon.7")).toEqual({
      state: "warning",
      message: "A daemon of an older claudikins (0.0.1) is still running for FOLDER/gone.json: process 7",
      repair: "claudikins daemon stop --config FOLDER/gone.json",
    });
    daemon.stop(true);
  });
});
