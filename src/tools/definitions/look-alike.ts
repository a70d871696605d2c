/** Finds names that look like other names: with letters of other scripts, digits for letters, invisible characters, or typing errors. */
import { isOneEdit } from "./text-change.ts";

/** Letters of the longer of two names that are compared letter by letter. In shorter names, one letter makes another word. */
const minComparedNameChars = 4;

/** Longer names are not compared letter by letter. Few agents accept them. */
const maxComparedNameChars = 64;

/** Comparisons of names in one list. Lists of honest servers need some hundreds. */
const maxNameComparisons = 100_000;

/** Characters that look like a Latin letter or a digit, by what they look like. They come from Unicode's `confusables.txt` (UTS #39), with a few more. */
const likeLatin: Record<string, string> = {
  a: "ᴀаɑαẚ⍶⍺𝛂𝛼𝜶𝝰𝞪",
  b: "ʙЬƄƀƂƃɓБѢѣҌҍᏏᑲᑳᖯ",
  c: "сϲⅽ¢ȼҫᴄⲥꮯ𐐽",
  d: "ᴅԁⅾđƌɖɗᏧᑯ₫ꓒ",
  e: "ᴇеҽ℮єɇҿꬲ",
  f: "ꜰſƒքᵮẝꞙꬵ",
  g: "ɢɡցƍǥɠᶃ",
  h: "ʜһհħɦћᏂᏲℏꚕ",
  i: "іıɩιɨɪᎥᵻᵼι⍳⍸ꙇꭵ𑣃𝚤𝛊𝜄𝜾𝝸𝞲",
  j: "ᴊјϳɉ",
  k: "κкᴋƙ",
  l: "ʟ1Iӏⅼ|ǀІΙłƖƗƚɫɭӀ׀וןا١ٳ۱ߊᛁ∣⏽Ⲓⵏꓲﺍﺎ￨𐊊𐌉𐌠𖼨𝚰𝛪𝜤𝝞𝞘𞣇𞸀𞺀",
  m: "ᴍⅿɱᵯ₥𑜀𑣣",
  n: "ɴոռпƞɳηᵰ𝛈𝜂𝜼𝝶𝞰",
  o: "0оοօσøɵѳөסه٥ھہە۵ۿ०੦૦௦౦೦ഠ൦๐໐တဝ၀ჿᴏᴑⲟꝋꬽꬾꭴꮎꮻﮦﮧﮨﮩﮪﮫﮬﮭﻩﻪﻫﻬ𐐬𐓪𑣈𑣗𝛐𝛔𝜊𝜎𝝄𝝈𝝾𝞂𝞸𝞼𞸤𞹤𞺄",
  p: "ᴘрρƥϱᵽ⍴ⲣ𝛒𝛠𝜌𝜚𝝆𝝔𝞀𝞎𝞺𝟈",
  q: "ꞯԛզʠգ",
  r: "ʀгᴦɍɼɽғᵲⲅꭇꭈꮁ",
  s: "ѕꜱƽʂᵴꮪ𐑈𑣁",
  t: "ᴛτтŧƭᵵ",
  u: "υսᴜʋᵾꞟꭎꭒꮜ𐓶𑣘𝛖𝜐𝝊𝞄𝞾",
  v: "νѵⅴטᴠ∨⋁ꮩ𑜆𑣀𝛎𝜈𝝂𝝼𝞶",
  w: "ԝաɯѡѽᴡꝡꮃ𑓅𑜊𑜎𑜏",
  x: "хⅹ×ᕁᕽ᙮⤫⤬⨯⨰",
  y: "уүγƴɏɣʏұყᶌỿℽꭚ𑣜𝛄𝛾𝜸𝝲𝞬",
  z: "ᴢƶȥʐᵶꮓ𑣄",
  2: "ƧƻϨᒿꙄꛯꝚ",
  3: "ƷȜЗҘӠⳌꝪꞫ𑣊𖼻𝈆",
  4: "Ꮞ𑢯",
  5: "Ƽ𑢻",
  6: "бᏮⳒ𑣕",
  7: "𐓒𑣆𝈒",
  8: "Ȣȣ৪੪𐌚𞣋",
  9: "৭੧୨൭ⳊꝮ𑢬𑣌𑣖",
  A: "АΑᎪᗅꓮ𐊠𖽀𝚨𝛢𝜜𝝖𝞐",
  B: "ВΒᏴᗷꓐꞴ𐊂𐊡𐌁𝚩𝛣𝜝𝝗𝞑",
  C: "СϹҪᏟ₡Ⲥꓚ𐊢𐌂𐐕𐔜𑣩𑣲🅮🝌",
  D: "ÐĐƉᎠᗞᗪꓓ",
  E: "ЕΕɆᎬ⋿ⴹꓰ𐊆𑢦𑢮𝚬𝛦𝜠𝝚𝞔",
  F: "ƑϜᖴꓝꞘ𐊇𐊥𐔥𑢢𑣂𝈓𝟊",
  G: "ǤԌᏀᏳꓖ",
  H: "НΗĦҢӇӉᎻᕼⱧⲎꓧ𐋏𝚮𝛨𝜢𝝜𝞖",
  J: "ЈɈͿᎫᒍꓙꞲ",
  K: "КΚҚҞᏦᛕ₭ⱩⲔꓗꝀ𐔘𝚱𝛫𝜥𝝟𝞙",
  L: "ŁᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖𝈪",
  M: "МΜϺӍᎷᗰᛖⲘꓟ𐊰𐌑𝚳𝛭𝜧𝝡𝞛",
  N: "ΝƝⲚꓠ𐆎𐔓𝚴𝛮𝜨𝝢𝞜",
  O: "ОΟØƟΘθϑϴѲӨՕ߀০ଠ୦ዐᎾᏫ⊖⊝⍬Ⲟⴱⵁⵔ〇ꓳꝊ𐊒𐊫𐐄𐓂𐔖𑓐𑢵𑣠𝈚𝚯𝚶𝚹𝛉𝛝𝛩𝛰𝛳𝜃𝜗𝜣𝜪𝜭𝜽𝝑𝝝𝝤𝝧𝝷𝞋𝞗𝞞𝞡𝞱𝟅🜔",
  P: "РΡᏢᑭⲢꓑ𐊕𝚸𝛲𝜬𝝦𝞠",
  Q: "ⵕ",
  R: "ƦᎡᏒᖇꓣ𐒴𖼵𝈖",
  S: "ЅՏᏕᏚꓢ𐊖𐐠𖼺",
  T: "ТΤŦƮȾҬᎢ₮⊤⍡⟙Ⲧꓔ𐊗𐊱𐌕𑢼𖼊𝚻𝛵𝜯𝝩𝞣🝨",
  U: "ɄՍሀᏌᑌ∪⋃ꓴ𐓎𑢸𖽂",
  V: "Ѵ٧۷Ꮩᐯⴸꓦꛟ𐆗𐔝𑢠𖼈𝈍🜈",
  W: "ԜᎳᏔ₩ꓪ𑣦𑣯",
  X: "ХΧҲ᙭ᚷ╳ⲬⵝꓫꞳ𐆖𐊐𐊴𐌗𐌢𐔧𑣬𝚾𝛸𝜲𝝬𝞦",
  Y: "ҮΥ¥ɎϒУҰᎩᎽⲨꓬ𐊲𑢤𖽃𝚼𝛶𝜰𝝪𝞤",
  Z: "ΖƵȤᏃꓜ𐋵𑢩𑣥𝚭𝛧𝜡𝝛𝞕",
};

const latinOf = new Map(
  Object.entries(likeLatin).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
);

/** Two names with the same skeleton look the same to a person. */
export function skeletonOf(name: string): string {
  const seen = name.normalize("NFKC").replace(/[\p{C}\p{Default_Ignorable_Code_Point}\p{M}]/gu, "");
  return Array.from(seen, (letter) => latinOf.get(letter) ?? letter).join("");
}

/** The name of another tool that a name could be mistaken for. */
export interface LikeName {
  name: string;
  /** The names differ only as singular and plural. */
  isPlural: boolean;
}

/**
 * The accepted name that each new one could be mistaken for. The two differ only in case, separators and similar characters, or by one
 * letter. Names with other numbers (`v1`, `v2`), another single letter (`list_a`, `list_b`) or another of `get` and `set` belong to a
 * family.
 */
export function likeNames(names: Iterable<string>, accepted: Iterable<string>): Map<string, LikeName> {
  const found = new Map<string, LikeName>();
  const same = new Map<string, string[]>();
  const near = new Map<number, Set<string>>();
  for (const name of names) {
    const letters = lettersOf(name);
    if (letters === "") continue;
    same.getOrInsertComputed(joined(letters), () => []).push(name);
    for (const key of keysOf(letters)) near.getOrInsertComputed(key, () => new Set()).add(name);
  }
  if (same.size === 0) return found;
  let comparisons = 0;
  for (const other of accepted) {
    const letters = lettersOf(other);
    for (const name of same.get(joined(letters)) ?? []) found.set(name, { name: other, isPlural: false });
    for (const key of keysOf(letters)) {
      const candidates = near.get(key);
      for (const name of candidates ?? []) {
        comparisons += 1;
        // A list that takes too long is a hostile one, and its names count as similar.
        const isLike = comparisons > maxNameComparisons || areOneEdit(letters, lettersOf(name));
        const family = isLike ? familyOf(name, other) : undefined;
        if (!isLike || family === "other") continue;
        if (found.get(name)?.isPlural !== false) found.set(name, { name: other, isPlural: family === "plural" });
        if (family === undefined) candidates?.delete(name);
      }
    }
  }
  return found;
}

/** The letters and digits of a name as they look, in lower case. `I`, `l` and `1` are one letter. */
function lettersOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return skeletonOf(plain)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "")
    .replaceAll("i", "l");
}

/** Replaces pairs of letters that look like one letter. `cl` may be `ci`. */
function joined(letters: string): string {
  return letters.replaceAll(/rn|nn/g, "m").replaceAll("vv", "w").replaceAll("cl", "d");
}

const ideograph = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * Keys of a name: the hash of the name, and the hashes of the name without one of its letters. Names that are one edit apart share a key.
 * Comparing texts instead of hashes would take ten times as long.
 */
function keysOf(letters: string): number[] {
  const { length } = letters;
  // In a short name, or in a script in which a letter is a word, one letter makes another word.
  if (length < minComparedNameChars - 1 || length > maxComparedNameChars || ideograph.test(letters)) return [];
  const keys: number[] = [];
  let whole = 0;
  for (let at = 0; at < length; at++) whole = hashed(whole, letters.charCodeAt(at));
  keys.push(whole);
  // The hash of a text is the sum of its letters, each times a power: the letters after the missing one keep theirs.
  let [after, power] = [0, 1];
  for (let at = length - 1; at >= 0; at--) {
    const code = letters.charCodeAt(at);
    const before = (whole - Math.imul(power, code) - after) | 0;
    keys.push((Math.imul(before, inverse) + after) | 0);
    after = (after + Math.imul(power, code)) | 0;
    power = Math.imul(power, base);
  }
  return keys;
}

function areOneEdit(one: string, other: string): boolean {
  return Math.max(one.length, other.length) >= minComparedNameChars && isOneEdit(one, other);
}

/** An odd number and its inverse modulo 2³². */
const base = 0x9e3779b1;
const inverse = 0x0e8b2f51;
const hashed = (hash: number, code: number) => (Math.imul(hash, base) + code) | 0;

/** Whether similar names are a singular and its plural, or another kind of family. Undefined if they are neither. */
function familyOf(one: string, other: string): "plural" | "other" | undefined {
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const at = words.findIndex((word, place) => word !== others[place]);
  const [word = "", another = ""] = [words[at], others[at]];
  if (words.length !== others.length || words.some((each, place) => place > at && each !== others[place]))
    return undefined;
  if (word === `${another}s` || another === `${word}s`) return "plural";
  const areNumbers = [word, another].every((each) => /^\d+$/.test(each));
  if (areNumbers) return BigInt(word) === BigInt(another) ? undefined : "other";
  const areLetters = word.length === 1 && another.length === 1;
  const areVerbs = [word, another].every((each) => each === "get" || each === "set");
  return at >= 0 && (areLetters || areVerbs) ? "other" : undefined;
}

function wordsOf(name: string): string[] {
  const parts = name
    .normalize("NFKC")
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")
    .toLowerCase();
  return parts.match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
}
