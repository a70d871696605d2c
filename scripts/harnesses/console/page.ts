/** The page in a real browser: how it starts, how it scrolls, and the memory that it uses. */
import type { Browser, CDPSession, Page } from "playwright-core";
import { openPage } from "../../../test/support/browser.ts";
import { framesSeen, startOfPage, watchFrames, watchLooks, watchStart } from "./in-page.js";
import { type ThreadTimes, threadTimes } from "./waits.ts";

/** Pixels that a wheel moves in a second when a person turns it quickly. */
const wheelPixelsPerSecond = 4_000;

/** Time between two presses when a key is held, in milliseconds. */
const keyRepeatMs = 33;

/** Time between two turns of the wheel, in milliseconds. */
const frameMs = 1_000 / 60;

/** The processes of a browser whose main threads take part in a start. */
const isDrawing: ReadonlySet<string> = new Set(["browser", "renderer"]);

const size = { width: 1280, height: 900 };

export interface StartFigures {
  /** Milliseconds from the request of the page until it shows what a person came for. */
  usefulMs: number;
  /** For how long the threads of the browser, the page and the daemon worked, and for how long they waited for a core. */
  workedMs: number;
  waitedMs: number;
  firstPaintMs: number;
}

export interface LooksFigures {
  /** Texts that were seen before the page was useful. */
  looks: string[];
  /** How far what was seen moved at the start: the cumulative layout shift. */
  shift: number;
}

export interface ScrollFigures {
  name: string;
  /** Frames in the median second, and in the worst one. */
  median: number;
  worst: number;
  longestTaskMs: number;
  elements: number;
  /** The share of the time in which the thread of the page worked, and in which it waited for a core. */
  worked: number;
  waited: number;
}

export interface MemoryFigures {
  /** Megabytes of JavaScript objects after garbage collection. */
  heapMb: number;
  nodes: number;
  listeners: number;
}

async function opened(browser: Browser, address: string, prepare: (page: Page) => Promise<unknown>, isDark = false) {
  const watched = await openPage(browser, "about:blank", { viewport: size, colorScheme: isDark ? "dark" : "light" });
  await watched.page.addInitScript(watchStart);
  await prepare(watched.page);
  await watched.page.goto(address);
  await watched.page.evaluate(startOfPage);
  return watched;
}

/** Opens the page, and measures when it is useful. */
export async function startOf(browser: Browser, address: string, daemon: number): Promise<StartFigures> {
  const session = await browser.newBrowserCDPSession();
  const before = new Map<number, ThreadTimes>();
  /** The times since the last call. A process that did not exist has them since its start. */
  const times = async () => {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const sum = { workedMs: 0, waitedMs: 0 };
    for (const pid of [daemon, ...processInfo.filter(({ type }) => isDrawing.has(type)).map(({ id }) => id)]) {
      const now = threadTimes(pid);
      sum.workedMs += now.workedMs - (before.get(pid)?.workedMs ?? 0);
      sum.waitedMs += now.waitedMs - (before.get(pid)?.waitedMs ?? 0);
      before.set(pid, now);
    }
    return sum;
  };
  await times();
  await using watched = await opened(browser, address, async () => {});
  const { useful, firstPaint } = await watched.page.evaluate(startOfPage);
  const figures = { usefulMs: useful, firstPaintMs: firstPaint, ...(await times()) };
  await session.detach();
  return figures;
}

/** Opens the page, and notes what is seen before it is useful. */
export async function looksOf(browser: Browser, address: string): Promise<LooksFigures> {
  await using watched = await opened(browser, address, (page) => page.addInitScript(watchLooks), true);
  await Bun.sleep(1_000);
  const { looks, shift } = await watched.page.evaluate(startOfPage);
  return { looks, shift };
}

export class MeasuredPage {
  readonly page: Page;
  readonly #cdp: CDPSession;
  readonly #browser: CDPSession;

  private constructor(page: Page, cdp: CDPSession, browser: CDPSession) {
    this.page = page;
    this.#cdp = cdp;
    this.#browser = browser;
  }

  static async open(browser: Browser, address: string): Promise<MeasuredPage & AsyncDisposable> {
    const watched = await opened(browser, address, async () => {});
    const { page } = watched;
    const measured = new MeasuredPage(
      page,
      await page.context().newCDPSession(page),
      await browser.newBrowserCDPSession(),
    );
    return Object.assign(measured, { [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose]() });
  }

  /** Frames while something is done. */
  async scroll(name: string, act: () => Promise<void>): Promise<ScrollFigures> {
    await this.page.evaluate(watchFrames);
    const [before, begun] = [await this.#times(), performance.now()];
    await act();
    const tookMs = performance.now() - begun;
    const times = (await this.#times()).map(({ workedMs, waitedMs }, place) => ({
      worked: (workedMs - (before[place]?.workedMs ?? 0)) / tookMs,
      waited: (waitedMs - (before[place]?.waitedMs ?? 0)) / tookMs,
    }));
    const { frames, longestTaskMs, elements } = await this.page.evaluate(framesSeen);
    // The browser may keep processes without a page.
    const { worked = 0, waited = 0 } = times.sort((one, other) => other.worked - one.worked)[0] ?? {};
    return { name, ...framesPerSecond(frames), longestTaskMs, elements, worked, waited };
  }

  /** The main threads of all pages. */
  async #times(): Promise<ThreadTimes[]> {
    const { processInfo } = await this.#browser.send("SystemInfo.getProcessInfo");
    return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => threadTimes(id));
  }

  /** Turns the wheel, up or down. The pointer is over the list. */
  async wheel(seconds: number, direction: 1 | -1 = 1): Promise<void> {
    await this.page.mouse.move(size.width / 2, size.height - 200);
    const [deadline, step] = [performance.now() + seconds * 1_000, (wheelPixelsPerSecond * frameMs) / 1_000];
    for (let next = performance.now(); next < deadline; ) {
      await this.page.mouse.wheel(0, direction * step);
      next = Math.max(next + frameMs, performance.now());
      await Bun.sleep(next - performance.now());
    }
  }

  /** Holds a key. */
  async hold(key: string, seconds: number): Promise<void> {
    const deadline = performance.now() + seconds * 1_000;
    for (let next = performance.now(); next < deadline; ) {
      await this.page.keyboard.down(key);
      next = Math.max(next + keyRepeatMs, performance.now());
      await Bun.sleep(next - performance.now());
    }
    await this.page.keyboard.up(key);
  }

  /** Collects garbage first. */
  async memory(): Promise<MemoryFigures> {
    for (let round = 0; round < 3; round++) await this.#cdp.send("HeapProfiler.collectGarbage");
    const { usedSize } = await this.#cdp.send("Runtime.getHeapUsage");
    const { nodes, jsEventListeners } = await this.#cdp.send("Memory.getDOMCounters");
    return { heapMb: usedSize / 1e6, nodes, listeners: jsEventListeners };
  }
}

/** Frames of the median second and of the worst one. The times are in milliseconds. */
export function framesPerSecond(frames: readonly number[]): { median: number; worst: number } {
  const [first = 0] = frames;
  const seconds = Math.floor(((frames.at(-1) ?? 0) - first) / 1_000);
  const counts = Array.from({ length: seconds }, () => 0);
  for (const at of frames) {
    const second = Math.floor((at - first) / 1_000);
    if (second < seconds) counts[second]! += 1;
  }
  counts.sort((one, other) => one - other);
  return { median: counts[Math.floor(counts.length / 2)] ?? 0, worst: counts[0] ?? 0 };
}
