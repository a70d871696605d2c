/**
 * The labelled data that an agent has seen, and that its programs have read. A session is an agent's connection, or a client of `serve
 * --http` that has none. The session's model has seen what outcomes showed. A program can send the data that it has read, and the text that
 * the model has written into it.
 */
import type { Label } from "../../config/policy.ts";
import { maxSoughtLetters } from "../limits.ts";
import { type DataLabel, KnownTexts, type TextSource } from "./known-texts.ts";
import { lettersOf } from "./letters.ts";

/** Data that was read. */
export interface Read {
  label: DataLabel;
  /** The tool or other source that the data came from. */
  source: string;
}

/** The text of data. */
export interface ReadText {
  /** About its length, in characters. */
  size: number;
  /** See `TextSource`. */
  text: TextSource;
  /** See `Origin`. */
  shownBy?: string | undefined;
}

/** Stores reads, so that they outlive the process. */
export interface ReadKeeper {
  /** For the session itself. */
  keep(reads: readonly Read[]): Promise<void> | undefined;
  /** For an execution. */
  keepFor(execution: string, reads: readonly Read[]): Promise<void> | undefined;
}

export class SessionReads {
  readonly texts = new KnownTexts();
  /** Data that programs have read but their outcomes have not shown. The model cannot send it, unless it has learned it in another way. */
  readonly unseen = new KnownTexts();
  readonly #reads = new Map<string, Read>();
  /** The lists that were added, so that a tool that is called again costs nothing. */
  readonly #added = new WeakSet<readonly Read[]>();
  #labels: ReadonlySet<Label> = new Set();
  protected readonly keeper: ReadKeeper | undefined;
  #pending: Promise<void> | undefined;

  constructor(keeper?: ReadKeeper) {
    this.keeper = keeper;
  }

  /** The session that it belongs to. */
  get session(): SessionReads {
    return this;
  }

  /** The data that this session or program has read itself. */
  get own(): Read[] {
    return [...this.#reads.values()];
  }

  /** All data that the next call may depend on. */
  get all(): Read[] {
    return this.own;
  }

  /** The labels of `all`. Every call needs them. */
  get labels(): ReadonlySet<Label> {
    return this.#labels;
  }

  get ownLabels(): ReadonlySet<Label> {
    return this.#labels;
  }

  /** Whether strangers may have told the session what to do with private data. */
  get isRisky(): boolean {
    return this.labels.has("untrusted") && this.labels.has("private");
  }

  /** All known texts, and what the session of the program has read. */
  get allTexts(): readonly KnownTexts[] {
    return [this.texts];
  }

  get allUnseen(): readonly KnownTexts[] {
    return [this.unseen];
  }

  /** Whether data with this label was read, even if no outcome has shown it. */
  hasRead(label: DataLabel): boolean {
    return this.labels.has(label) || this.allUnseen.some((texts) => texts.lacks(label) || texts.of(label).length > 0);
  }

  /** Resolves when pending lookups have ended, such as for the labels of a file that a program has read. Undefined if there are none. */
  get pending(): Promise<void> | undefined {
    return this.#pending;
  }

  /** Makes calls wait until the work has found out which data was read. */
  after(work: () => Promise<void>): void {
    const before = this.#pending ?? Promise.resolve();
    const pending: Promise<void> = before.then(work).finally(() => {
      if (this.#pending === pending) this.#pending = undefined;
    });
    this.#pending = pending;
  }

  /**
   * Adds data. Returns undefined if nothing is new, and otherwise a promise that resolves when the data is stored. Without `text`, the text
   * of the data is not known.
   */
  add(reads: readonly Read[], text?: ReadText): Promise<void> | undefined {
    this.#addTexts(reads, text);
    if (this.#added.has(reads)) return undefined;
    this.#added.add(reads);
    const added = reads.filter(({ label, source }) => !this.#reads.has(keyOf(label, source)));
    if (added.length === 0) return undefined;
    this.#have(added);
    return this.keep(added);
  }

  /** Adds data that was read before, and is kept already. */
  restore(reads: readonly Read[]): void {
    this.#have(reads);
    this.#addTexts(reads, undefined);
  }

  protected keep(added: readonly Read[]): Promise<void> | undefined {
    return this.keeper?.keep(added);
  }

  #addTexts(reads: readonly Read[], text: ReadText | undefined): void {
    const labels = new Set(reads.map(({ label }) => label));
    const [first] = reads;
    if (!first) return;
    if (text) this.texts.add({ source: first.source, labels, shownBy: text.shownBy }, text.size, text.text);
    else this.texts.addUnknown(labels);
  }

  #have(reads: readonly Read[]): void {
    for (const read of reads) this.#reads.set(keyOf(read.label, read.source), read);
    this.#labels = new Set(this.own.map(({ label }) => label));
  }

  /** The reads of a program of the session, with this text. A saved program may get other data in each run. */
  program(id: string, source: string, isSaved = false): ProgramReads {
    return new ProgramReads(this, this.keeper, id, { source, isSaved });
  }
}

/** The reads of a program. The model that wrote it knows what its session has seen. A program that was called knows what its caller has read. */
export class ProgramReads extends SessionReads {
  readonly id: string;
  readonly #within: SessionReads;
  readonly #source: string;
  /**
   * The text that identifies the program's outcome. A program that runs again, such as after a dry run, reads the same data and makes the
   * same texts again.
   */
  readonly shownBy: string | undefined;
  #letters: string | undefined;
  #isKept = false;
  /** The data and the places that a person has allowed. */
  readonly allowed = new Set<string>();

  constructor(
    within: SessionReads,
    keeper: ReadKeeper | undefined,
    id: string,
    { source, isSaved }: { source: string; isSaved: boolean },
  ) {
    super(keeper);
    this.shownBy = isSaved ? undefined : source;
    this.#within = within;
    this.id = id;
    this.#source = source;
  }

  override get session(): SessionReads {
    return this.#within.session;
  }

  override get all(): Read[] {
    const own = this.own;
    const before = this.#within.all.filter((each) => !own.some((read) => isSame(read, each)));
    return [...before, ...own];
  }

  override get labels(): ReadonlySet<Label> {
    const before = this.#within.labels;
    if (before.size === 0) return this.ownLabels;
    return this.ownLabels.size === 0 ? before : before.union(this.ownLabels);
  }

  override get allTexts(): readonly KnownTexts[] {
    return [this.texts, ...this.#within.allTexts];
  }

  override get allUnseen(): readonly KnownTexts[] {
    return [this.unseen, ...this.#within.allUnseen];
  }

  /** Whether the program's text contains the letters. The model has then written them. */
  isWritten(letters: string): boolean {
    this.#letters ??= lettersOf(this.#source);
    return letters.length <= maxSoughtLetters && this.#letters.includes(letters);
  }

  /** Whether the program's text has the word, in a text or as the name of a property. */
  isNamed(word: string): boolean {
    return new RegExp(`(?:(?<![\\w$])|\\\\[nrt])${RegExp.escape(word)}(?![\\w$])`, "u").test(this.#source);
  }

  /** Whether the short text stands between quotes in the program's text. */
  isQuoted(text: string): boolean {
    return ['"', "'", "`"].some((quote) => this.#source.includes(quote + text + quote));
  }

  /** Whether the reads were stored for the execution. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Stores the reads for the execution too, with everything that the program reads from now on. Resolves when they are stored. */
  async keepForExecution(): Promise<void> {
    this.#isKept = true;
    const { all } = this;
    if (all.length > 0) await this.keeper?.keepFor(this.id, all);
  }

  protected override keep(added: readonly Read[]): Promise<void> | undefined {
    return this.#isKept ? this.keeper?.keepFor(this.id, added) : undefined;
  }
}

const keyOf = (label: string, source: string) => `${label} ${source}`;
const isSame = (one: Read, other: Read) => one.label === other.label && one.source === other.source;

/** The agent that makes a call, as rules and labels see it. */
export interface Caller {
  /** The data that the agent has seen, or that its program has read. */
  reads: SessionReads;
  /** The agent, as it names itself. Empty texts if it does not, and for a shell. */
  agent: CallingAgent;
  /** The token or person that owns the request. Places are shared among owners. */
  owner?: string | undefined;
}

export interface CallingAgent {
  name: string;
  version: string;
}

export const noAgent: CallingAgent = { name: "", version: "" };
