/**
 * The patterns of `matches()`, which have the syntax of RE2: https://github.com/google/re2/wiki/Syntax. The engine tries all alternatives at once, so
 * that the time grows with the length of the text and not exponentially. It is loaded with the first pattern.
 */
import { TooMuchWork, type Work } from "./work.ts";

/** The pattern of `matches()` in a condition. */
const maxPatternChars = 1_000;

/** Instructions of its program. A character costs as much time as the program is large. */
const maxPatternSize = 1_000;

export type Pattern = (text: string, work: Work) => boolean;

/** Throws an error whose message says what is wrong with the pattern. */
export function patternOf(source: string): Pattern {
  if (source.length > maxPatternChars) throw new Error(`its pattern has more than ${maxPatternChars} characters`);
  // Only a condition with a pattern needs the library.
  const { RE2JS, RE2JSSyntaxException } = require("re2js") as typeof import("re2js");
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const what = error.message.replace(/^error parsing regexp: /, "");
    throw new Error(`its pattern is not one of RE2, which has no lookaround and no backreferences: ${what}`);
  }
  if (compiled.programSize() > maxPatternSize) throw new Error("its pattern is too large: it repeats too much");
  return (text, work) => {
    work.take(20);
    return compiled.test(text.length < 1_000 ? text : (new TimedText(text, work) as unknown as string));
  };
}

/** A text that ends the search in it when the time is over: the engine asks for one character after another. */
class TimedText extends String {
  readonly #text: string;
  readonly #work: Work;
  #untilCheck = 1;

  constructor(text: string, work: Work) {
    super(text);
    this.#text = text;
    this.#work = work;
  }

  override charCodeAt(index: number): number {
    this.#untilCheck -= 1;
    if (this.#untilCheck === 0) {
      if (this.#work.isLate) throw new TooMuchWork();
      this.#untilCheck = 64;
    }
    return this.#text.charCodeAt(index);
  }
}
