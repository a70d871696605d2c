/** The documents of one API, and the references between them. All are read before any is resolved, so that resolving waits for nothing. */
import { ClaudikinsError } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import { pointerParts } from "../../../base/json-schema.ts";
import { oneLine } from "../../../base/visible-text.ts";
import { parseDocument } from "./parse-document.ts";
import type { Reader, ReadText } from "./read-text.ts";

/** References that lead to other references, one after the other. */
const maxReferenceHops = 64;

/** Documents that lead to other documents, one after the other. */
const maxDocumentHops = 50;

/** Documents that are read at the same time. */
const documentsAtOnce = 16;

/** Problems that are told. */
const maxToldProblems = 50;

/** Characters of a reference in a problem. */
const maxProblemReferenceChars = 200;

/** A document, by its address after redirects. */
export interface LoadedDocument {
  url: string;
  value: JsonObject;
}

/** A value and the document that it stands in, by which its references are resolved. */
export interface Place {
  readonly value: unknown;
  readonly document: LoadedDocument;
}

/** A place whose value is an object. */
export interface ObjectPlace extends Place {
  readonly value: JsonObject;
}

export class Documents {
  readonly root: LoadedDocument;
  readonly problems = new Set<string>();
  /** Whether every document could be read. */
  isWhole = true;
  readonly #loaded = new Map<string, LoadedDocument>();
  readonly #resolved = new Map<LoadedDocument, Map<string, Place | undefined>>();

  constructor(root: LoadedDocument) {
    this.root = root;
    this.#loaded.set(root.url, root);
  }

  /** Reads the documents that the loaded ones refer to. One that cannot be read is a problem. `onRead` gets each. */
  async load(reader: Reader, mayRefer: boolean, onRead: (asked: string, read: ReadText) => void): Promise<void> {
    let found = mayRefer ? this.#namedBy(this.root) : new Set<string>();
    for (let hops = 0; found.size > 0; hops++) {
      if (hops === maxDocumentHops)
        return this.tell(`More than ${maxDocumentHops} documents lead to each other. The last ones were left out.`);
      const waiting = [...found];
      found = new Set();
      const work = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const document = await this.#read(next, reader, onRead);
          if (!document) continue;
          this.#loaded.set(next, document);
          for (const named of this.#namedBy(document)) if (!this.#loaded.has(named)) found.add(named);
        }
      };
      await Promise.all(Array.from({ length: documentsAtOnce }, work));
    }
  }

  async #read(
    url: string,
    reader: Reader,
    onRead: (asked: string, read: ReadText) => void,
  ): Promise<LoadedDocument | undefined> {
    try {
      const read = await reader.readNamed(new URL(url));
      if (!read) return undefined;
      onRead(url, read);
      return { url: read.url, value: parseDocument(read.bytes, "A referenced document") };
    } catch (error) {
      if (!(error instanceof ClaudikinsError)) throw error;
      this.isWhole = false;
      this.tell(`${error.message.replace(/\.?$/, ".")} References to it were left out.`);
      return undefined;
    }
  }

  tell(problem: string): void {
    if (this.problems.size < maxToldProblems) this.problems.add(problem);
  }

  /** The addresses of other documents in the references of a document. */
  #namedBy({ value, url }: LoadedDocument): Set<string> {
    const named = new Set<string>();
    // Parts of a large document are parsed when they are read, and must not all stay.
    const seen = new WeakSet();
    const visit = (node: object): void => {
      if (seen.has(node)) return;
      seen.add(node);
      const reference = (node as JsonObject)["$ref"];
      if (typeof reference === "string" && !reference.startsWith("#")) {
        const address = addressOf(reference, url);
        if (address !== undefined && address !== url) named.add(address);
      }
      for (const key in node) {
        const each = (node as JsonObject)[key];
        if (typeof each === "object" && each !== null) visit(each);
      }
    };
    visit(value);
    return named;
  }

  /** The place after all references. Undefined if one leads nowhere, or in a circle. */
  follow(from: Place): Place | undefined {
    let place = from;
    for (let hops = 0; hops < maxReferenceHops; hops++) {
      const { value } = place;
      const reference = isObject(value) ? value["$ref"] : undefined;
      if (typeof reference !== "string") return place;
      const next = this.resolve(reference, place.document);
      if (!next) return undefined;
      place = next;
    }
    this.tell("References lead to each other in a circle, or through too many others. They were left out.");
    return undefined;
  }

  /** Like `follow`, for values that must be objects. */
  object(from: Place): ObjectPlace | undefined {
    const place = this.follow(from);
    return place && isObject(place.value) ? (place as ObjectPlace) : undefined;
  }

  /** The same place for the same reference. */
  resolve(reference: string, from: LoadedDocument): Place | undefined {
    const known = this.#resolved.get(from) ?? new Map<string, Place | undefined>();
    this.#resolved.set(from, known);
    if (known.has(reference)) return known.get(reference);
    // A pointer that leads through itself finds nothing.
    known.set(reference, undefined);
    const place = this.#resolve(reference, from);
    if (!place)
      this.tell(
        `The reference ${oneLine(reference, maxProblemReferenceChars)} leads nowhere, so its users are incomplete.`,
      );
    known.set(reference, place);
    return place;
  }

  #resolve(reference: string, from: LoadedDocument): Place | undefined {
    const hash = reference.indexOf("#");
    const address = hash === -1 ? reference : reference.slice(0, hash);
    const fragment = hash === -1 ? "" : reference.slice(hash);
    const url = address === "" ? from.url : addressOf(address, from.url);
    const document = address === "" ? from : url === undefined ? undefined : this.#loaded.get(url);
    if (!document) return undefined;
    if (fragment === "" || fragment === "#") return { value: document.value, document };
    if (!fragment.startsWith("#/")) return anchored(fragment.slice(1), document);
    let place: Place | undefined = { value: document.value, document };
    for (const part of pointerParts(fragment)) {
      const at: Place | undefined = has(place.value, part) ? place : this.follow(place);
      if (!at || !has(at.value, part)) return undefined;
      place = { value: at.value[part], document: at.document };
    }
    return place;
  }
}

function has(value: unknown, key: string): value is JsonObject {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

function anchored(name: string, document: LoadedDocument): Place | undefined {
  const { components, $defs } = document.value;
  const places = [$defs, isObject(components) ? components["schemas"] : undefined]
    .filter(isObject)
    .flatMap(Object.values);
  const value = places.find((each) => isObject(each) && (each["$anchor"] === name || each["$dynamicAnchor"] === name));
  return value === undefined ? undefined : { value, document };
}

/** The address of the document in a reference, without its fragment. */
function addressOf(reference: string, base: string): string | undefined {
  const url = URL.parse(reference, base);
  if (!url) return undefined;
  url.hash = "";
  return url.href;
}

/** The value at a key of a place. */
export function at(place: ObjectPlace, key: string): Place {
  return { value: Object.hasOwn(place.value, key) ? place.value[key] : undefined, document: place.document };
}
