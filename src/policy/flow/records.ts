/**
 * Records in results, such as one customer of a list of customers: data of a customer may go to that customer. Records are found by the
 * servers' own ids, which strangers cannot choose, and never in free text.
 */
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { maxTextLeaves, minWordLetters } from "../limits.ts";
import { isFreeText, lettersOf, wordsIn } from "./letters.ts";

export interface DataRecord {
  /** The server that the record comes from. */
  server: string;
  /** Whole values, as letters. */
  fields: ReadonlySet<string>;
  /** Whether one of its values contains the letters. Few letters must be a whole word. */
  has: (letters: string) => boolean;
  /** The record's own ids, as letters. */
  ids: ReadonlySet<string>;
  /** The ids of other records, as letters. */
  references: ReadonlySet<string>;
  /** Whether it contains free text, such as the body of a mail. */
  hasProse: boolean;
}

const ownId = /^(?:_?id|uuid|guid|key|number|iid)$/i;
const reference = /(?:_id|Id|_key|Key|_number|Number|_iid|_uuid)$/;

/** Whether an argument of this name says which record a call is about. */
export function namesRecord(key: string): boolean {
  return ownId.test(key) || reference.test(key);
}

/** The records of a result, or of another value in JSON. */
export function recordsOf(value: unknown, server: string): DataRecord[] {
  const records: DataRecord[] = [];
  for (const part of partsOf(value)) addRecords(part, server, records);
  return records;
}

/** The JSON in the parts of a result. Other texts have no records. */
function partsOf(value: unknown): unknown[] {
  if (!isObject(value) || !Array.isArray(value["content"])) return [value];
  const texts = value["content"].map((block) => isObject(block) && parsedJson(String(block["text"])));
  return [value["structuredContent"], ...texts];
}

function addRecords(root: unknown, server: string, records: DataRecord[]): void {
  let left = maxTextLeaves;
  /** Adds the values of an object to a record. Objects with an id of their own are other records. */
  const collect = (value: unknown, key: string, into: Collected | undefined): void => {
    if (left-- <= 0) return;
    if (Array.isArray(value)) for (const each of value) collect(each, key, into);
    else if (isObject(value)) {
      const isOwn = into === undefined || Object.keys(value).some((name) => ownId.test(name));
      const record = isOwn ? new Collected() : into;
      for (const [name, each] of Object.entries(value))
        collect(each, name, isContainer(value, each) ? undefined : record);
      if (isOwn) records.push(record.ended(server));
    } else if (into && (typeof value === "string" || typeof value === "number")) into.add(key, String(value));
  };
  collect(root, "", undefined);
}

/** Whether a list is the content of a page, as in `{ customers: [ … ], next_cursor }`, and not the value of a record. */
function isContainer(parent: JsonObject, value: unknown): boolean {
  return Array.isArray(value) && !Object.keys(parent).some((name) => ownId.test(name));
}

class Collected {
  readonly #fields = new Set<string>();
  readonly #ids = new Set<string>();
  readonly #references = new Set<string>();
  readonly #words = new Set<string>();
  #letters = "";
  #hasProse = false;

  add(key: string, value: string): void {
    const letters = lettersOf(value);
    if (letters === "") return;
    this.#letters += ` ${letters}`;
    for (const word of wordsIn(value)) this.#words.add(lettersOf(word));
    if (isFreeText(value)) this.#hasProse = true;
    else this.#fields.add(letters);
    if (ownId.test(key)) this.#ids.add(letters);
    else if (reference.test(key)) this.#references.add(letters);
  }

  ended(server: string): DataRecord {
    return {
      server,
      fields: this.#fields,
      has: (letters) => (letters.length < minWordLetters ? this.#words.has(letters) : this.#letters.includes(letters)),
      ids: this.#ids,
      references: this.#references,
      hasProse: this.#hasProse,
    };
  }
}

/** The records, and other records of the same server that they refer to or that refer to them. */
export function linkedRecords(records: readonly DataRecord[], all: readonly DataRecord[]): DataRecord[] {
  const isLinked = (one: DataRecord, other: DataRecord) =>
    one.server === other.server && (meets(one.ids, other.references) || meets(one.references, other.ids));
  return all.filter((each) => records.some((record) => record === each || isLinked(record, each)));
}

const meets = (some: ReadonlySet<string>, others: ReadonlySet<string>) => !some.isDisjointFrom(others);
