/** Finds a text that a regular expression accepts. It knows what patterns of documents use, and gives up on the rest. */

const common = [
  "a",
  "A",
  "1",
  "abc",
  "ABC",
  "abc-123",
  "a1b2c3",
  "12345",
  "2026-11-29",
  "2026-11-29T10:20:30Z",
  "https://example.com/a",
  "a@example.com",
  "/a",
  "0x1",
  "192.0.2.1",
  "#aabbcc",
  "en",
  "en-US",
  "*",
];

/** Undefined if none is found. `samples` are examples of the document. */
export function textLike(
  pattern: string,
  least: number,
  most: number,
  samples: readonly unknown[],
): string | undefined {
  const expression = regExpOf(pattern);
  if (!expression) return undefined;
  const fits = (text: string) => text.length >= least && text.length <= most && expression.test(text);
  const texts = [...samples.filter((each) => typeof each === "string"), ...common];
  for (let count = 1; count <= 3; count++) texts.push(new Sampler(pattern, count, least).text());
  for (const size of [least, 8, 11, 16, 20, 24, 32, 36, 40, 64])
    for (const letter of ["a", "A", "1", "f"]) texts.push(letter.repeat(size));
  return texts.find(fits);
}

export function regExpOf(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Many patterns of documents are not meant for Unicode mode.
    }
  }
  return undefined;
}

/** Walks a pattern, and takes the first alternative and the first letter of each class. */
class Sampler {
  readonly #pattern: string;
  readonly #count: number;
  readonly #least: number;
  #at = 0;

  constructor(pattern: string, count: number, least: number) {
    this.#pattern = pattern;
    this.#count = count;
    this.#least = least;
  }

  text(): string {
    return this.#alternatives();
  }

  #alternatives(): string {
    const first = this.#sequence();
    while (this.#pattern[this.#at] === "|") {
      this.#at++;
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let text = "";
    while (this.#at < this.#pattern.length && !"|)".includes(this.#pattern[this.#at]!))
      text += this.#repeated(this.#atom());
    return text;
  }

  #atom(): string {
    const letter = this.#pattern[this.#at++]!;
    if (letter === "^" || letter === "$") return "";
    if (letter === ".") return "a";
    if (letter === "\\") return this.#escape();
    if (letter === "[") return this.#class();
    if (letter !== "(") return letter;
    const prefix = /^\?(?:[:=!]|<[=!]|<\w+>)/.exec(this.#pattern.slice(this.#at))?.[0] ?? "";
    this.#at += prefix.length;
    const inner = this.#alternatives();
    this.#at++;
    return /[=!]/.test(prefix) ? "" : inner;
  }

  #escape(): string {
    const letter = this.#pattern[this.#at++] ?? "";
    const known: Record<string, string> = {
      d: "1",
      w: "a",
      s: " ",
      S: "a",
      D: "a",
      W: "-",
      b: "",
      B: "",
      n: "\n",
      t: "\t",
    };
    if (letter === "p" || letter === "P") {
      const name = /^\{[^}]*\}/.exec(this.#pattern.slice(this.#at))?.[0] ?? "";
      this.#at += name.length;
      return name.includes("N") ? "1" : name.includes("Lu") ? "A" : "a";
    }
    return known[letter] ?? letter;
  }

  #class(): string {
    const start = this.#at;
    if (this.#pattern[this.#at] === "^") this.#at++;
    if (this.#pattern[this.#at] === "]") this.#at++;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== "]")
      this.#at += this.#pattern[this.#at] === "\\" ? 2 : 1;
    const whole = regExpOf(`^[${this.#pattern.slice(start, this.#at)}]$`);
    this.#at++;
    return [..."a1A-_./ :0+é*,"].find((letter) => whole?.test(letter)) ?? "a";
  }

  #repeated(text: string): string {
    const quantifier = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#pattern.slice(this.#at));
    if (!quantifier) return text;
    this.#at += quantifier[0].length;
    const [sign, least, comma, most] = quantifier;
    if (least === undefined)
      return sign.startsWith("?")
        ? this.#count > 1
          ? text
          : ""
        : text.repeat(Math.max(this.#count, sign.startsWith("+") ? 1 : 0, this.#count > 2 ? this.#least : 0));
    const wanted = comma ? Math.max(Number(least), this.#count) : Number(least);
    return text.repeat(most ? Math.min(wanted, Number(most)) : wanted);
  }
}
