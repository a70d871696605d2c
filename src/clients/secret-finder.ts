/** Replaces secrets in texts, whole ones and large parts of one: a line that was cut, or written in two pieces. */

/** Characters that are looked up at once. A secret has at least as many. */
const anchorLength = 6;

interface Anchor {
  form: string;
  /** Where in the form the anchor begins. */
  at: number;
  shown: string;
}

/**
 * A function that replaces every form by what is shown for it. Half of a form counts as well, where that is at least eleven
 * characters. Takes about 5 ms per megabyte, however many forms there are.
 */
export function secretFinder(shownAs: ReadonlyMap<string, string>): (text: string) => string {
  const anchors = new Map<string, Anchor[]>();
  /** Which first two characters of anchors there are, so that most positions of a text are passed over at once. */
  const begun = new Uint8Array(65_536);
  for (const [form, shown] of shownAs) {
    for (const at of anchorPlaces(form.length)) {
      const text = form.slice(at, at + anchorLength);
      const same = anchors.get(text);
      if (same) same.push({ form, at, shown });
      else anchors.set(text, [{ form, at, shown }]);
      begun[pair(form.charCodeAt(at), form.charCodeAt(at + 1))] = 1;
    }
  }

  return (text) => {
    let out = "";
    let done = 0;
    for (let at = 0; at + anchorLength <= text.length; at++) {
      if (begun[pair(text.charCodeAt(at), text.charCodeAt(at + 1))] === 0) continue;
      const found = longest(anchors.get(text.slice(at, at + anchorLength)) ?? [], text, at, done);
      if (!found) continue;
      out += text.slice(done, found.start) + found.shown;
      done = found.end;
      at = done - 1;
    }
    return done === 0 ? text : out + text.slice(done);
  };
}

const pair = (first: number, second: number) => ((first & 0xff) << 8) | (second & 0xff);

/** So close together that every half of the form has a whole anchor in it. */
function anchorPlaces(length: number): number[] {
  const step = Math.max(1, partLength(length) - anchorLength + 1);
  const places: number[] = [];
  for (let at = 0; at <= length - anchorLength; at += step) places.push(at);
  return places;
}

/** Characters of a form that give the secret away. */
function partLength(length: number): number {
  return Math.min(length, Math.max(2 * anchorLength - 1, Math.ceil(length / 2)));
}

/** The longest part of a form around the anchor, a whole form before a part of another one; nothing before `from` is replaced twice. */
function longest(anchors: readonly Anchor[], text: string, at: number, from: number) {
  let best: { start: number; end: number; shown: string; isWhole: boolean } | undefined;
  for (const { form, at: within, shown } of anchors) {
    let start = at;
    for (let place = within - 1; place >= 0 && start > from && text[start - 1] === form[place]; place--) start--;
    let end = at + anchorLength;
    for (let place = within + anchorLength; place < form.length && text[end] === form[place]; place++) end++;
    const length = end - start;
    if (length < partLength(form.length)) continue;
    const isWhole = length === form.length;
    const known = best ? best.end - best.start : 0;
    if (length > known || (length === known && isWhole && !best?.isWhole)) best = { start, end, shown, isWhole };
  }
  return best;
}
