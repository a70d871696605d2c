/** Executions and programs that the tests of the contract store. */
import type { ExecutionWriter } from "../../../src/store/jobs.ts";

export const roomBytes = 1e9;

/** The stored fields of a new execution. */
export function fresh(owner: string, more: object = {}) {
  return { config: "/a.json", startedAt: 1_000, request: '{"source":"return 1"}', isWanted: true, owner, ...more };
}

export function add(writer: ExecutionWriter, id: string, owner: string, more: object = {}): Promise<undefined> {
  return writer.do("add", id, { ...fresh(owner, more), roomBytes });
}

/** Pages with these texts, by their numbers. */
export function batchOf(texts: Record<number, string>) {
  const parts = Object.entries(texts).map(([page, text]) => [Number(page), Buffer.from(text)] as const);
  const bytes = new Uint8Array(Buffer.concat(parts.map(([, each]) => each)));
  return {
    pages: Float64Array.from(parts, ([page]) => page),
    sizes: Float64Array.from(parts, ([, each]) => each.length),
    bytes: bytes.buffer as ArrayBuffer,
  };
}

/** The texts of batches, by the numbers of their pages. */
export function textsOf(batches: readonly { pages: Float64Array; sizes: Float64Array; bytes: ArrayBuffer }[]) {
  const texts: Record<number, string> = {};
  for (const { pages, sizes, bytes } of batches) {
    let at = 0;
    for (const [index, page] of pages.entries()) {
      const size = sizes[index] ?? 0;
      texts[page] = Buffer.from(bytes, at, size).toString();
      at += size;
    }
  }
  return texts;
}

interface Saving {
  texts?: Record<number, string>;
  records?: readonly string[];
  /** The calls that the program waits for, and those of them that are new. */
  open?: readonly number[];
  made?: readonly number[];
  version?: number;
  /** Whether all pages are new. */
  isWhole?: boolean;
}

/** Saves a program: its pages, records and calls, and then what refers to them. */
export async function save(
  writer: ExecutionWriter,
  id: string,
  about: { owner: string } & object,
  { texts = {}, records = [], open = [], made = open, version = 1, isWhole = true }: Saving,
): Promise<void> {
  await writer.do("begin", id, { owner: about.owner });
  await writer.do("pages", id, { ...batchOf(texts), version, roomBytes });
  for (const [record, text] of records.entries()) {
    await writer.do("record", id, { record, bytes: new Uint8Array(Buffer.from(text)), roomBytes });
  }
  const calls = made.map((call) => {
    const message = { namespace: "shop", group: "tools", name: `call_${call}`, line: call, args: '{"a":1}' };
    return writer.do("call", id, { call, isSent: false, repeatable: false, ...message });
  });
  const pages = isWhole ? undefined : Float64Array.from(Object.keys(texts), Number);
  const image = { unsaved: undefined, wakeAt: undefined, engine: "engine 1", version, pages };
  const program = new Uint8Array(Buffer.from(`program ${version}`));
  await Promise.all([...calls, writer.do("save", id, { ...image, program, open, ...about })]);
}

/** The versions of pages, as an image asks for them. */
export function imageOf(versions: Record<number, number>) {
  const entries = Object.entries(versions);
  return {
    pages: Float64Array.from(entries, ([page]) => Number(page)),
    versions: Float64Array.from(entries, ([, version]) => version),
  };
}
