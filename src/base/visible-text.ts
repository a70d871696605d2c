/** Makes untrusted text safe to show: escapes characters that are invisible or that change how other characters are displayed. */

/**
 * Scripts in which the joiners U+200C and U+200D are part of the spelling. Between their letters, and within emoji sequences,
 * joiners are kept. Elsewhere they are invisible and are escaped.
 */
const joining = String.raw`[\p{Script_Extensions=Arab}\p{Script_Extensions=Deva}\p{Script_Extensions=Beng}\p{Script_Extensions=Guru}\p{Script_Extensions=Gujr}\p{Script_Extensions=Orya}\p{Script_Extensions=Taml}\p{Script_Extensions=Telu}\p{Script_Extensions=Knda}\p{Script_Extensions=Mlym}\p{Script_Extensions=Sinh}\p{Script_Extensions=Khmr}\p{Script_Extensions=Mymr}]`;
const picture = String.raw`\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?`;
const kept = String.raw`(?<=${joining})[\u200c\u200d](?=${joining})|(?<=${picture})\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})[\ufe0e\ufe0f]`;

/**
 * Control characters except line breaks and tabs, direction marks, zero-width characters, tags, lone surrogates, and all but the
 * first eight combining marks on a letter.
 */
const unseen = new RegExp(
  String.raw`(?!${kept}|[\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<=\p{M}{8})\p{M}`,
  "gu",
);

/** Most texts have only these characters and do not change. */
const plain = /^[\n\t -~]*$/;

/** Escapes invisible characters. Line breaks and tabs stay. The escapes are JSON's, so JSON text keeps its meaning. */
export function visibleText(text: string): string {
  return plain.test(text) ? text : text.replace(unseen, escaped);
}

/** Returns whether the text is one line without characters that would be escaped. */
export function isVisible(text: string): boolean {
  return !/[\n\t]/.test(text) && visibleText(text) === text;
}

/** Returns the escape of a character, such as `\u001b`. A character of two code units gets two escapes. */
export function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const code = character.charCodeAt(at).toString(16);
    return `\\u${code.padStart(4, "0")}`;
  }).join("");
}

/** White space, control characters and invisible characters, but not the joiners of `kept`. */
const gap = new RegExp(String.raw`(?:(?!${kept})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s])+`, "gu");

/** The text on one line: control characters, invisible characters and white space become single spaces. Longer texts are cut and end with "…". */
export function oneLine(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const line = text
    // The rest of a very long text is not read at all.
    .slice(0, maxChars * 4)
    .replace(gap, " ")
    .trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
}

/** One line of output as a terminal shows it in the end: without colours, overwritten text and control characters. Tabs stay. */
export function shownLine(line: string): string {
  const shown = line.trimEnd().split("\r").at(-1) ?? "";
  return Bun.stripANSI(shown).replace(/(?:(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu, " ");
}
