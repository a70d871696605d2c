/** Counts the different keys in a JSON text. Parsing takes far longer for many different keys than for anything else of the same size. */

/** Whether the objects in the text have more different keys than `most`. The text is valid JSON without spaces. */
export function hasMoreKeys(json: string, most: number): boolean {
  const keys = new Set<string>();
  for (let at = json.indexOf('"'); at >= 0; ) {
    const end = endOfText(json, at + 1);
    if (json[end + 1] === ":" && keys.add(json.slice(at + 1, end)).size > most) return true;
    at = json.indexOf('"', end + 1);
  }
  return false;
}

/** The place of the quote that ends the text. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from); ; at = json.indexOf('"', at + 1)) {
    if (at < 0) return json.length;
    let escapes = 0;
    while (json[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at;
  }
}
