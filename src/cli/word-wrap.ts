/** Text on one line, and text wrapped between words. */

/** Replaces control characters and runs of white space with single spaces. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}

/** Returns the lines of a text. The lines after the first may have a different width. */
export function wrapped(text: string, width = Number.POSITIVE_INFINITY, widthOfOthers = width): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of oneLine(text).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > (lines.length === 0 ? width : widthOfOthers)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
