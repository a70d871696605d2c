/** Splits long lists into pages. All pages of a list show the moment of the first request. */
import type { JsonObject } from "../../json-object.ts";
import { invalidParams } from "./answers.ts";

/** Many agents never ask for a second page, so a page is as large as a message may be. */
const pageSize = 1_000;

export class Pages {
  readonly #key: string;
  #all: readonly JsonObject[] = [];

  /** `key` is the field of the list in an answer. */
  constructor(key: string) {
    this.#key = key;
  }

  /** `list` is called for the first page only. */
  async page(cursor: unknown, list: () => Promise<readonly JsonObject[]>): Promise<JsonObject> {
    if (cursor === undefined) this.#all = await list();
    const from = cursor === undefined ? 0 : this.#from(cursor);
    const to = from + pageSize;
    return {
      [this.#key]: this.#all.slice(from, to),
      ...(to < this.#all.length ? { nextCursor: `from ${to}` } : {}),
    };
  }

  #from(cursor: unknown): number {
    const from = Number(/^from (\d{1,9})$/.exec(String(cursor))?.[1]);
    if (from > 0 && from < this.#all.length) return from;
    throw invalidParams("There is no such page: request the first one without a cursor");
  }
}
