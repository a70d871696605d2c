/** A bitmap font of 3 × 5 pixels. Each letter has five digits, one per row, whose bits are the pixels (4 is the left one). */
import { plainText } from "./text.ts";

export const GLYPH_WIDTH = 3;
export const GLYPH_HEIGHT = 5;

// biome-ignore format: a table
const GLYPHS: Readonly<Record<string, string>> = {
  " ": "00000", "!": "22202", '"': "55000", "#": "57575", $: "36236", "%": "51245", "&": "25253", "'": "22000",
  "(": "12221", ")": "42224", "*": "05250", "+": "02720", ",": "00024", "-": "00700", ".": "00002", "/": "11244",
  "0": "75557", "1": "26227", "2": "61247", "3": "61216", "4": "55711", "5": "74616", "6": "34757", "7": "71122",
  "8": "75757", "9": "75716", ":": "02020", ";": "02024", "<": "12421", "=": "07070", ">": "42124", "?": "61202",
  "@": "25743", "[": "64446", "]": "31113", _: "00007", "|": "22222", "£": "34647", "€": "36763", "…": "00005", "–": "00700", "—": "00700",
  A: "25755", B: "65656", C: "34443", D: "65556", E: "74647", F: "74644", G: "34553", H: "55755", I: "72227",
  J: "11152", K: "55655", L: "44447", M: "57755", N: "65555", O: "25552", P: "65644", Q: "25563", R: "65655",
  S: "34216", T: "72222", U: "55557", V: "55552", W: "55775", X: "55255", Y: "55222", Z: "71247",
};

/** Calls `dot` for each pixel of `text`, whose top left corner is 0, 0. Text is drawn in capitals, unknown characters as "?". */
export function drawText(text: string, dot: (x: number, y: number) => void): void {
  for (const [place, letter] of letters(text).entries()) {
    for (const [y, row] of [...(GLYPHS[letter] ?? GLYPHS["?"]!)].entries()) {
      for (let x = 0; x < GLYPH_WIDTH; x += 1) if (Number(row) & (4 >> x)) dot(place * (GLYPH_WIDTH + 1) + x, y);
    }
  }
}

/** Returns the width in pixels that `drawText` needs. */
export function textWidth(text: string): number {
  return Math.max(0, letters(text).length * (GLYPH_WIDTH + 1) - 1);
}

function letters(text: string): string[] {
  return [...plainText(text).toUpperCase()];
}
