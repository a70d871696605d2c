/** Puts names in the place of paths of this machine in what claudikins prints. */
import { posixWord } from "../../src/base/shell-word.ts";

/** The path becomes the name wherever it is shown: as it is, as a word of a shell, and in JSON. */
export function withName(text: string, path: string, name: string): string {
  const inJson = (form: string) => JSON.stringify(form).slice(1, -1);
  const word = posixWord(path);
  // A word that is longer than the path has the end of its quotes elsewhere.
  const words = word === path ? [] : [word.slice(0, -1), inJson(word.slice(0, -1))];
  const named = words.reduce((all, quoted) => all.replace(quotedWord(quoted), (_, rest) => name + rest), text);
  return named.replaceAll(path, name).replaceAll(inJson(path), name);
}

/** A word that begins with this, up to the quote that ends it. */
function quotedWord(beginning: string): RegExp {
  return new RegExp(`${RegExp.escape(beginning)}([^'\\n]*)'`, "g");
}
