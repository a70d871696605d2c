/** Text of others as a person can be shown it: characters that are not seen, or that change how others are seen, as escapes. */

/**
 * Letters of scripts in which the joiners U+200C and U+200D belong to the spelling, and pictures, of which some are made of
 * others and a joiner. Elsewhere joiners are only invisible.
 */
const joining = String.raw`[\p{Script_Extensions=Arab}\p{Script_Extensions=Deva}\p{Script_Extensions=Beng}\p{Script_Extensions=Guru}\p{Script_Extensions=Gujr}\p{Script_Extensions=Orya}\p{Script_Extensions=Taml}\p{Script_Extensions=Telu}\p{Script_Extensions=Knda}\p{Script_Extensions=Mlym}\p{Script_Extensions=Sinh}\p{Script_Extensions=Khmr}\p{Script_Extensions=Mymr}]`;
const picture = String.raw`\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?`;
const kept = String.raw`(?<=${joining})[\u200c\u200d](?=${joining})|(?<=${picture})\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})[\ufe0e\ufe0f]`;

/** Control characters but line breaks and tabs, marks of direction, characters without width, tags, and lone halves of pairs. */
const unseen = new RegExp(
  String.raw`(?!${kept}|[\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?<=\p{M}{8})\p{M}`,
  "gu",
);

/** Most text is of these alone, and is as it is. */
const plain = /^[\n\t -~]*$/;

/** Line breaks and tabs stay. The escapes are those of JSON: a JSON document stays the same one. */
export function visibleText(text: string): string {
  return plain.test(text) ? text : text.replace(unseen, escaped);
}

/** Whether nothing of the text would be shown as an escape, and it is one line. */
export function isVisible(text: string): boolean {
  return !/[\n\t]/.test(text) && visibleText(text) === text;
}

/** `\u001b`; what takes two code units, as both of them. */
export function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const code = character.charCodeAt(at).toString(16);
    return `\\u${code.padStart(4, "0")}`;
  }).join("");
}

/** The text on one line: control characters, invisible characters and white space become single spaces. Longer texts are cut and end with "…". */
export function oneLine(text: string, maxChars: number): string {
  const line = text
    // The rest of a very long text is not read at all.
    .slice(0, maxChars * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1)}…` : line;
}

/** One line of output as a terminal shows it in the end: without colours, overwritten text and control characters. Tabs stay. */
export function shownLine(line: string): string {
  const shown = line.trimEnd().split("\r").at(-1) ?? "";
  return Bun.stripANSI(shown).replace(/(?:(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu, " ");
}
