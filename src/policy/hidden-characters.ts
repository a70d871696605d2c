/** Makes hidden characters in texts visible. The local page uses this in the browser, so this file must not need Bun. */

/**
 * Characters that are invisible, change the look of others, or push others out of sight: control characters, direction
 * marks, fillers and blanks, a third space in a row, and piled-up combining marks.
 */
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}|(?<= {2}) |(?<=\p{M}{4})\p{M}/gu;

export function visible(text: string): string {
  return text.replace(unseen, (found) => {
    const code = found.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}
