/** Code that waits for a resource to change: one update after the other, and an end with the loop, the block or the execution. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { everything, fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({
    shop: { ...fixture("protocol", "stdio", folder.path), labels: [] },
    odd: fixture("odd", folder.path),
    everything: everything(),
  });
  app = await folder.open();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function run(source: string, timeoutMs = 20_000): Promise<unknown> {
  const outcome = await execute({ source, limits: { timeoutMs } }, app);
  if (outcome.ok) return outcome.value;
  return `${outcome.reason} ${outcome.error.code}: ${outcome.error.message} | ${outcome.error.hint}`;
}

/** The requests to the server since the last call of this function, once it has been asked to unsubscribe. */
async function asked(uri: string): Promise<string[]> {
  for (;;) {
    const { subscriptions } = (await run("return shop.seen()")) as { subscriptions: string[] };
    const own = subscriptions.filter((each) => each.endsWith(uri));
    if (own.at(-1)?.startsWith("-")) return own;
  }
}

test("for await yields each update, and leaving the loop ends the subscription", async () => {
  const code = `const seen = [];
    const updates = shop.resources.subscribe("file:///loop");
    await shop["touch-resource"]({ uri: "file:///loop" });
    for await (const { uri } of updates) {
      seen.push(uri);
      if (seen.length === 3) break;
      await shop["touch-resource"]({ uri: "file:///loop/" + seen.length });
    }
    return [seen, await updates.next()];`;
  expect(await run(code)).toEqual([["file:///loop", "file:///loop/1", "file:///loop/2"], { done: true }]);
  expect(await asked("file:///loop")).toEqual(["+file:///loop", "-file:///loop"]);
});

test("next waits for an update, and concurrent updates of one resource are merged", async () => {
  const code = `const updates = shop.resources.subscribe({ uri: "file:///later" });
    const waiting = updates.next();
    await shop.wait({ ms: 50 });
    for (let i = 0; i < 5; i++) await shop["touch-resource"]({ uri: "file:///later" });
    const first = await waiting;
    const second = await updates.next();
    const third = await Promise.race([updates.next(), new Promise((done) => setTimeout(done, 300, "none"))]);
    return [first, second.done, third];`;
  expect(await run(code)).toEqual([{ done: false, value: { uri: "file:///later" } }, false, "none"]);
  expect(await asked("file:///later")).toEqual(["+file:///later", "-file:///later"]);
});

test("using ends the subscription with its block", async () => {
  const code = `let updates;
    { using held = shop.resources.subscribe("file:///using"); updates = held; await shop["touch-resource"]({ uri: "file:///using" }); await held.next(); }
    return updates.next();`;
  expect(await run(code)).toEqual({ done: true });
  expect(await asked("file:///using")).toEqual(["+file:///using", "-file:///using"]);
});

test("the end of the program ends loops that are not awaited", async () => {
  const code = `let seen = 0;
    const loop = async () => { for await (const _ of shop.resources.subscribe("file:///over")) seen++; };
    loop();
    await shop.wait({ ms: 50 });
    await shop["touch-resource"]({ uri: "file:///over" });
    await shop.wait({ ms: 50 });
    return seen;`;
  expect(await run(code)).toBe(1);
  expect(await asked("file:///over")).toEqual(["+file:///over", "-file:///over"]);
});

test("waiting for an update ends with the time limit of the execution", async () => {
  const code = `for await (const _ of shop.resources.subscribe("file:///never"));`;
  expect(await run(code, 1_500)).toStartWith("timeout");
  expect(await asked("file:///never")).toEqual(["+file:///never", "-file:///never"]);
});

test("a subscription that is refused fails the program, awaited or not", async () => {
  const failure = `threw PROTOCOL_ERROR: Server "odd" does not support resource subscriptions`;
  expect(await run(`for await (const _ of odd.resources.subscribe("x://y"));`)).toStartWith(failure);
  expect(await run(`const updates = odd.resources.subscribe("x://y"); await shop.wait({ ms: 50 });`)).toStartWith(
    failure,
  );
  expect(await run("for await (const _ of shop.resources.subscribe());")).toMatchInlineSnapshot(
    `"threw INVALID_ARGUMENTS: shop.resources.subscribe takes a string, got nothing | shop.resources.subscribe("<uri>")"`,
  );
});

test("a server has at most 100 open subscriptions", async () => {
  const code = `const all = Array.from({ length: 101 }, (_, i) => shop.resources.subscribe("file:///many/" + i).next());
    return Promise.race(all);`;
  expect(await run(code)).toMatchInlineSnapshot(
    `"threw INVALID_ARGUMENTS: shop already has 100 open subscriptions | Close one: leave its loop, or call its return()."`,
  );
});

test("a receipt counts subscribing, but not waiting for updates", async () => {
  const source = `const updates = shop.resources.subscribe("file:///count");
    await shop["touch-resource"]({ uri: "file:///count" });
    return updates.next();`;
  const { receipt } = await execute({ source }, app);
  expect(Object.keys(receipt.tools)).toEqual(["shop.resources.subscribe", "shop.touch-resource"]);
});

test("server-everything: updates of a real server", async () => {
  const code = `const [{ uri }] = await everything.resources.list();
    const updates = everything.resources.subscribe(uri);
    const waiting = updates.next();
    await everything["toggle-subscriber-updates"]({});
    const { value } = await waiting;
    await everything["toggle-subscriber-updates"]({});
    return value.uri === uri;`;
  expect(await run(code)).toBe(true);
});
