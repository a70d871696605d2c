/**
 * An API as bytes, which cross threads and are kept in a file. They are lines of JSON, so that the thread of the protocol reads a
 * large API bit by bit. Parts that many operations share are there once.
 */
import type { Tool } from "@modelcontextprotocol/client";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import type { Api, Operation } from "./api.ts";

/** Changes when the form of the text, or what is made of a document, changes. */
export const storedFormat = 2;

/** Characters of one line. Parsing takes about a millisecond. */
const lineChars = 65_536;

type ApiHead = Omit<Api, "tools" | "operations">;

/** Numbers are places in the list of shared parts. */
interface StoredOperation extends Pick<Operation, "name" | "method" | "path" | "body" | "pages"> {
  parameters: number[];
  servers?: number;
  responses: number;
  security: number;
}

interface LastLine extends ApiHead {
  shared: unknown[];
}

export class StoredApi {
  readonly #lines: Buffer[] = [];
  readonly #shared = new Map<string, number>();
  /** Places of objects that were seen before, without writing them again. */
  readonly #seen = new WeakMap<object, number>();
  #entries: string[] = [];
  #chars = 0;

  add(tool: Tool, operation: Operation): void {
    const { name, method, path, parameters, body, responses, security, servers, pages } = operation;
    const stored: StoredOperation = {
      name,
      method,
      path,
      parameters: parameters.map((each) => this.#share(each)),
      ...(body ? { body } : {}),
      responses: this.#share(responses),
      security: this.#share(security),
      ...(servers ? { servers: this.#share(servers) } : {}),
      ...(pages ? { pages } : {}),
    };
    const text = `${JSON.stringify(tool)},${JSON.stringify(stored)}`;
    this.#entries.push(text);
    this.#chars += text.length;
    if (this.#chars >= lineChars) this.#endLine();
  }

  finished(head: ApiHead): Uint8Array {
    if (this.#entries.length > 0) this.#endLine();
    const shared = `[${[...this.#shared.keys()].join(",")}]`;
    this.#lines.push(Buffer.from(`${JSON.stringify(head).slice(0, -1)},"shared":${shared}}`));
    return Buffer.concat(this.#lines);
  }

  #endLine(): void {
    this.#lines.push(Buffer.from(`[${this.#entries.join(",")}]\n`));
    this.#entries = [];
    this.#chars = 0;
  }

  #share(part: object): number {
    const seen = this.#seen.get(part);
    if (seen !== undefined) return seen;
    const text = JSON.stringify(part);
    let place = this.#shared.get(text);
    if (place === undefined) {
      place = this.#shared.size;
      this.#shared.set(text, place);
    }
    this.#seen.set(part, place);
    return place;
  }
}

/** The API in the bytes of `StoredApi`. Other events are handled in between. Throws SyntaxError if they are damaged. */
export async function apiIn(bytes: Uint8Array): Promise<Api> {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const last = stored.lastIndexOf(lineEnd) + 1;
  const { shared, ...head } = JSON.parse(stored.toString("utf8", last)) as LastLine;
  const tools: Tool[] = [];
  const operations: Operation[] = [];
  for (let from = 0; from < last; ) {
    if (!hasTurnTime()) await eventLoopTurn();
    const end = stored.indexOf(lineEnd, from);
    const entries = JSON.parse(stored.toString("utf8", from, end)) as (Tool | StoredOperation)[];
    for (let at = 0; at < entries.length; at += 2) {
      tools.push(entries[at] as Tool);
      operations.push(restored(entries[at + 1] as StoredOperation, shared));
    }
    from = end + 1;
  }
  return { ...head, tools, operations };
}

const lineEnd = 0x0a;

function restored(
  { parameters, responses, security, servers, ...rest }: StoredOperation,
  shared: readonly unknown[],
): Operation {
  return {
    ...rest,
    parameters: parameters.map((place) => shared[place] as Operation["parameters"][number]),
    responses: shared[responses] as Operation["responses"],
    security: shared[security] as Operation["security"],
    ...(servers === undefined ? {} : { servers: shared[servers] as string[] }),
  };
}
