/** Knows what every person of the storm may get, and what must have happened to every call. Everything that is wrong is written down. */
import { hasToken, peopleIn } from "./marks.ts";

/** Knowledge about a call at the end of its program. */
export type Certainty =
  /** It was made, and its answer arrived. */
  | "answered"
  /** Nobody knows: its program or its answer was lost. */
  | "unknown"
  /** It was not made. */
  | "refused";

interface Expected {
  person: number;
  isRepeatable: boolean;
  certainty: Certainty;
}

export type Verdict = "approved" | "denied";

/** The most that is kept of one kind of mistake. */
const maxKept = 20;

const maxExamples = 3;

export class Oracle {
  readonly wrong: string[];
  /** Errors of allowed kinds, and how often they were seen. */
  readonly errors: Record<string, number> = {};
  /** The first errors of each kind. */
  readonly examples: Record<string, string[]> = {};
  /** What people did, and how often. */
  readonly done: Record<string, number> = {};
  /** Milliseconds of executions. */
  readonly times: number[] = [];
  readonly #calls = new Map<string, Expected>();
  /** By the keys of the calls that approvers were shown: the decision that was tried. */
  readonly #decided = new Map<string, { person: string; verdict: Verdict }>();
  /** Executions of people, by their ids. */
  readonly executions = new Map<string, number>();
  readonly #isCalm: boolean;
  readonly #calmUntil: number;
  readonly #counts = new Map<string, number>();

  /** In a calm storm, no error is allowed. In a trial, none is allowed before `calmUntil`, which is a time of `performance.now`. Mistakes are added to `wrong`. */
  constructor(isCalm: boolean, wrong: string[] = [], calmUntil = 0) {
    this.#isCalm = isCalm;
    this.wrong = wrong;
    this.#calmUntil = calmUntil;
  }

  get #allowsNone(): boolean {
    return this.#isCalm || performance.now() < this.#calmUntil;
  }

  /** `kind` is the same for mistakes of the same kind. */
  fail(kind: string, more = ""): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= maxKept) this.wrong.push(more === "" ? kind : `${kind}: ${more}`);
  }

  did(what: string): void {
    this.done[what] = (this.done[what] ?? 0) + 1;
  }

  /** An error that somebody saw. Without a kind, it is not allowed. */
  saw(kind: string | undefined, where: string, text: string): void {
    if (kind === undefined || this.#allowsNone) this.fail(`${where} got an error`, text.slice(0, 600));
    if (kind === undefined) return;
    this.errors[kind] = (this.errors[kind] ?? 0) + 1;
    this.examples[kind] ??= [];
    if (this.examples[kind].length < maxExamples) this.examples[kind].push(`${where}: ${text.slice(0, 300)}`);
  }

  /** Searches a text that a person got for what belongs to others, and for tokens. */
  got(person: number, text: string): void {
    for (const other of peopleIn(text)) {
      if (other !== person) this.fail(`p${person} got a text of p${other}`, around(text, `of-p${other}-`));
    }
    this.noToken(`p${person}`, text);
  }

  noToken(where: string, text: string): void {
    if (hasToken(text)) this.fail(`${where} got a token`, around(text, "eyJ").replaceAll(/eyJ[\w.-]+/g, "eyJ…"));
  }

  /** Registers a call that is about to leave. */
  calls(person: number, key: string, { isRepeatable = false } = {}): void {
    this.#calls.set(key, { person, isRepeatable, certainty: "unknown" });
  }

  isCertain(key: string, certainty: Certainty): void {
    this.#calls.get(key)!.certainty = certainty;
  }

  /** An approver was shown a call, and decides. `person` is the id that was shown. */
  decides(key: string, person: string, verdict: Verdict): void {
    this.#decided.set(key, { person, verdict });
  }

  /** Whether a call that needs an approval may be made. */
  verdictOf(key: string): Verdict | undefined {
    return this.#decided.get(key)?.verdict;
  }

  /**
   * Compares the calls that a server got with those that were made. `arrived` has the key of each call. `isDisturbed`: calls that may be
   * repeated may have been.
   */
  judge(
    server: string,
    arrived: readonly { tool: string; key: string }[],
    personIdOf: (person: number) => string,
  ): void {
    const counts = new Map<string, number>();
    for (const { tool, key } of arrived) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const expected = this.#calls.get(key);
      if (!expected) this.fail(`${server} got a call that nobody made`, `${tool} ${key}`);
      else if (tool === "guarded") this.#judgeGuarded(key, personIdOf(expected.person));
    }
    for (const [key, count] of counts) {
      const { isRepeatable, certainty } = this.#calls.get(key) ?? { isRepeatable: false, certainty: "unknown" };
      if (certainty === "refused") this.fail(`${server} got a call that was refused`, key);
      if (count > 1 && !(isRepeatable && !this.#isCalm)) this.fail(`${server} got a call ${count} times`, key);
    }
    const isOfServer = (key: string) => (server === "near") === /^\d+$/.test(key);
    for (const [key, { certainty }] of this.#calls) {
      if (certainty === "answered" && isOfServer(key) && !counts.has(key)) {
        this.fail(`${server} did not get a call that was answered`, key);
      }
    }
  }

  #judgeGuarded(key: string, person: string): void {
    const decided = this.#decided.get(key);
    if (!decided) this.fail("a call was made that no approver was shown", key);
    else if (decided.verdict === "denied") this.fail("a call was made that was denied", key);
    else if (decided.person !== person) this.fail("an approver was shown the wrong person", `${key} ${decided.person}`);
  }
}

/** The text around the first occurrence. */
function around(text: string, what: string): string {
  const place = text.indexOf(what);
  return JSON.stringify(text.slice(Math.max(0, place - 200), place + 200));
}
