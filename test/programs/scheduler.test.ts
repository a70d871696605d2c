/** Scheduled programs: each time once, missed times once together, never twice at the same time, and through crashes. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { Scheduler } from "../../src/programs/saved/scheduler.ts";
import { dueAt, nextTimes, type Schedule, Schedules } from "../../src/programs/saved/schedules.ts";
import { cli } from "../cli/in-memory.ts";
import { eventually } from "../support/eventually.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

const hour = 3_600_000;
/** A Monday. */
const monday = Date.UTC(2026, 10, 23, 7, 30);
const eight = Date.UTC(2026, 10, 23, 8);

const schedule = (more: Partial<Schedule> = {}): Schedule => ({
  version: 1,
  id: "daily",
  program: "act",
  input: { name: "a" },
  cron: "0 8 * * *",
  zone: "UTC",
  createdAt: monday,
  ...more,
});

describe("the time that is due", () => {
  const cases: [string, Partial<Schedule>, number, ReturnType<typeof dueAt>][] = [
    ["before the first time", {}, eight - 1, undefined],
    ["at the first time", {}, eight, { due: eight, missed: 0 }],
    ["an hour later", {}, eight + hour, { due: eight, missed: 0 }],
    ["three days later", {}, eight + 72 * hour, { due: eight + 72 * hour, missed: 3 }],
    ["after it was done", { doneUntil: eight }, eight + hour, undefined],
    ["the day after", { doneUntil: eight }, eight + 25 * hour, { due: eight + 24 * hour, missed: 0 }],
    ["with a clock that was set back", { doneUntil: eight }, eight - 5 * hour, undefined],
    [
      "in another zone",
      { zone: "Europe/Berlin", createdAt: eight - 2 * hour },
      eight,
      { due: eight - hour, missed: 0 },
    ],
    ["on weekdays, on a Sunday", { cron: "0 8 * * 1-5", doneUntil: eight + 96 * hour }, eight + 144 * hour, undefined],
  ];

  test.each(cases)("%s", (_, more, now, expected) => {
    expect(dueAt(schedule(more), now)).toEqual(expected);
  });

  test("many missed times are counted in bounded time", () => {
    const found = dueAt(schedule({ cron: "* * * * *" }), monday + 365 * 24 * hour);
    expect(found).toEqual({ due: monday + 365 * 24 * hour, missed: 999 });
  });

  test("a day that has the time twice has it once, and a day without it has the next one", () => {
    const berlin = { cron: "30 2 * * *", zone: "Europe/Berlin" };
    const autumn = nextTimes(berlin, 3, Date.UTC(2026, 9, 23, 12)).map((at) => new Date(at).toISOString());
    expect(autumn).toEqual(["2026-10-24T00:30:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]);
    const spring = nextTimes(berlin, 2, Date.UTC(2026, 2, 28, 12)).map((at) => new Date(at).toISOString().slice(0, 10));
    expect(spring).toEqual(["2026-03-29", "2026-03-30"]);
  });
});

/** A project whose server counts calls, with the program `act`, and a scheduler whose clock stands where it is put. */
async function scheduled<T>(work: (place: Scheduled) => Promise<T>): Promise<T> {
  using folder = project();
  const counts = join(folder.path, "counts");
  folder.configure({ counting: fixture("counting", counts) });
  folder.write("act.ts", "return counting.wait({ name: input.name, until: input.until });");
  const schema = '{"type":"object","properties":{"name":{"type":"string"},"until":{"type":"string"}}}';
  const argv = ["programs", "save", "act.ts", "--name", "act", "--input-schema", schema];
  expect((await cli(argv, { cwd: folder.path })).exitCode).toBe(0);
  return await work(new Scheduled(folder, counts));
}

class Scheduled {
  now = monday;
  readonly folder: Project;
  readonly #counts: string;

  constructor(folder: Project, counts: string) {
    this.folder = folder;
    this.#counts = counts;
  }

  /** A scheduler of a new process. */
  async open() {
    const app = await this.folder.open();
    const open = async () => ({ executions: await app.executions(), parts: app });
    const places = [{ place: app.config.savedPrograms, open }];
    const scheduler = new Scheduler(places, silentLog, () => this.now);
    return {
      app,
      scheduler,
      schedules: new Schedules(app.config.savedPrograms),
      async [Symbol.asyncDispose]() {
        await scheduler.close();
        await app[Symbol.asyncDispose]();
      },
    };
  }

  get calls(): string[] {
    if (!existsSync(this.#counts)) return [];
    const lines = readFileSync(this.#counts, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as string[]).join(" "));
  }
}

const ended = (schedules: Schedules) => eventually(() => schedules.find("daily")?.lastRun?.end);

describe("a scheduler", () => {
  test("runs a program at its time, and after missed times once", () =>
    scheduled(async (place) => {
      await using one = await place.open();
      expect(await one.scheduler.isNeeded()).toBe(false);
      await one.schedules.add(schedule());
      expect(await one.scheduler.isNeeded()).toBe(true);
      await one.scheduler.look();
      expect(place.calls).toEqual([]);
      place.now = eight + 1_000;
      await Promise.all([one.scheduler.look(), one.scheduler.look()]);
      expect(await ended(one.schedules)).toMatchObject({ ok: true });
      await one.scheduler.look();
      expect(place.calls).toEqual(["wait a"]);
      expect(one.schedules.find("daily")).toMatchObject({ doneUntil: eight, lastRun: { due: eight, missed: 0 } });
      place.now = eight + 73 * hour;
      await one.scheduler.look();
      await eventually(() => one.schedules.find("daily")?.lastRun?.missed === 2);
      expect(await ended(one.schedules)).toMatchObject({ ok: true });
      await one.scheduler.look();
      expect(place.calls).toEqual(["wait a", "wait a"]);
    }));

  test("waits with the next run until the one before has ended", () =>
    scheduled(async (place) => {
      await using one = await place.open();
      const until = join(place.folder.path, "until");
      await one.schedules.add(schedule({ cron: "* * * * *", input: { name: "slow", until } }));
      place.now = monday + 60_000;
      await one.scheduler.look();
      await eventually(() => place.calls.length === 1);
      place.now = monday + 200_000;
      for (let look = 0; look < 3; look++) await one.scheduler.look();
      expect(place.calls).toEqual(["wait slow"]);
      place.folder.write("until", "");
      await ended(one.schedules);
      await one.scheduler.look();
      await eventually(() => place.calls.length === 2);
      expect(one.schedules.find("daily")?.lastRun).toMatchObject({ due: monday + 180_000, missed: 1 });
    }));

  test("keeps why a program could not run", () =>
    scheduled(async (place) => {
      await using one = await place.open();
      await one.schedules.add(schedule({ id: "gone", program: "gone" }));
      await one.schedules.add(schedule({ input: { name: 7 } }));
      place.now = eight;
      await one.scheduler.look();
      expect(one.schedules.find("gone")?.lastRun?.end).toMatchObject({
        ok: false,
        message: 'No saved program is called "gone"',
      });
      expect(one.schedules.find("daily")?.lastRun?.end).toMatchObject({
        ok: false,
        message: expect.stringContaining("name"),
      });
      place.now = eight + hour;
      await one.scheduler.look();
      expect(place.calls).toEqual([]);
    }));

  test("continues where another one stopped, and makes no call twice", () =>
    scheduled(async (place) => {
      const until = join(place.folder.path, "until");
      place.now = eight;
      {
        await using one = await place.open();
        await one.schedules.add(schedule({ input: { name: "slow", until } }));
        await one.scheduler.look();
        await eventually(() => place.calls.length === 1);
      }
      await using two = await place.open();
      place.folder.write("until", "");
      await two.scheduler.look();
      // The call was sent when the first process ended, so its effect is unknown.
      expect(await ended(two.schedules)).toMatchObject({ ok: false, message: expect.stringContaining("nobody knows") });
      expect(place.calls).toEqual(["wait slow"]);
    }));

  test("finds a run that was begun and not noted", () =>
    scheduled(async (place) => {
      place.now = eight;
      {
        await using one = await place.open();
        await one.schedules.add(schedule());
        await one.scheduler.look();
        await ended(one.schedules);
        // As if the process had died before it noted the run.
        await one.schedules.note("daily", ({ doneUntil: _, lastRun: __, ...rest }) => rest);
      }
      await using two = await place.open();
      await two.scheduler.look();
      expect(await ended(two.schedules)).toMatchObject({ ok: true });
      expect(place.calls).toEqual(["wait a"]);
    }));

  test("ends with a schedule that is removed, and with a file that is damaged", () =>
    scheduled(async (place) => {
      await using one = await place.open();
      await one.schedules.add(schedule());
      await one.schedules.add(schedule({ id: "damaged" }));
      const file = join(one.app.config.savedPrograms.folder, "schedules", "damaged.json");
      await Bun.write(file, "{");
      expect(one.schedules.problems()).toEqual([file]);
      await one.schedules.remove("daily");
      place.now = eight;
      await one.scheduler.look();
      expect(place.calls).toEqual([]);
    }));
});

test.each([
  [["--cron", "0 8 * *"], "is not a cron expression"],
  [["--cron", "* * * * * *"], "is not a cron expression"],
  [["--cron", "61 * * * *"], "is not a cron expression"],
  [["--cron", "0 0 31 2 *"], "never comes"],
  [["--cron", "0 8 * * *", "--zone", "Europe/Nowhere"], "is not a time zone"],
  [["--cron", "0 8 * * *", "--as", "A B"], "cannot be the name of a schedule"],
  [["--cron", "0 8 * * *", "name:=7"], "name"],
  [[], "needs a time"],
])("programs schedule with %j is refused", (flags, message) =>
  scheduled(async ({ folder }) => {
    const { exitCode, stderr } = await cli(["programs", "schedule", "act", ...flags], { cwd: folder.path });
    expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
  }),
);

test("an agent cannot replace a program that is scheduled, and removing a program ends its schedules", () =>
  scheduled(async ({ folder }) => {
    const run = async (...argv: string[]) => {
      const { exitCode, stdout, stderr } = await cli(argv, { cwd: folder.path });
      return `${exitCode} ${stdout}${stderr}`;
    };
    expect(
      await run("programs", "schedule", "act", "--cron", "0 8 * * *", "--zone", "Europe/Berlin", "name=a"),
    ).toContain("08:00");
    expect(await run("programs", "schedule", "act", "--cron", "0 9 * * *", "name=a")).toContain("exists already");
    expect(await run("programs", "list")).toContain("0 8 * * *");
    expect(await run("programs", "remove", "act")).toStartWith("0 ");
    expect(await run("programs", "unschedule", "act")).toContain('No schedule is called "act"');
  }));
