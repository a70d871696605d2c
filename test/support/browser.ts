/** A real browser without a window: the system's Chromium, if it has one. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Undefined if Chromium is not installed. */
export const chromiumPath = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));

/** Added to the names of skipped tests. */
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
  /** Errors of scripts, and console messages. */
  said: string[];
  /** The requested addresses. */
  requests: string[];
}

/** Opens the file or the address in a new browser. */
export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const said: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  // A defect of the server, whose answer says more than the console does.
  page.on("response", (response) => {
    if (response.status() !== 500) return;
    const at = response.url();
    response.text().then(
      (text) => said.push(`${at}: ${text}`),
      () => {},
    );
  });
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(address.startsWith("/") ? `file://${address}` : address);
  return { page, said, requests, [Symbol.asyncDispose]: () => context.close() };
}
