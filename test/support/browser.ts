/** A real browser without a window: Chromium as the system has it, where it has one. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Undefined where there is none. */
export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

/** To be said in the names of tests that are left out. */
export const browserNote = chromiumPath === undefined ? " (skipped: there is no Chromium in /usr/bin)" : "";

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath!,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface WatchedPage extends AsyncDisposable {
  page: Page;
  /** Errors of scripts, and all that was said on the console. */
  said: string[];
  /** The addresses that were asked for. */
  requests: string[];
}

/** The file in a browser of its own. */
export async function openPage(
  browser: Browser,
  file: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const said: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`file://${file}`);
  return { page, said, requests, [Symbol.asyncDispose]: () => context.close() };
}
