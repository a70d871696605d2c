/**
 * Reads documents from files and addresses within limits. The user chooses the first document. All others are chosen by whoever wrote
 * it, so a document from the network reads no files and, unless its own host is private, no private addresses.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { kindsOfHost, mayReach } from "../../../base/address-reach.ts";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../../base/errors.ts";
import { megabyte, megabytes } from "../../../base/units.ts";
import { oneLine } from "../../../base/visible-text.ts";
import { invalid } from "./parse-document.ts";

/** Size of all documents of one API together. The largest known one has 60 MB as YAML. */
const maxReadBytes = 128 * megabyte;

/** Documents of one API. DigitalOcean has about 3,000. */
const maxReadDocuments = 5_000;

/** Time for one document to arrive. */
const readMs = 60_000;

/** Addresses that lead to others, one after the other. */
const maxRedirects = 5;

/** Characters of a reference in an error. */
const maxShownReferenceChars = 120;

/** A document as it was read. */
export interface ReadText {
  /** The address after redirects. */
  url: string;
  bytes: Uint8Array;
  etag?: string | undefined;
}

interface ReaderOptions {
  root: URL;
  /** For the origin of the first document only. */
  headers?: Record<string, string> | undefined;
}

/** The server could not be reached, or failed by itself. */
export class Unreachable extends ClaudikinsError {}

export class Reader {
  readonly #root: URL;
  readonly #headers: Record<string, string>;
  #bytes = 0;
  #documents = 0;

  constructor({ root, headers = {} }: ReaderOptions) {
    this.#root = root;
    this.#headers = headers;
  }

  /**
   * Reads a document that the user has named. Undefined if it still has the tag. Throws CONFIG_INVALID, FILE_NOT_FOUND, AUTH_REQUIRED and Unreachable.
   */
  readChosen(url: URL, etag?: string): Promise<ReadText | undefined> {
    return url.protocol === "file:"
      ? Promise.resolve(this.#readFile(url, "The document"))
      : this.#fetch(url, "The document", etag);
  }

  /** Reads a document that another one names. Throws as `readChosen`. */
  async readNamed(url: URL, etag?: string): Promise<ReadText | undefined> {
    const what = `The referenced document ${oneLine(shownName(url), maxShownReferenceChars)}`;
    if (url.protocol === "file:") {
      if (this.#root.protocol !== "file:")
        throw invalid(`${what} is a file, which a document from the network must not read`);
      if (!/\.(?:json|ya?ml)$/i.test(url.pathname)) throw invalid(`${what} is not a JSON or YAML file`);
      return this.#readFile(url, what);
    }
    await this.#checkReach(url, what);
    return this.#fetch(url, what, etag);
  }

  #readFile(url: URL, what: string): ReadText {
    try {
      // A named pipe would block.
      const file = openSync(fileURLToPath(url), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      try {
        const stats = fstatSync(file);
        if (!stats.isFile()) throw invalid(`${what} is not a file`);
        this.#count(stats.size, what);
        return { url: url.href, bytes: readFileSync(file) };
      } finally {
        closeSync(file);
      }
    } catch (cause) {
      if (cause instanceof ClaudikinsError) throw cause;
      const why =
        systemCodeOf(cause) === "ENOENT"
          ? "does not exist"
          : `cannot be read (${systemCodeOf(cause) ?? messageOf(cause)})`;
      throw new ClaudikinsError("FILE_NOT_FOUND", `${what} ${why}.`);
    }
  }

  async #fetch(first: URL, what: string, etag: string | undefined): Promise<ReadText | undefined> {
    let url = first;
    for (let hops = 0; hops <= maxRedirects; hops++) {
      const response = await this.#request(url, what, etag);
      const next = response.headers.get("location");
      if (response.status === 304) return undefined;
      if (next !== null && response.status >= 300 && response.status < 400) {
        await response.body?.cancel();
        url = this.#redirected(next, url, what);
        await this.#checkReach(url, what);
        continue;
      }
      if (!response.ok) throw await refused(response, what);
      return {
        url: url.href,
        bytes: await this.#body(response, what),
        etag: response.headers.get("etag") ?? undefined,
      };
    }
    throw invalid(`${what} is redirected more than ${maxRedirects} times`);
  }

  async #request(url: URL, what: string, etag: string | undefined): Promise<Response> {
    const headers = {
      accept: "application/json, application/yaml;q=0.9, */*;q=0.5",
      ...(etag === undefined ? {} : { "if-none-match": etag }),
      ...(url.origin === this.#root.origin ? this.#headers : {}),
    };
    try {
      return await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(readMs) });
    } catch (cause) {
      throw unreachable(what, cause);
    }
  }

  #redirected(next: string, from: URL, what: string): URL {
    const url = URL.parse(next, from.href);
    if (url && /^https?:$/.test(url.protocol)) return url;
    throw invalid(`${what} is redirected to something that is not an address`);
  }

  async #checkReach(url: URL, what: string): Promise<void> {
    if (!/^https?:$/.test(url.protocol)) throw invalid(`${what} has an address that does not begin with http or https`);
    const isFile = this.#root.protocol === "file:";
    if (isFile ? (await kindsOfHost(url)).every((kind) => kind === "public") : await mayReach(url, this.#root)) return;
    throw invalid(`${what} is on this machine or its network, where a document from elsewhere must not lead`);
  }

  async #body(response: Response, what: string): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    this.#count(0, what);
    try {
      for await (const part of response.body ?? []) {
        // Several documents arrive at the same time.
        this.#bytes += part.length;
        if (this.#bytes > maxReadBytes) throw tooLarge(what);
        parts.push(part);
      }
    } catch (cause) {
      if (cause instanceof ClaudikinsError) throw cause;
      throw unreachable(what, cause);
    }
    return Buffer.concat(parts);
  }

  #count(bytes: number, what: string): void {
    this.#bytes += bytes;
    this.#documents += 1;
    if (this.#bytes > maxReadBytes) throw tooLarge(what);
    if (this.#documents > maxReadDocuments)
      throw invalid(`The API consists of more than ${maxReadDocuments} documents`);
  }
}

function tooLarge(what: string): ClaudikinsError {
  return invalid(`${what} is too large: all documents of an API may have ${megabytes(maxReadBytes)}`);
}

function unreachable(what: string, cause: unknown): Unreachable {
  const isLate = cause instanceof Error && cause.name === "TimeoutError";
  const why = isLate
    ? `did not arrive in ${readMs / 1_000} seconds`
    : `could not be fetched (${systemCodeOf(cause) ?? messageOf(cause)})`;
  return new Unreachable("SERVER_UNAVAILABLE", `${what} ${why}.`, {
    hint: "Check the address and the network, and try again.",
  });
}

async function refused(response: Response, what: string): Promise<ClaudikinsError> {
  await response.body?.cancel();
  const { status } = response;
  if (status === 401 || status === 403) {
    const hint = 'Add "headers" with the credentials to the entry, or download the document and give its path.';
    return new ClaudikinsError("AUTH_REQUIRED", `${what} could not be fetched: the server answered ${status}.`, {
      hint,
    });
  }
  if (status >= 500 || status === 429)
    return new Unreachable("SERVER_UNAVAILABLE", `${what} could not be fetched: the server answered ${status}.`);
  return invalid(`${what} could not be fetched: the server answered ${status}`, "Check the address of the document.");
}

/** The name that a document uses for another one. Addresses of the user may have secrets, which are not in these. */
function shownName(url: URL): string {
  return url.protocol === "file:" ? (url.pathname.split("/").at(-1) ?? "") : `${url.host}${url.pathname}`;
}
