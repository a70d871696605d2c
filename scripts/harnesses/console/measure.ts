/** Measures the page of one installation: its start, its lists, the answers of its server, and an hour or less of live activity. */
import { loadavg } from "node:os";
import { minuteMs } from "../../../src/base/units.ts";
import { openBrowser } from "../../../test/support/browser.ts";
import { executable } from "../../../test/support/claudikins.ts";
import { eventually } from "../../../test/support/eventually.ts";
import type { TestHost } from "../../../test/support/host.ts";
import { Page } from "../../../test/support/page.ts";
import { Random } from "../random.ts";
import {
  type LooksFigures,
  looksOf,
  MeasuredPage,
  type MemoryFigures,
  type ScrollFigures,
  type StartFigures,
  startOf,
} from "./page.ts";
import { type PingFigures, Pings } from "./pings.ts";
import { Site } from "./site.ts";

/** How often the page is opened to measure its start. */
const starts = 5;

/** How often each answer of the server is measured. */
const answers = 20;

/** Agents of the live activity, each with one session. */
const liveAgents = 2;

/** Executions of one agent at once, and the mean pause between them, in milliseconds. */
const [atOnce, pauseMs] = [2, 500];

/** Measurements of the memory in the live time, and the most time between two of them. */
const [memoryLooks, mostBetweenMs] = [12, minuteMs];

export interface ConsoleOptions {
  executions: number;
  tools: number;
  /** Minutes of live activity. */
  minutes: number;
  /** Seconds of each way to scroll. */
  seconds: number;
  seed: number;
  report?: (line: string) => void;
}

export interface AnswerFigures {
  name: string;
  /** Milliseconds. */
  median: number;
  slowest: number;
  bytes: number;
  /** The slowest answer of the daemon to a ping meanwhile, in milliseconds. */
  pingMs: number;
}

export interface LiveFigures {
  minutes: number;
  executions: number;
  /** Executions that failed. */
  failed: string[];
  memory: (MemoryFigures & { minute: number })[];
  /** Megabytes that the page grows in a minute: the slope of a line through the measurements, without the first quarter. */
  growthMb: number;
  scrolls: ScrollFigures[];
}

export interface ConsoleFigures {
  /** Processes that wanted a core, in the mean of the last minute, when each part had ended. */
  load: Record<string, number>;
  start: StartFigures[];
  looks: LooksFigures;
  scrolls: ScrollFigures[];
  answers: AnswerFigures[];
  live: LiveFigures;
  pings: { daemon: PingFigures; serve: PingFigures };
  /** Errors of the page. */
  said: string[];
}

export async function measureConsole(options: ConsoleOptions): Promise<ConsoleFigures> {
  const { report = () => {}, seconds } = options;
  const load: Record<string, number> = {};
  const after = (part: string) => {
    load[part] = loadavg()[0] ?? 0;
  };
  report(`${options.executions} executions and ${options.tools} tools are stored`);
  await using site = await Site.open({ command: executable(), ...options });
  await site.address();
  const daemon = await site.pingDaemon();
  const browser = await openBrowser();
  try {
    const start: StartFigures[] = [];
    for (let time = 0; time < starts; time++) start.push(await startOf(browser, await site.address(), daemon));
    const looks = await looksOf(browser, await site.address());
    after("start");
    report("the server of the page is asked");
    const asked = await answersOf(site, daemon);
    after("answers");
    await using measured = await MeasuredPage.open(browser, await site.address());
    const said: string[] = [];
    measured.page.on("console", (message) => said.push(message.text()));
    measured.page.on("pageerror", (error) => said.push(error.message));
    measured.page.setDefaultTimeout(60_000);
    report("the lists are scrolled");
    const scrolls = [...(await scrollActivity(measured, seconds)), ...(await scrollTools(measured, seconds))];
    after("scroll");
    report(`${options.minutes} minutes of live activity`);
    const { live, pings } = await liveActivity(site, daemon, measured, options);
    after("live");
    return { load, start, looks, scrolls, answers: asked, live, pings, said };
  } finally {
    await browser.close();
  }
}

/** Scrolls while the pages of the list load, and then through all of it. */
async function scrollActivity(measured: MeasuredPage, seconds: number): Promise<ScrollFigures[]> {
  const { page } = measured;
  await showActivity(measured);
  const loading = await measured.scroll("activity, wheel, pages load", () => measured.wheel(seconds));
  const total = page.locator(".total");
  await page.locator(".activity-row").first().focus();
  while ((await total.innerText()).endsWith("+")) {
    const before = await total.innerText();
    await page.keyboard.press("End");
    await eventually(async () => (await total.innerText()) !== before);
  }
  const wheel = await measured.scroll("activity, wheel", () => measured.wheel(seconds, -1));
  await page.locator(".activity-row").nth(10).focus();
  const keys = await measured.scroll("activity, keys", () => measured.hold("ArrowDown", seconds));
  const pages = await measured.scroll("activity, Page Up", () => measured.hold("PageUp", seconds));
  return [loading, wheel, keys, pages];
}

async function scrollTools(measured: MeasuredPage, seconds: number): Promise<ScrollFigures[]> {
  const { page } = measured;
  await page.keyboard.press("5");
  await page.locator(".tool-row").first().waitFor();
  await page.evaluate("scrollTo(0, 0)");
  const wheel = await measured.scroll("tools, wheel", () => measured.wheel(seconds));
  await page.locator(".tool-row .cell-tool").nth(10).focus();
  const keys = await measured.scroll("tools, keys", () => measured.hold("ArrowDown", seconds));
  const pages = await measured.scroll("tools, Page Down", () => measured.hold("PageDown", seconds));
  return [wheel, keys, pages];
}

/** The activity with its newest rows. */
async function showActivity({ page }: MeasuredPage): Promise<void> {
  await page.keyboard.press("2");
  await page.locator(".activity-row").first().waitFor();
  await page.evaluate("scrollTo(0, 0)");
}

/** How long the server of the page takes for its largest answers, and whether its main thread is free meanwhile. */
async function answersOf(site: Site, daemon: number): Promise<AnswerFigures[]> {
  const page = await Page.open(await site.address());
  const figures: AnswerFigures[] = [];
  const paths = {
    "the state": "state",
    "activity, first page": "activity",
    "activity, a text that nothing has": "activity?text=nothing-has-this",
    "activity, a server": "activity?server=server07",
    "all tools": "policy/tools",
    "calls of the tools": "policy/uses",
    "a search of tools": "policy/search?query=refund%20an%20order",
  };
  for (const [name, path] of Object.entries(paths)) {
    await using pings = new Pings(daemon, () => site.pingDaemon());
    const times: number[] = [];
    let bytes = 0;
    for (let time = 0; time < answers; time++) {
      const begun = performance.now();
      const answer = await page.get(`api/${path}`);
      bytes = (await answer.text()).length;
      times.push(performance.now() - begun);
      if (!answer.ok) throw new Error(`${path} was answered with status ${answer.status}`);
    }
    times.sort((one, other) => one - other);
    const [median = 0, slowest = 0] = [times[Math.floor(answers / 2)], times.at(-1)];
    figures.push({ name, median, slowest, bytes, pingMs: pings.figures.slowestMs });
  }
  return figures;
}

/** Agents work while a person looks, scrolls, opens executions and changes between the views. */
async function liveActivity(
  site: Site,
  daemon: number,
  measured: MeasuredPage,
  { minutes, seed }: ConsoleOptions,
): Promise<{ live: LiveFigures; pings: ConsoleFigures["pings"] }> {
  const live: LiveFigures = { minutes, executions: 0, failed: [], memory: [], growthMb: 0, scrolls: [] };
  await using hosts = new AsyncDisposableStack();
  const agents: TestHost[] = [];
  for (let place = 0; place < liveAgents; place++) agents.push(hosts.use(await site.agent(place)));
  const ending = new AbortController();
  const working = agents.flatMap((host, place) =>
    Array.from({ length: atOnce }, (_, lane) =>
      work(host, new Random(seed, place * atOnce + lane), ending.signal, live),
    ),
  );
  const [first] = agents;
  const serve = (first!.client.transport as unknown as { pid: number }).pid;
  const daemonPings = hosts.use(new Pings(daemon, () => site.pingDaemon()));
  const servePings = hosts.use(new Pings(serve, () => first!.client.ping()));
  const begun = performance.now();
  const betweenMs = Math.min(mostBetweenMs, (minutes * minuteMs) / memoryLooks);
  try {
    // The page is measured as a reload would show it, and then again and again in the same place.
    await measured.page.reload();
    await measured.page.locator("main .panel").first().waitFor();
    for (let next = begun; next <= begun + minutes * minuteMs; ) {
      live.scrolls.push(...(await walk(measured)));
      await showActivity(measured);
      live.memory.push({ minute: (performance.now() - begun) / minuteMs, ...(await measured.memory()) });
      next = Math.max(next + betweenMs, performance.now());
      await Bun.sleep(next - performance.now());
    }
  } finally {
    ending.abort();
    await Promise.all(working);
  }
  live.growthMb = growthOf(live.memory);
  return { live, pings: { daemon: daemonPings.figures, serve: servePings.figures } };
}

async function work(host: TestHost, random: Random, signal: AbortSignal, live: LiveFigures): Promise<void> {
  while (!signal.aborted) {
    await Bun.sleep(2 * pauseMs * random.next());
    const code = `// Looks at ${1 + random.below(9)} orders
const { orders } = await demo.list_orders({ limit: ${1 + random.below(9)} });
await new Promise((resolve) => setTimeout(resolve, ${random.below(400)}));
return orders.length;`;
    const answer = await host.call("execute_code", { code });
    live.executions += 1;
    if (answer["isError"]) live.failed.push(JSON.stringify(answer["content"]).slice(0, 200));
  }
}

/** What a person does with the page now and then. */
async function walk(measured: MeasuredPage): Promise<ScrollFigures[]> {
  const { page } = measured;
  await showActivity(measured);
  const activity = await measured.scroll("activity, wheel, live", () => measured.wheel(2));
  await page.locator(".activity-row").nth(5).click();
  await page.locator("#execution").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("5");
  await page.locator(".tool-row").first().waitFor();
  const tools = await measured.scroll("tools, wheel, live", () => measured.wheel(2));
  for (const key of ["1", "3", "4", "6"]) {
    await page.keyboard.press(key);
    await page.locator("main .panel").first().waitFor();
  }
  return [activity, tools];
}

/** The slope of the line through the measurements with the least squares, in megabytes a minute. */
export function growthOf(memory: readonly { minute: number; heapMb: number }[]): number {
  const some = memory.slice(Math.floor(memory.length / 4));
  const mean = (of: (each: { minute: number; heapMb: number }) => number) =>
    some.reduce((sum, each) => sum + of(each), 0) / some.length;
  const [minute, heapMb] = [mean((each) => each.minute), mean((each) => each.heapMb)];
  const spread = mean((each) => (each.minute - minute) ** 2);
  return spread === 0 ? 0 : mean((each) => (each.minute - minute) * (each.heapMb - heapMb)) / spread;
}
