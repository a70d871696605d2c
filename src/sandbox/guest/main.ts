/** The entry point of the guest. It runs first in a fresh context, defines the globals, and gives the worker its functions. */
import "./splitting.ts";

import { hasPendingCalls, settle, ToolError, unawaited, watchUnseen } from "./calls.ts";
import { guestConsole } from "./console.ts";
import { using } from "./disposing.ts";
import { floatingFailure, floats, watch, whenNothingFloats } from "./floating.ts";
import { globals } from "./globals.ts";
import { host } from "./host.ts";
import { hasPendingLoads, importModule, loaded, loadFailed, requireModule } from "./imports.ts";
import { define } from "./named.ts";
import { defineNamespaces, missed } from "./namespaces.ts";
import { fsModule } from "./node/fs.ts";
import { notice, stackOfThrown } from "./noticing.ts";
import { type Oddity, oddities } from "./oddities.ts";
import { randomFrom } from "./random.ts";
import { endSubscriptions } from "./server-functions.ts";
import { sleep } from "./sleep.ts";
import { hasTimers, isTimer, runTimer, timersModule, whenTimersEnd, workTimers } from "./timers.ts";
import { encode, met } from "./values.ts";

const { parse, stringify } = JSON;

define(globalThis, {
  console: guestConsole,
  ...timersModule,
  sleep,
  queueMicrotask: (callback: () => unknown) => void watch(Promise.resolve().then(callback)),
  ToolError,
  fs: fsModule,
  require: requireModule,
  display: (value: unknown) => {
    const refused = host.display(encode(value) ?? "null");
    if (refused !== undefined) throw new ToolError(parse(refused));
  },
});
define(globalThis, globals);
const module = { main: true, url: "file:///main.ts", filename: "/main.ts", dirname: "/" };
// Scripts of Node check whether they are the main module, and use the path of their folder.
const scriptModule = { exports: {}, id: ".", filename: module.filename, children: [], paths: [], loaded: false };
Object.assign(requireModule, { main: scriptModule, cache: {} });
define(globalThis, {
  module: scriptModule,
  exports: scriptModule.exports,
  __filename: module.filename,
  __dirname: module.dirname,
});
for (const [name, value] of Object.entries({
  __watch: watch,
  __notice: notice,
  __using: using,
  __import: importModule,
  __meta: Object.freeze(module),
})) {
  Object.defineProperty(globalThis, name, { value });
}
Reflect.deleteProperty(globalThis, "__host");

let returned: { value: unknown } | undefined;

/** The latest time to wait for timers. It is before the time limit, which the host counts from before the engine was ready. */
let lastMoment = 0;

async function start(main: (exports: object) => Promise<unknown>): Promise<void> {
  try {
    const value = await main({});
    returned = { value: isTimer(value) ? undefined : value };
    watchUnseen();
    endSubscriptions();
    late = floats();
    await whenNothingFloats();
    if (returned.value === undefined) await finishTimers();
    await settleWithin(returned.value);
    finish();
  } catch (error) {
    fail(error, false);
  }
}

/** Waits for the timers of a program without a value, because they may be all that it does. */
async function finishTimers(): Promise<void> {
  while (workTimers() > 0 && host.now() < lastMoment) {
    await whenTimersEnd(lastMoment - host.now());
    await whenNothingFloats();
  }
  const left = workTimers();
  if (left > 0)
    guestConsole.warn(
      `warning: ${left} ${left === 1 ? "timer was" : "timers were"} still set when the time ran out: use clearInterval or clearTimeout.`,
    );
}

/** Whether promises were still floating when the program returned. */
let late = false;
let encoded: { json: string | undefined } | undefined;

/** Replaces promises within the value by their results. */
async function settleWithin(value: unknown): Promise<void> {
  for (let round = 0; round < 5; round++) {
    met.odd = false;
    met.promises.clear();
    encoded = { json: encode(value) };
    if (met.promises.size === 0) return;
    for (const promise of met.promises) met.settled.set(promise, await promise);
    encoded = undefined;
  }
}

/** Returns JSON of what looks wrong, for the host to judge, or undefined. */
function notes(value: unknown): string | undefined {
  const odd: Oddity[] = met.odd ? oddities(value) : [];
  return late || odd.length > 0 || unawaited.length > 0 ? stringify({ late, odd, unawaited }) : undefined;
}

/** Ends the execution. Returns false if the program has not returned. */
function finish(): boolean {
  if (!returned) return false;
  const failure = floatingFailure();
  try {
    if (failure) fail(failure.error, true);
    else {
      const { json } = encoded ?? { json: encode(returned.value) };
      host.done(json, notes(returned.value));
    }
  } catch (error) {
    fail(error, false);
  }
  return true;
}

/** Reports what was thrown, which can be any value. */
function fail(thrown: unknown, floating: boolean): void {
  const shape: Record<string, unknown> = { floating, missed, unawaited, name: "Error", message: "", stack: "" };
  try {
    if (thrown instanceof Error) {
      const { name, message, stack, code, hint } = thrown as ToolError;
      Object.assign(shape, { name: String(name), message: String(message), stack: String(stack ?? "") });
      if (typeof code === "string") shape["code"] = code;
      if (typeof hint === "string") shape["hint"] = hint;
    } else {
      shape["name"] = "Thrown";
      shape["stack"] = stackOfThrown(thrown) ?? "";
      const plain = typeof thrown !== "object" && typeof thrown !== "function";
      shape["message"] = plain ? String(thrown) : (encode(thrown) ?? "undefined");
    }
  } catch (error) {
    shape["message"] = `the code threw a value that cannot be shown (${error})`;
  }
  host.failed(stringify(shape));
}

globalThis.__guest = {
  start: (settingsJson, main) => {
    Reflect.deleteProperty(globalThis, "__guest");
    const { namespaces, seed, timeoutMs } = parse(settingsJson);
    lastMoment = host.now() + timeoutMs * 0.8;
    defineNamespaces(namespaces);
    Math.random = randomFrom(seed);
    void start(main);
  },
  settle,
  fire: (id) => {
    try {
      watch(runTimer(id));
    } catch (error) {
      fail(error, true);
    }
  },
  loaded,
  loadFailed,
  waiting: () => hasPendingCalls() || hasPendingLoads() || hasTimers(),
  finish,
};
