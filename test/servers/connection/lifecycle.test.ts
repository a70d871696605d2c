/** The life of a server with real processes: its states, waits after failures, idle end, and calls that are sent again. */
import { afterEach, describe, expect, setDefaultTimeout, setSystemTime, test } from "bun:test";
import { join } from "node:path";
import { ClaudikinsError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { SharedTransport, sharedChannel } from "../../../src/daemon/shared/shared-channel.ts";
import type { ChannelOpener } from "../../../src/servers/connection/channel.ts";
import { type Connection, connect } from "../../../src/servers/connection/connect.ts";
import { backoffMs, backoffTimes, Lifecycle } from "../../../src/servers/connection/lifecycle.ts";
import { openDirectChannel } from "../../../src/servers/connection/open-channel.ts";
import { ConnectionLost } from "../../../src/servers/failures/server-failure.ts";
import type { Pool } from "../../../src/servers/pool.ts";
import { retryText, type ServerState, stateText } from "../../../src/servers/state.ts";
import { eventually } from "../../support/eventually.ts";
import { ownPool } from "../../support/own-pool.ts";
import {
  failureOf as failure,
  failureText,
  plainValue,
  type ServerEntry,
  serverConfig,
  surroundings,
} from "../../support/pool.ts";
import { processesLeft, processesWith } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const own = ownPool();
afterEach(() => void setSystemTime());

function open(entries: Record<string, ServerEntry>, backoff = backoffTimes): Pool {
  return own.open(entries, { backoff });
}

const flaky = () => fixture("flaky", join(own.mark, "starts"));

const call = async (tool: string, options = {}) =>
  String(plainValue(await own.pool.callTool("flaky", tool, {}, options)));

const laterBy = (ms: number) => void setSystemTime(Date.now() + ms);

async function until(name: string, state: ServerState["state"]): Promise<void> {
  await eventually(() => own.pool.state(name).state === state, { everyMs: 1 });
}

describe("the state", () => {
  test("changes from idle to starting, ready, gone, and ready again", async () => {
    open({ flaky: flaky() });
    expect(own.pool.state("flaky")).toEqual({ state: "idle" });
    const first = call("starts");
    expect(own.pool.state("flaky")).toEqual({ state: "starting", since: expect.any(Number) });
    await first;
    const [pid] = processesWith(own.mark);
    expect(own.pool.state("flaky")).toEqual({
      state: "ready",
      since: expect.any(Number),
      startMs: expect.any(Number),
      pid: pid as number,
    });
    process.kill(pid as number, "SIGKILL");
    await until("flaky", "broken");
    const state = own.pool.state("flaky");
    expect(state).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      why: "is gone: its process was ended by SIGKILL",
      failures: 1,
    });
    expect(stateText(state)).toBe("broken: is gone: its process was ended by SIGKILL");
    expect(await call("starts")).toBe("2");
    expect(own.pool.state("flaky").state).toBe("ready");
    await own.pool.close();
    expect(own.pool.state("flaky")).toEqual({ state: "idle" });
  });

  test("is broken for a server that does not start, or lacks a variable", async () => {
    open({
      crashes: fixture("crash-on-start", own.mark),
      needy: { command: "x", needs: ["A", "B"] },
    });
    for (const name of own.pool.servers.keys()) await failure(own.pool.listTools(name));
    // Waiting does not help if time changes nothing.
    for (let count = 0; count < 5; count++) {
      expect((await failure(own.pool.listTools("needy"))).code).toBe("NEEDS_VARIABLE");
    }
    const broken = { state: "broken", code: "SERVER_UNAVAILABLE", since: expect.any(Number) } as const;
    expect(Object.fromEntries(own.pool.states())).toEqual({
      crashes: {
        ...broken,
        why: "did not start: its process exited with code 3",
        hint: "Run its command from the config by hand to see more.",
        onPage: "Check its command, and look at its log.",
        failures: 1,
        retryAt: expect.any(Number),
        lasting: false,
        said: "fatal: no database at db://nowhere",
      },
      needy: { state: "needs", variables: ["A", "B"] },
    });
    expect([...own.pool.states().values()].map(stateText)).toEqual([
      "broken: did not start: its process exited with code 3",
      "needs A, B",
    ]);
  });

  test("is not defined for an unknown server", async () => {
    open({});
    expect(() => own.pool.state("__proto__")).toThrow('No server is called "__proto__"');
    expect(failureText(await failure(own.pool.listTools("x")))).toBe(
      'SERVER_NOT_FOUND: No server is called "x"\nhint: The config has no servers.',
    );
  });

  test("does not count a start that is cancelled by the end of claudikins as a failure", async () => {
    open({ never: fixture("never-starts", own.mark) });
    const waiting = failure(own.pool.listTools("never"));
    await eventually(() => processesWith(own.mark).length > 0, { everyMs: 1 });
    await own.pool.close();
    expect((await waiting).code).toBe("CANCELLED");
    expect(own.pool.state("never")).toEqual({ state: "idle" });
  });
});

describe("after failures", () => {
  test("backoffMs doubles the wait after each failure, is longer with an open circuit, and is a minute at most", () => {
    const waits = (random: number) =>
      Array.from({ length: 9 }, (_, count) => backoffMs(count + 1, backoffTimes, random));
    expect(waits(0.5)).toEqual([0, 250, 500, 1_000, 15_000, 30_000, 60_000, 60_000, 60_000]);
    expect(waits(0).slice(0, 5)).toEqual([0, 200, 400, 800, 12_000]);
    expect(waits(1).slice(0, 9)).toEqual([0, 300, 600, 1_200, 18_000, 36_000, 60_000, 60_000, 60_000]);
    expect(backoffMs(5_000)).toBe(60_000);
  });

  test("the second attempt has no delay; later calls fail at once with the same error and the time of the next attempt", async () => {
    open({ crashes: fixture("crash-on-start", own.mark) }, { ...backoffTimes, firstMs: 20_000 });
    const first = await failure(own.pool.listTools("crashes"));
    const second = await failure(own.pool.listTools("crashes"));
    expect([second.message, second.hint]).toEqual([first.message, first.hint]);
    const [third, fourth] = await Promise.all([
      failure(own.pool.listTools("crashes")),
      failure(own.pool.callTool("crashes", "x", {})),
    ]);
    expect(third.message.replace(/\d+ s/, "N s")).toMatchInlineSnapshot(`
      "Server "crashes" did not start: its process exited with code 3 (not tried again, can be retried in N s)
        | warming up
        | fatal: no database at db://nowhere"
    `);
    expect([third.code, third.hint, third.cause]).toEqual([first.code, first.hint, second]);
    expect(fourth.cause).toBe(second);
    // Nothing was started.
    expect(own.pool.state("crashes")).toMatchObject({ failures: 2 });
  });

  test("five failures in a row open the circuit, and one success closes it", async () => {
    const times = { ...backoffTimes, firstMs: 20_000 };
    const file = join(own.mark, "tools.json");
    open({ file: fixture("from-file", file) }, times);
    const seen: ServerState[] = [];
    while (seen.length < 5) {
      await failure(own.pool.listTools("file"));
      seen.push(own.pool.state("file"));
      if (seen.length < 5) laterBy(100_000);
    }
    expect(seen.map((state) => (state.state === "broken" ? state.failures : state.state))).toEqual([1, 2, 3, 4, 5]);
    expect((await failure(own.pool.listTools("file"))).message).toMatch(
      /^Server "file" did not start: .* \(failed 5 times in a row, not tried again, can be retried in \d+ s\)/,
    );
    own.folder.write("tools.json", "[]");
    laterBy(100_000);
    expect(await own.pool.listTools("file")).toEqual([]);
    expect(own.pool.state("file").state).toBe("ready");
  });

  test("a server that dies with each call has to wait too, until it answers", async () => {
    open({ flaky: flaky() }, { ...backoffTimes, firstMs: 20_000 });
    await failure(call("dies"));
    await failure(call("dies"));
    expect((await failure(call("starts"))).message).toMatch(
      /^Server "flaky" is gone: its process was ended by SIGKILL \(not tried again, can be retried in \d+ s\)$/,
    );
    await own.pool.close();
    open({ flaky: flaky() }, { ...backoffTimes, firstMs: 20_000 });
    for (const _ of [1, 2, 3]) {
      await failure(call("dies"));
      expect(Number(await call("starts"))).toBeGreaterThan(0);
    }
  });

  test("a server that needs a sign-in does not have to wait", async () => {
    let tries = 0;
    const life = new Lifecycle(serverConfig("far", { command: "x" }), async () => {
      throw new ClaudikinsError("AUTH_REQUIRED", `sign in, please (${++tries})`);
    });
    for (const _ of [1, 2, 3, 4, 5]) await failure(life.use(async () => {}, "x", {}));
    expect([tries, life.state]).toMatchObject([5, { state: "broken", code: "AUTH_REQUIRED", failures: 5 }]);
  });

  test("retryText describes the time until the next attempt", () => {
    const at = (retryAt: number | undefined) =>
      retryText({ state: "broken", code: "SERVER_UNAVAILABLE", why: "", since: 0, failures: 1, retryAt }, 1_000);
    expect([undefined, 500, 1_000, 1_001, 1_250, 2_000, 13_001].map(at)).toEqual([
      "",
      "retried on the next call",
      "retried on the next call",
      "can be retried in 100 ms",
      "can be retried in 300 ms",
      "can be retried in 1 s",
      "can be retried in 13 s",
    ]);
  });
});

describe("an idle server", () => {
  test("is still known by what it announced", async () => {
    open({ flaky: { ...flaky(), idleTimeoutMs: 1 } });
    expect(own.pool.offers("flaky", "tools")).toBeUndefined();
    await call("starts");
    await until("flaky", "idle");
    expect([own.pool.offers("flaky", "tools"), own.pool.offers("flaky", "prompts")]).toEqual([true, false]);
    const connection = await connect(
      serverConfig("flaky", flaky()),
      { ...surroundings(own.mark), onClose: () => {} },
      new AbortController().signal,
    );
    const info = connection.serverInfo();
    await connection.close();
    expect([info, connection.serverInfo(), connection.offers("tools")]).toEqual([
      expect.objectContaining({ name: "flaky" }),
      info,
      true,
    ]);
  });

  test("is stopped, and started again by the next call", async () => {
    open({ flaky: { ...flaky(), idleTimeoutMs: 50 } });
    expect(await call("starts")).toBe("1");
    await until("flaky", "idle");
    expect(await processesLeft(own.mark)).toEqual([]);
    expect(await call("starts")).toBe("2");
  });

  test("is logged differently from one that crashed", async () => {
    const lines: string[] = [];
    const log = { ...silentLog, info: (line: string) => lines.push(line.replace(/\d+ ms.*/, "N ms")) };
    const servers = { flaky: { ...flaky(), idleTimeoutMs: 1 }, odd: fixture("odd", own.mark) };
    own.open(servers, { log });
    await call("starts");
    await eventually(() => lines.some((line) => line.startsWith("flaky was stopped")));
    await failure(own.pool.callTool("odd", "end-process", {}));
    await own.pool.close();
    expect(lines.sort()).toEqual([
      "flaky is ready after N ms",
      "flaky was stopped: no calls for N ms",
      "odd is gone: its process was ended by SIGKILL",
      "odd is ready after N ms",
    ]);
  });

  test("is never one that is being called or kept alive", async () => {
    open({
      flaky: { ...flaky(), idleTimeoutMs: 1 },
      odd: { ...fixture("odd", own.mark), idleTimeoutMs: 20 },
      kept: { ...fixture("odd", own.mark), idleTimeoutMs: 1, keepAlive: true },
    });
    const hanging = failure(own.pool.callTool("odd", "hang", {}, { timeoutMs: 400 }));
    await Promise.all([own.pool.callTool("kept", "get-thing", {}), call("starts")]);
    expect((await hanging).code).toBe("CALL_TIMEOUT");
    expect(own.pool.state("kept").state).toBe("ready");
    await Promise.all([until("odd", "idle"), until("flaky", "idle")]);
    expect(own.pool.state("kept").state).toBe("ready");
  });

  test("delays a call while its process ends, until a new one has started", async () => {
    open({ stubborn: { ...fixture("stubborn", own.mark), idleTimeoutMs: 10 } });
    await own.pool.callTool("stubborn", "hello", {});
    await until("stubborn", "idle");
    const before = processesWith(own.mark);
    // It ignores the request to end, and has a child.
    expect(before).toHaveLength(2);
    await own.pool.callTool("stubborn", "hello", {});
    const after = processesWith(own.mark);
    expect([after.length, after.filter((pid) => before.includes(pid))]).toEqual([2, []]);
  });
});

describe("concurrent calls", () => {
  test("are limited by the config; others wait", async () => {
    open({ flaky: { ...flaky(), maxCallsInFlight: 3 } });
    const most = await Promise.all(Array.from({ length: 12 }, () => call("together")));
    expect(Math.max(...most.map(Number))).toBe(3);
  });

  test("run in order, and a cancelled one does not delay the others", async () => {
    open({ odd: { ...fixture("odd", own.mark), maxCallsInFlight: 1 } });
    const done: string[] = [];
    const one = (name: string, tool: string, options: object) =>
      own.pool.callTool("odd", tool, {}, options).then(
        () => done.push(name),
        (error: Error) => done.push(`${name}: ${error.message}`),
      );
    const controller = new AbortController();
    const all = [
      one("first", "hang", { timeoutMs: 300 }),
      one("second", "get-thing", {}),
      one("third", "get-thing", { signal: controller.signal }),
      one("fourth", "get-thing", {}),
    ];
    controller.abort();
    await Promise.all(all);
    expect(done).toEqual([
      "third: odd.get-thing was cancelled",
      "first: odd.hang did not answer within 300 ms",
      "second",
      "fourth",
    ]);
  });
});

describe("a lost call", () => {
  test("is sent again once if it may be repeated", async () => {
    open({ flaky: flaky() }, { ...backoffTimes, firstMs: 0 });
    expect(await call("reads", { repeatable: true })).toBe("2");
    expect((await failure(call("dies", { repeatable: true }))).message).toStartWith(
      'flaky.dies: server "flaky" is gone: its process was ended by SIGKILL',
    );
    expect(await call("starts")).toBe("4");
  });

  test("is not sent again if it was written and must not be repeated", async () => {
    open({ flaky: flaky() });
    expect(await failure(call("adds"))).toMatchObject({ code: "SERVER_UNAVAILABLE", sent: true });
    expect(await call("starts")).toBe("2");
  });

  test("is sent again if the process did not read all of it", async () => {
    open({ flaky: flaky() });
    await call("deaf");
    expect(await call("starts")).toBe("2");
    await call("deaf");
    const large = { text: "x".repeat(3_000_000) };
    const answers = await Promise.all([large, {}, {}].map((args) => own.pool.callTool("flaky", "starts", args)));
    expect(answers).toEqual(Array(3).fill({ content: [{ type: "text", text: "3" }] }));
  });

  test("is sent to another process if the shared one belongs to somebody else before the connection is open", async () => {
    let channels = 0;
    const openChannel: ChannelOpener = async (server, options) => {
      channels += 1;
      if (channels > 1) return openDirectChannel(server, options);
      const transport: SharedTransport = new SharedTransport({
        started: Promise.resolve(),
        send: () => {
          transport.ended({ how: "it is now reached elsewhere", lastWords: [], kind: "moved" });
          return true;
        },
        close: () => {},
      });
      return sharedChannel(transport, () => undefined);
    };
    own.open({ flaky: flaky() }, { openChannel });
    expect(await call("starts")).toBe("1");
    expect(channels).toBe(2);
    expect(own.pool.state("flaky").state).toBe("ready");
  });

  test("is sent again if the connection was already gone", async () => {
    const config = serverConfig("flaky", flaky());
    const opened: Connection[] = [];
    let closing = new AbortController();
    const life = new Lifecycle(config, async () => {
      closing = new AbortController();
      // Only the request notices the end, as when the process has just ended.
      opened.push(await connect(config, { ...surroundings(own.mark), onClose: () => {} }, closing.signal));
      return opened.at(-1) as Connection;
    });
    const request = { method: "tools/call", params: { name: "starts", arguments: {} } };
    const ask = () => life.use((each) => each.request(request, "x", { timeoutMs: 60_000 }), "x", {});
    expect(await ask()).toMatchObject({ content: [{ text: "1" }] });
    await opened[0]?.close();
    const lost = await failure(opened[0]?.request(request, "x", { timeoutMs: 1_000 }) ?? Promise.resolve());
    expect(lost instanceof ConnectionLost && lost.sent).toBe(false);
    expect(await ask()).toMatchObject({ content: [{ text: "2" }] });
    // Repeated only once: a second loss is reported.
    const losing = life.use(() => Promise.reject(lost), "x", {});
    expect(await failure(losing)).toBe(lost);
    await life.close();
    await Promise.all(opened.map((each) => each.close()));
  });
});
