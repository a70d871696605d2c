/** Outcomes of saved programs are told: by a command, a webhook, a tool, or a line in the next session of an agent. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentNews } from "../../../src/programs/events/agent-news.ts";
import { agentOfUser } from "../../../src/programs/execution/asker.ts";
import { newId } from "../../../src/programs/trace/id.ts";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { EventPlace } from "./place.ts";

setDefaultTimeout(60_000);

const nightly = 'if (input.name === "bad") throw new Error("it broke"); return { total: 7 };';

const at = (place: EventPlace) => ({
  notify: (...argv: string[]) => cli(["programs", "notify", "nightly", ...argv], { cwd: place.folder.path }),
  run: (...words: string[]) => cli(["programs", "run", "nightly", "--no-daemon", ...words], { cwd: place.folder.path }),
});

async function prepared(): Promise<EventPlace> {
  const place = new EventPlace();
  await place.save("nightly", nightly);
  return place;
}

test("a command is run once for each outcome, with its name, state and execution, and contents only on request", async () => {
  using place = await prepared();
  const { notify, run } = at(place);
  const plain = join(place.folder.path, "plain");
  const whole = join(place.folder.path, "whole");
  const line = `echo "$CLAUDIKINS_PROGRAM $CLAUDIKINS_STATE" >> ${plain}; cat >> ${plain}; echo >> ${plain}`;
  expect((await notify("--command", line)).stdout).toStartWith(
    "nightly: if it failed or waits for a person, command echo",
  );
  // One write for each line: both commands run at the same time.
  const lines = `printf "%s\\n" "$(cat)" >> ${whole}`;
  await notify("--when", "done,failed", "--contents", "--command", lines);
  await using one = await place.open();
  await run();
  await run("name=bad");
  const all = await one.ended();
  expect(all.map(({ triggerId, state }) => `${triggerId} ${state}`).toSorted()).toEqual([
    "nightly done",
    "nightly-2 done",
    "nightly-2 done",
  ]);
  const [words, json, end] = readFileSync(plain, "utf8").split("\n");
  expect([words, end]).toEqual(["nightly failed", ""]);
  const { execution, id, ...event } = JSON.parse(json!);
  expect(event).toEqual({ kind: "outcome", program: "nightly", state: "failed" });
  expect([execution, id]).toEqual([expect.stringMatching(/^\w{28}$/), expect.stringMatching(/^\w{28}$/)]);
  const told = readFileSync(whole, "utf8")
    .trim()
    .split("\n")
    .map((each) => JSON.parse(each));
  expect(told.find(({ state }) => state === "failed")).toMatchObject({ program: "nightly" });
  await one.events.look();
  expect(readFileSync(plain, "utf8").split("\n")).toHaveLength(3);
  const listed = await cli(["programs", "show", "nightly"], { cwd: place.folder.path });
  expect(listed.stdout).toContain("Notifies:\n  nightly-2: if it succeeded or failed, command printf");
});

test("a command that fails or hangs is not run again, and the list says why", async () => {
  using place = await prepared();
  const { notify, run } = at(place);
  await notify("--command", "echo no luck >&2; exit 3");
  await using one = await place.open();
  await run("name=bad");
  expect(await one.ended()).toMatchObject([
    { state: "dead", attempts: 1, message: "the command ended with exit code 3: no luck" },
  ]);
  const { stdout } = await cli(["programs", "deliveries", "--json"], { cwd: place.folder.path });
  expect(JSON.parse(stdout).deliveries[0]).not.toHaveProperty("execution");
});

test("a notification whose process was killed while it was sent is dead, and is sent again only if its user says so", async () => {
  using place = await prepared();
  const { notify, run } = at(place);
  const file = join(place.folder.path, "told");
  await notify("--command", `echo told >> ${file}`);
  await using one = await place.open();
  await run("name=bad");
  const { deliveries } = one.app.store;
  const { offer } = await import("../../../src/programs/events/event-queue.ts");
  const { Triggers } = await import("../../../src/programs/events/stored-triggers.ts");
  const savedPrograms = one.app.config.savedPrograms;
  const trigger = new Triggers(savedPrograms).find("nightly")!;
  const content = { kind: "outcome", program: "nightly", state: "failed" };
  const { id } = await offer(trigger, { name: "other", content }, { place: savedPrograms, store: one.app.store });
  // A process was killed after this claim.
  expect(await deliveries.claim(id, 0, newId(Date.now()), Date.now())).toBe(true);
  place.aheadMs = 60_000;
  await eventually(async () => {
    await one.events.look();
    return existsSync(file);
  });
  expect((await one.deliveries()).find((each) => each.id === id)).toMatchObject({ state: "running" });
  place.aheadMs = 180_000;
  const all = await one.ended();
  expect(all.find((each) => each.id === id)).toMatchObject({
    state: "dead",
    message: "nobody knows whether it was notified",
  });
  expect(readFileSync(file, "utf8")).toBe("told\n");
  expect((await cli(["programs", "retry", id], { cwd: place.folder.path })).exitCode).toBe(0);
  await one.ended();
  expect(readFileSync(file, "utf8")).toBe("told\ntold\n");
});

test("a trigger that is removed while its delivery runs leaves no row that runs forever", async () => {
  using place = new EventPlace();
  await place.save("slow", 'return counting.act({ name: "x" });');
  await using one = await place.open();
  const { id } = await one.offer(await one.webhook("slow"), { name: "1", content: {} });
  expect(await one.app.store.deliveries.claim(id, 0, newId(Date.now()), Date.now())).toBe(true);
  expect((await cli(["programs", "off", "slow"], { cwd: place.folder.path })).exitCode).toBe(0);
  expect(one.events.isNeeded).toBe(true);
  place.aheadMs = 10_000;
  expect(await one.ended()).toMatchObject([{ id, state: "done" }]);
  await one.events.look();
  expect(one.events.isNeeded).toBe(false);
  expect(place.calls).toEqual(["act x"]);
});

interface Got {
  headers: Headers;
  body: string;
}

let got: Got[] = [];
let status = 200;
let receiver: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      got.push({ headers: request.headers, body: await request.text() });
      const headers = { location: `${receiver.url}elsewhere` };
      return new Response("", { status, headers });
    },
  });
});
afterAll(() => receiver.stop(true));

test("a webhook is signed, is sent again with the same id while its receiver refuses, and no redirect is followed", async () => {
  got = [];
  status = 503;
  using place = await prepared();
  const { notify, run } = at(place);
  const secret = `whsec_${Buffer.from("a secret of 24 bytes....").toString("base64")}`;
  const set = await cli(["secrets", "set", "HOOK"], { cwd: place.folder.path, stdin: secret });
  expect(set.exitCode).toBe(0);
  const shown = await notify("--webhook", `${receiver.url}in?key=hidden`, "--secret", "HOOK", "--when", "done");
  expect(shown.stderr).not.toContain("error");
  expect(shown.stdout).not.toContain("hidden");
  await using one = await place.open();
  await run();
  expect(await one.ended()).toMatchObject([{ state: "failed", message: `${receiver.url.origin} answered 503` }]);
  status = 204;
  place.aheadMs = 15_000;
  expect(await one.ended()).toMatchObject([{ state: "done", attempts: 2 }]);
  const [first, second] = got;
  expect(got).toHaveLength(2);
  const id = second!.headers.get("webhook-id")!;
  expect(first!.headers.get("webhook-id")).toBe(id);
  const { type, data } = JSON.parse(second!.body);
  expect({ type, data }).toEqual({
    type: "program.done",
    data: { kind: "outcome", program: "nightly", state: "done", execution: expect.any(String) },
  });
  const signed = `${id}.${second!.headers.get("webhook-timestamp")}.${second!.body}`;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(signed).digest("base64");
  expect(second!.headers.get("webhook-signature")).toBe(`v1,${expected}`);
  status = 302;
  await run("name=again");
  place.aheadMs = 30_000;
  expect(await one.ended()).toContainEqual(
    expect.objectContaining({ state: "dead", message: `${receiver.url.origin} answered 302` }),
  );
  expect(got).toHaveLength(3);
});

test("a webhook gets what its user writes, and is not sent to an address that has come nearer", async () => {
  got = [];
  status = 200;
  using place = await prepared();
  const { notify, run } = at(place);
  await notify("text=nightly", "--map", "state=event.state", "--webhook", String(receiver.url), "--when", "done");
  await using one = await place.open();
  await run();
  await one.ended();
  expect(JSON.parse(got[0]!.body)).toEqual({ text: "nightly", state: "done" });
  const { addNotification } = await import("../../../src/programs/events/manage.ts");
  const { ProgramLibrary } = await import("../../../src/programs/saved/library.ts");
  const { savedPrograms } = one.app.config;
  const audit = { config: one.app.config, store: one.app.store, place: "command" } as const;
  const notifyBy = {
    kind: "webhook",
    url: String(receiver.url),
    origin: receiver.url.origin,
    reach: "public",
  } as const;
  const wanted = { when: ["failed"] as const, hasContents: false, perMinute: 9, input: {}, map: {}, notify: notifyBy };
  await addNotification(new ProgramLibrary(savedPrograms).get("nightly"), wanted, { place: savedPrograms, audit });
  await run("name=bad");
  const dead = (await one.ended()).find(({ state }) => state === "dead");
  expect(dead).toMatchObject({ message: expect.stringContaining("only this machine or its network can reach") });
  expect(got).toHaveLength(1);
});

test("a tool is called by an execution of its own, with the rules and labels of what it sends", async () => {
  using place = await prepared();
  const { notify } = at(place);
  await place.save("nightly", 'await counting.read_wait({ name: "secret" }); return { total: 7 };');
  const map = ["--map", 'name=event.program + " " + event.state'];
  expect(await notify("--when", "done", "--tool", "counting.act", ...map)).toMatchObject({ exitCode: 0 });
  const value = ["--map", "name=string(event.value.total)"];
  expect(await notify("--when", "done", "--contents", "--tool", "counting.act", ...value)).toMatchObject({
    exitCode: 0,
  });
  await using one = await place.open();
  await one.offer(await one.webhook("nightly"), { name: "1", content: {} });
  // It had read private data and a stranger had begun it, so that the call with contents waits for a person.
  const asked = await eventually(async () => {
    await one.events.look();
    const open = await one.app.approvals.open({});
    return open.length > 0 ? open : undefined;
  });
  expect(asked).toMatchObject([{ server: "counting", tool: "act" }]);
  await eventually(() => place.calls.includes("act nightly done"));
  const executions = await one.app.executions();
  const waiting = await executions.follow(asked[0]!.execution, one.app, agentOfUser).catch(() => undefined);
  waiting?.cancel();
  const all = await one.ended();
  expect(all.map(({ triggerId, state }) => `${triggerId} ${state}`).toSorted()).toEqual([
    "nightly done",
    "nightly-2 dead",
    "nightly-3 done",
  ]);
  expect(place.calls.filter((call) => call.startsWith("act"))).toEqual(["act nightly done"]);
});

test("a program that waits for a person is told once for each question", async () => {
  using place = await prepared();
  const { notify } = at(place);
  place.folder.configure({ counting: { ...fixture("counting", place.counts), confirm: "always" } });
  await place.save("nightly", 'return counting.act({ name: "x" });');
  const file = join(place.folder.path, "told");
  await notify("--when", "waiting", "--contents", "--command", `cat >> ${file}`);
  await using one = await place.open();
  await one.offer(await one.webhook("nightly"), { name: "1", content: {} });
  await eventually(async () => {
    await one.events.look();
    return existsSync(file) && readFileSync(file, "utf8") !== "";
  });
  for (let look = 0; look < 3; look++) await one.events.look();
  const { state, program, execution, error } = JSON.parse(readFileSync(file, "utf8"));
  expect([state, program]).toEqual(["waiting", "nightly"]);
  expect(error.message).toStartWith("counting.act: ");
  (await (await one.app.executions()).follow(execution, one.app)).cancel();
  await one.ended();
});

test("a time at which a schedule could not run its program counts as failed", async () => {
  using place = await prepared();
  const { notify } = at(place);
  const file = join(place.folder.path, "told");
  await notify("--contents", "--command", `cat >> ${file}`);
  await using one = await place.open();
  const { Schedules } = await import("../../../src/programs/saved/schedules.ts");
  const now = Date.now();
  const lastRun = { due: now, startedAt: now, missed: 0, end: { at: now + 1_000, ok: false, message: "it is held" } };
  const usual = { version: 1, id: "nightly", program: "nightly", input: {}, zone: "UTC", createdAt: now } as const;
  await new Schedules(one.app.config.savedPrograms).add({ ...usual, cron: "0 8 * * *", lastRun });
  expect(await one.ended()).toMatchObject([{ state: "done" }]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ state: "failed", error: { message: "it is held" } });
});

test("an event for which the program could not begin counts as failed, once it is dead", async () => {
  using place = await prepared();
  const { notify } = at(place);
  const file = join(place.folder.path, "told");
  await notify("--contents", "--command", `cat >> ${file}`);
  await using one = await place.open();
  const trigger = await one.webhook("nightly", { map: { name: "event.missing" } });
  await one.offer(trigger, { name: "1", content: {} });
  await eventually(async () => {
    await one.events.look();
    return existsSync(file) && readFileSync(file, "utf8") !== "";
  });
  const told = JSON.parse(readFileSync(file, "utf8"));
  expect(told).toMatchObject({ program: "nightly", state: "failed" });
  expect(told.error.message).toContain("name: event.missing has no value");
});

test("a process that ends waits for a command that is under way", async () => {
  using place = await prepared();
  const { notify, run } = at(place);
  const file = join(place.folder.path, "told");
  await notify("--command", `touch ${file}; sleep 1`);
  {
    await using one = await place.open();
    await run("name=bad");
    await eventually(async () => {
      await one.events.look();
      return existsSync(file);
    });
  }
  await using two = await place.open();
  expect(await two.deliveries()).toMatchObject([{ state: "done" }]);
});

test("the next session of an agent gets one line, once, and nobody else", async () => {
  using place = await prepared();
  const { notify, run } = at(place);
  await notify("--agent");
  await using one = await place.open();
  expect(await agentNews(one.app)).toBeUndefined();
  await run("name=bad");
  await eventually(async () => {
    await one.events.look();
    return (await one.deliveries()).length > 0;
  });
  expect(await one.deliveries()).toMatchObject([{ state: "waiting" }]);
  const news = await Promise.all([agentNews(one.app), agentNews(one.app)]);
  expect(news.filter((each) => each !== undefined)).toEqual([
    expect.stringMatching(
      /^Saved programs: nightly has failed, just now \(execution \w{28}\)\. Their results: programs\.runs/,
    ),
  ]);
  expect(await agentNews(one.app)).toBeUndefined();
  expect(await one.deliveries()).toMatchObject([{ state: "done" }]);
});

test.each([
  [[], "Nobody is notified"],
  [["--command", "x", "--agent"], "A notification has one receiver"],
  [["--command", " "], "--command is empty"],
  [["--agent", "--when", "broken"], '--when takes done, failed, waiting; got "broken"'],
  [["--agent", "--contents"], "An agent gets no contents"],
  [["--agent", "text=x"], "Values and --map are for --tool and --webhook"],
  [["--agent", "--secret", "A"], "--secret is for --webhook"],
  [["--webhook", "ftp://example.com"], "--webhook takes an address"],
  [["--webhook", "http://169.254.169.254/latest"], "Nothing can be sent to 169.254.169.254"],
  [["--webhook", "http://8.8.8.8/"], "Everybody on the way"],
  [["--webhook", "${MISSING_HOOK}"], "The address needs MISSING_HOOK"],
  [["--tool", "nothing.act"], "nothing"],
  [["--tool", "counting.*"], "--tool takes one tool"],
  [["--tool", "programs.nightly"], "claudikins programs on nightly --after NAME"],
])("programs notify with %j is refused", async (flags, message) => {
  using place = await prepared();
  const { exitCode, stderr } = await at(place).notify(...flags);
  expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
});
