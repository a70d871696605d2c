/** Places in a text, as people count them. */

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
