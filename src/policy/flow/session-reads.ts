/**
 * The data with labels that the session of an agent has read. It does not lose its labels, because everything that the session does later
 * may depend on it. A session is an agent's connection, or a client of `serve --http` without one.
 */
import type { Label } from "../../config/policy.ts";
import { exceededLimit } from "../argument-size.ts";
import {
  maxComparedChars,
  maxComparedPieces,
  maxComparedTextChars,
  maxKeptReadChars,
  maxReadChars,
  minPieceLetters,
  pieceLetters,
} from "../limits.ts";

/** Data that was read. */
export interface Read {
  label: Exclude<Label, "public">;
  /** The tool, or what else it came from. */
  source: string;
}

/** Keeps what a session has read, so that it outlives the process. */
export interface ReadKeeper {
  /** Keeps what the session has read for an execution of it, or for the session itself. */
  keep(reads: readonly Read[], executions: readonly string[]): Promise<void>;
}

/** The reads of the session of an execution. */
export interface ExecutionReads extends Disposable {
  id: string;
  /** Whether it was kept. */
  readonly isKept: boolean;
  /** Keeps it for the execution too, with everything that the session reads from now on. Resolves when it is kept. */
  keep(): Promise<void>;
}

export class SessionReads {
  readonly #reads = new Map<string, Read>();
  /** The lists that were added, so that a tool that is called again costs nothing. */
  readonly #added = new WeakSet<readonly Read[]>();
  #labels: ReadonlySet<Label> = new Set();
  /** Texts of private data, to look for in arguments. Only their letters are kept after they were looked at. */
  #texts: { source: string; text: string; areLetters: boolean }[] = [];
  #chars = 0;
  /** Whether all private data that was read is in `#texts`. */
  #hasAll = true;
  /** The executions that are stored. */
  readonly #kept = new Set<ExecutionReads>();
  readonly #keeper: ReadKeeper | undefined;
  #pending: Promise<void> | undefined;

  constructor(keeper?: ReadKeeper) {
    this.#keeper = keeper;
  }

  get all(): Read[] {
    return [...this.#reads.values()];
  }

  /** The labels of the data. Asked for with each call. */
  get labels(): ReadonlySet<Label> {
    return this.#labels;
  }

  /** Whether strangers may have told the session what to do with private data. */
  get isRisky(): boolean {
    return this.#labels.has("untrusted") && this.#labels.has("private");
  }

  /** Resolves when everything is looked up, such as the labels of a file that a program has read. Undefined if it is. */
  get pending(): Promise<void> | undefined {
    return this.#pending;
  }

  /** Calls wait until the work has found out what was read. */
  after(work: () => Promise<void>): void {
    const before = this.#pending ?? Promise.resolve();
    const pending: Promise<void> = before.then(work).finally(() => {
      if (this.#pending === pending) this.#pending = undefined;
    });
    this.#pending = pending;
  }

  /**
   * Adds data. Undefined if nothing is new, else a promise that it is kept. `text` returns private data, as far as it is known. It is not called
   * if the session already keeps as much as it may.
   */
  add(reads: readonly Read[], text?: () => string | undefined): Promise<void> | undefined {
    const isPrivate = reads.find(({ label }) => label === "private");
    if (isPrivate) this.#addText(isPrivate.source, text);
    if (this.#added.has(reads)) return undefined;
    this.#added.add(reads);
    const added = reads.filter(({ label, source }) => !this.#reads.has(keyOf(label, source)));
    if (added.length === 0) return undefined;
    this.#have(added);
    return this.#keeper?.keep(
      added,
      Array.from(this.#kept, ({ id }) => id),
    );
  }

  /** Adds data that was read before, and is kept already. */
  restore(reads: readonly Read[]): void {
    this.#have(reads);
    if (this.#labels.has("private")) this.#hasAll = false;
  }

  #have(reads: readonly Read[]): void {
    for (const read of reads) this.#reads.set(keyOf(read.label, read.source), read);
    this.#labels = new Set(this.all.map(({ label }) => label));
  }

  #addText(source: string, read: (() => string | undefined) | undefined): void {
    const text = this.#chars < maxKeptReadChars ? read?.() : undefined;
    if (text === undefined || text.length > maxReadChars || this.#chars + text.length > maxKeptReadChars) {
      this.#hasAll = false;
      return;
    }
    this.#texts.push({ source, text, areLetters: false });
    this.#chars += text.length;
  }

  /** An execution of the session, until the result is disposed of. Most executions are never stored, and cost no write. */
  executes(id: string): ExecutionReads {
    let hasEnded = false;
    let isKept = false;
    const execution: ExecutionReads = {
      id,
      get isKept() {
        return isKept;
      },
      keep: async () => {
        if (!hasEnded) this.#kept.add(execution);
        isKept = true;
        if (this.#reads.size > 0) await this.#keeper?.keep(this.all, [id]);
      },
      [Symbol.dispose]: () => {
        hasEnded = true;
        this.#kept.delete(execution);
      },
    };
    return execution;
  }

  /**
   * Compares the arguments with the private data, word for word. `repeats` is the source of a part that the arguments have.
   * `nothing`: they have none. Undefined if that cannot be said. Encoded data is not found.
   */
  compare(args: object): { repeats: string } | "nothing" | undefined {
    for (const each of this.#texts) {
      if (!each.areLetters) Object.assign(each, { text: lettersOf(each.text), areLetters: true });
    }
    const most = Math.min(maxComparedPieces, Math.floor(maxComparedChars / (this.#chars + 1)));
    const { pieces, isWhole } = piecesOf(args, most);
    for (const piece of pieces) {
      const found = this.#texts.find(({ text }) => text.includes(piece));
      if (found) return { repeats: found.source };
    }
    return this.#hasAll && isWhole ? "nothing" : undefined;
  }
}

const keyOf = (label: string, source: string) => `${label} ${source}`;

/** Pieces of the values in the arguments, at most `most`. */
function piecesOf(args: object, most: number): { pieces: string[]; isWhole: boolean } {
  const pieces: string[] = [];
  let isWhole = exceededLimit(args) === undefined;
  const add = (text: string) => {
    if (text.length > maxComparedTextChars) isWhole = false;
    const letters = lettersOf(JSON.stringify(text.slice(0, maxComparedTextChars)));
    if (letters.length < minPieceLetters) return;
    if (letters.length <= pieceLetters) pieces.push(letters);
    for (let at = 0; at + pieceLetters < letters.length; at += pieceLetters / 2)
      pieces.push(letters.slice(at, at + pieceLetters));
  };
  const visit = (value: unknown): void => {
    if (pieces.length > most) return;
    if (typeof value === "string" || typeof value === "number") add(String(value));
    else if (typeof value === "object" && value !== null)
      for (const [key, each] of Object.entries(value)) {
        add(key);
        visit(each);
      }
  };
  // A person is not asked about larger arguments, which would take seconds.
  if (isWhole) visit(args);
  return { pieces: pieces.slice(0, most), isWhole: isWhole && pieces.length <= most };
}

/** The letters and digits of a text, so that neither punctuation nor the escapes of JSON matter. */
function lettersOf(text: string): string {
  return text
    .replace(/\\+(?:u[\da-f]{4}|.)/gi, "")
    .replace(/[^\p{L}\p{N}]+/gu, "")
    .toLowerCase();
}

/** The agent that makes a call, as rules and labels see it. */
export interface Caller {
  /** The data that the session has read. */
  reads: SessionReads;
  /** The agent, as it names itself. Empty texts if it does not, and for a shell. */
  agent: CallingAgent;
  /** Its token or person, among which places are shared. */
  owner?: string | undefined;
}

export interface CallingAgent {
  name: string;
  version: string;
}

export const noAgent: CallingAgent = { name: "", version: "" };
