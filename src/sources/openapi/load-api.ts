/** Makes an API of a document, or takes what was made of the same document before. Runs in a worker. */
import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { serversOf } from "./addresses.ts";
import { ApiCache, type Kept, type KeptRead } from "./api-cache.ts";
import { Documents } from "./document/documents.ts";
import { withOverlay } from "./document/overlay.ts";
import { invalid, parseDocument } from "./document/parse-document.ts";
import { Reader, type ReadText, Unreachable } from "./document/read-text.ts";
import { securitySchemes } from "./security.ts";
import { StoredApi } from "./stored-api.ts";
import { shortText } from "./tool-text.ts";
import { readOperations, type Selection } from "./tools-of-document.ts";

export interface ApiJob {
  /** An address, or an absolute path. */
  document: string;
  /** The address of the API, in place of those that the document names. */
  baseUrl?: string | undefined;
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  /** Overlays, which change the document: addresses or absolute paths. */
  overlays?: readonly string[] | undefined;
  /** Sent with requests for documents to the origin of the first one. */
  headers?: Record<string, string> | undefined;
  /** The folder of the files in which APIs are kept. */
  cacheFolder: string;
  /** Does not use the kept copy. */
  isRemade?: true;
}

/** Bytes for `apiIn`, and what people should know about how they were found. */
export interface LoadedApi {
  bytes: Uint8Array;
  problem?: string | undefined;
}

/** Throws CONFIG_INVALID, FILE_NOT_FOUND, AUTH_REQUIRED, SERVER_UNAVAILABLE. */
export async function loadApi(job: ApiJob): Promise<LoadedApi> {
  const { document, baseUrl, include, exclude, overlays = [], headers, cacheFolder, isRemade } = job;
  const root = placeOf(document, "document");
  const cache = new ApiCache(cacheFolder, { document, baseUrl, include, exclude, overlays }, root.url);
  const newReader = () => new Reader({ root: root.url, headers: { ...root.headers, ...headers } });
  const chosen = [root.url, ...overlays.map((each) => placeOf(each, "overlay").url)];
  const kept = isRemade ? undefined : cache.read();
  if (kept) {
    try {
      if (await isUnchanged(kept, newReader(), chosen)) {
        cache.touch();
        return { bytes: kept.bytes };
      }
    } catch (error) {
      if (error instanceof Unreachable)
        return { bytes: kept.bytes, problem: `${error.message} Its last copy is used.` };
      throw error;
    }
  }
  const bytes = await made(job, newReader(), chosen, cache);
  return { bytes };
}

async function made(
  { include, exclude, baseUrl }: ApiJob,
  reader: Reader,
  chosen: readonly URL[],
  cache: ApiCache,
): Promise<Uint8Array> {
  const reads: KeptRead[] = [];
  let root: Root | undefined;
  for (const [index, address] of chosen.entries()) {
    const read = (await reader.readChosen(address))!;
    reads.push({ chosen: index, hash: hashOf(read.bytes), ...(read.etag === undefined ? {} : { etag: read.etag }) });
    root = root ? overlaid(root, read) : rootOf(read, chosen.length === 1);
  }
  const { url, value, mayRefer } = root!;
  // The text of the document, which is no longer needed.
  Bun.gc(true);
  const documents = new Documents({ url: baseOf(value["$self"], url), value });
  await documents.load(reader, mayRefer, (asked, read) => {
    reads.push({
      named: cache.shortened(asked),
      hash: hashOf(read.bytes),
      ...(read.etag === undefined ? {} : { etag: read.etag }),
    });
  });
  const bytes = compiled(documents, { include, exclude }, baseUrl);
  // A document that could not be read may be there the next time.
  if (documents.isWhole) cache.write(reads, bytes);
  return bytes;
}

interface Root {
  url: string;
  value: JsonObject;
  /** Whether it may refer to other documents. */
  mayRefer: boolean;
}

function rootOf({ url, bytes }: ReadText, isReadOnly: boolean): Root {
  return { url, value: parseDocument(bytes, "The document", { isReadOnly }), mayRefer: leadsAway(bytes) };
}

function overlaid({ url, value, mayRefer }: Root, { bytes }: ReadText): Root {
  return {
    url,
    value: withOverlay(value, parseDocument(bytes, "The overlay")),
    mayRefer: mayRefer || leadsAway(bytes),
  };
}

/** Whether all documents are as they were when the API was made. Throws what reading a chosen document throws, and Unreachable. */
async function isUnchanged({ reads }: Kept, reader: Reader, chosen: readonly URL[]): Promise<boolean> {
  for (const read of reads) if (!(await isSame(read, reader, chosen))) return false;
  return true;
}

async function isSame(
  { chosen: index, named, hash, etag }: KeptRead,
  reader: Reader,
  chosen: readonly URL[],
): Promise<boolean> {
  if (named === undefined) {
    const read = await reader.readChosen(chosen[index ?? 0]!, etag);
    return !read || hashOf(read.bytes) === hash;
  }
  try {
    const read = await reader.readNamed(new URL(named), etag);
    return !read || hashOf(read.bytes) === hash;
  } catch (error) {
    // It is gone, and whoever refers to it has changed too.
    if (error instanceof ClaudikinsError && !(error instanceof Unreachable)) return false;
    throw error;
  }
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The document or overlay, and the credentials in its address, which `fetch` does not take. */
function placeOf(text: string, what: string): { url: URL; headers: Record<string, string> } {
  if (isAbsolute(text)) return { url: pathToFileURL(text), headers: {} };
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalid(
      `The address of the ${what} is not valid`,
      "Give an address that begins with https:// or http://, or the path of a file.",
    );
  const { username, password } = url;
  url.username = "";
  url.password = "";
  url.hash = "";
  if (username === "" && password === "") return { url, headers: {} };
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, headers: { authorization: `Basic ${Buffer.from(plain).toString("base64")}` } };
}

/** In OpenAPI 3.2, a document on the network may say by which address its references are meant. */
function baseOf(self: unknown, url: string): string {
  const named = typeof self === "string" && !url.startsWith("file:") ? URL.parse(self, url) : undefined;
  return named && /^https?:$/.test(named.protocol) ? named.href : url;
}

/** Whether the text may have a reference to another document. */
function leadsAway(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = text.indexOf("$ref"); at !== -1; at = text.indexOf("$ref", at + 4)) {
    const after = text.toString("latin1", at + 4, at + 4 + referenceChars);
    if (/^["']?\s*:(?!\s*(?:["']?#|\{))/.test(after)) return true;
  }
  return false;
}

/** Characters after `$ref` in which its value begins. */
const referenceChars = 64;

/** Characters of the title and the version. */
const maxInfoChars = 200;

/** Throws CONFIG_INVALID if the document does not describe an API. Returns the bytes of a `StoredApi`. */
function compiled(documents: Documents, selection: Selection, baseUrl: string | undefined): Uint8Array {
  const { value } = documents.root;
  const version = value["openapi"] ?? value["swagger"];
  if (!/^(?:2|3\.\d)/.test(String(version))) {
    const says =
      version === undefined
        ? 'it has neither "openapi" nor "swagger"'
        : `its version is ${shortText(String(version), 40)}`;
    throw invalid(
      `The document is not OpenAPI 3 or Swagger 2: ${says}`,
      "Give the address or the path of an OpenAPI document.",
    );
  }
  const info = isObject(value["info"]) ? value["info"] : {};
  const text = (key: string) =>
    typeof info[key] === "string" || typeof info[key] === "number" ? shortText(String(info[key]), maxInfoChars) : "";
  const servers = baseUrl === undefined ? serversOf(documents.root) : [baseUrl.replace(/\/$/, "")];
  if (servers.length === 0) documents.tell('The document names no complete address of the API. Set "baseUrl".');
  const schemes = securitySchemes(documents);
  const stored = new StoredApi();
  readOperations(documents, selection, Object.keys(schemes).length > 0, baseUrl, (tool, operation) =>
    stored.add(tool, operation),
  );
  return stored.finished({
    title: text("title"),
    version: text("version"),
    servers,
    securitySchemes: schemes,
    problems: [...documents.problems],
  });
}
