/** Reads a JSON answer of an API: whether it is valid, and where the next page is. The text itself is passed on as it came. */
import { parseExact } from "../../base/exact-json.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { weigh } from "../../base/json-weight.ts";
import { OffThread, TookTooLong } from "../../base/off-thread.ts";
import { nextArguments, type Page } from "../next-page.ts";

/** Larger answers are read in a worker. An answer of this size takes at most 3 ms, as much as the use of a worker. */
const maxInlineBytes = 131_072;

/** Levels of an answer. Deeper JSON would overflow the stack of code that writes or walks it. */
const maxDepth = 500;

/** Values in one answer. A million values take about 100 MB. */
const maxValues = 4_000_000;

/** Time for a worker to read an answer, on a busy machine. */
const readingMs = 30_000;

export interface JsonAnswer {
  text: string;
  isObject: boolean;
  /** The arguments of the call for the next page. */
  next?: JsonObject | undefined;
  /** Why the answer cannot be used. */
  problem?: string | undefined;
}

/** How the next page is found. Undefined if the operation has no pages. */
export type PageOf = Omit<Page, "value"> | undefined;

/** A flat object of strings, which crosses to another thread without a copy. */
interface Packed {
  text: string;
  rest: string;
}

interface Job {
  bytes: Uint8Array<ArrayBuffer>;
  page: string;
}

const workers = new OffThread<Job, Packed>("./sources/openapi/answer-worker.ts");

/** Throws nothing: an answer that cannot be read has a `problem`. The bytes must be the only user of their buffer. */
export async function readAnswer(bytes: Uint8Array<ArrayBuffer>, page: PageOf): Promise<JsonAnswer> {
  if (bytes.length <= maxInlineBytes) return answerIn(bytes, page);
  try {
    const job = { bytes, page: JSON.stringify(page ?? null) };
    const { text, rest } = await workers.run(job, { limitMs: readingMs, transfer: [bytes.buffer] });
    return { text, ...(parseExact(rest) as Omit<JsonAnswer, "text">) };
  } catch (error) {
    const problem = error instanceof TookTooLong ? "could not be read in time" : "could not be read";
    return { text: "", isObject: false, problem };
  }
}

/** The work of the worker. */
export function packedAnswer({ bytes, page }: Job): Packed {
  const { text, ...rest } = answerIn(bytes, (parseExact(page) as PageOf | null) ?? undefined);
  return { text, rest: JSON.stringify(rest) };
}

function answerIn(bytes: Uint8Array, page: PageOf): JsonAnswer {
  const { depth, values } = weigh(bytes);
  if (depth > maxDepth) return { text: "", isObject: false, problem: `is nested more than ${maxDepth} levels deep` };
  if (values > maxValues)
    return { text: "", isObject: false, problem: `has more than ${maxValues / 1_000_000} million values` };
  const text = new TextDecoder().decode(bytes);
  try {
    const value = parseExact(text);
    const next = page && nextArguments({ ...page, value });
    return { text, isObject: isObject(value), ...(next === undefined ? {} : { next }) };
  } catch {
    return { text, isObject: false, problem: "is not valid JSON" };
  }
}
