/** The page of `claudikins ui` in the daemon. At most one is open. */
import { ClaudikinsError } from "../base/errors.ts";

/** See `page/user-page.ts`. */
export interface LocalPage {
  /**
   * Returns the address of the page and a token that works once. With `withFile`, it also creates a file that leads a browser to the page.
   */
  invite(options?: { withFile?: boolean }): { port: number; path: string; token: string; file?: string };
  /** Whether it is open in a browser, or about to be opened. */
  readonly isInUse: boolean;
  close(): Promise<void>;
}

export class DaemonPage {
  readonly #open: (() => Promise<LocalPage>) | undefined;
  #page: LocalPage | undefined;
  #opening: Promise<LocalPage> | undefined;

  constructor(open: (() => Promise<LocalPage>) | undefined) {
    this.#open = open;
  }

  get isInUse(): boolean {
    return this.#page?.isInUse === true;
  }

  /** Opens the page if it is closed. Throws USAGE if the daemon has no page. */
  async opened(): Promise<LocalPage> {
    if (!this.#open) throw new ClaudikinsError("USAGE", "This daemon has no page");
    if (this.#page) return this.#page;
    // Concurrent callers open one page.
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    this.#page = await this.#opening;
    return this.#page;
  }

  async closeUnused(): Promise<void> {
    if (!this.isInUse) await this.close();
  }

  async close(): Promise<void> {
    const page = this.#page;
    this.#page = undefined;
    await page?.close();
  }
}
