/** Builds HTML from untrusted texts, which are escaped. */

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => escapes[letter]!);
}

/** HTML that is not escaped again. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | readonly Html[] | undefined;

/** A template tag that escapes all values except `Html`. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, string, place) => text + textOf(parts[place - 1]) + string));
}

function textOf(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escaped(String(part));
}

/** JSON for a script element: it cannot end the element. */
export function jsonIn(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (letter) => unicode(letter)));
}

function unicode(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
