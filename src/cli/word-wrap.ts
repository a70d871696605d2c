/** Texts broken between words, for those who read them at a terminal. */

/** As many lines as it takes; those after the first may have another width. */
export function wrapped(text: string, width = Number.POSITIVE_INFINITY, widthOfOthers = width): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.replace(/[\p{Cc}\s]+/gu, " ").split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > (lines.length === 0 ? width : widthOfOthers)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
