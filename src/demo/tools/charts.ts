/** The tool that draws bar charts as PNG. Each point has a row with its label, a bar from the zero line, and its value. */
import { crc32, deflateSync } from "node:zlib";
import { objectSchema } from "../json-schema.ts";
import { plainText } from "../text.ts";
import { defineTool, READS } from "../tool.ts";

export const renderChart = defineTool({
  name: "render_chart",
  title: "Render a bar chart",
  description:
    "Draws a bar chart of labelled values. Gives it as an image (PNG) and a line of text that says what is on it.",
  annotations: READS,
  inputSchema: objectSchema({
    title: { type: "string", minLength: 1, maxLength: 120, description: "Written above the bars." },
    points: {
      type: "array",
      minItems: 1,
      maxItems: 400,
      description: "The bars, from top to bottom.",
      items: objectSchema({
        label: { type: "string", description: "Written beside the bar; cut after 24 characters." },
        value: { type: "number", description: "The length of the bar; may be negative." },
      }),
    },
  }),
  run({ title, points }) {
    const largest = points.reduce((max, point) => (point.value > max.value ? point : max));
    const bars = points.length === 1 ? "1 bar" : `${points.length} bars`;
    return {
      content: [
        { type: "image", data: barChart(title, points).toString("base64"), mimeType: "image/png" },
        {
          type: "text",
          text: `Bar chart "${title}": ${bars}, the largest is ${largest.label} with ${formatValue(largest.value)}.`,
        },
      ],
    };
  },
});

/** A bitmap font of 3 × 5 pixels. Each letter has five digits, one per row, whose bits are the pixels (4 is the left one). */
const GLYPH_WIDTH = 3;
const GLYPH_HEIGHT = 5;
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

interface Point {
  label: string;
  value: number;
}

/** Red, green and blue of each colour: the paper, and then the colours below. */
// biome-ignore format: a table
const PALETTE = [255, 255, 255, 38, 43, 51, 47, 111, 178, 196, 78, 61, 214, 218, 224];
const INK = 1;
const BAR = 2;
const NEGATIVE_BAR = 3;
const LINE = 4;

const SCALE = 2;
const MARGIN = 12;
const TEXT_HEIGHT = GLYPH_HEIGHT * SCALE;
const HEADER_HEIGHT = MARGIN * 2 + TEXT_HEIGHT;
const ROW_HEIGHT = 20;
const BAR_HEIGHT = 14;
const PLOT_WIDTH = 360;
const MAX_LABEL = 24;

export function barChart(title: string, points: readonly Point[]): Buffer {
  const labels = points.map(({ label }) => shortened(label, MAX_LABEL));
  const values = points.map(({ value }) => formatValue(value));
  const labelWidth = widest(labels);
  const plotX = MARGIN * 2 + labelWidth;
  const width = Math.max(plotX + PLOT_WIDTH + widest(values) + MARGIN * 2, widest([title]) + MARGIN * 2);
  const height = HEADER_HEIGHT + points.length * ROW_HEIGHT + MARGIN;
  const pixels = new Uint8Array(width * height);

  function fill(x: number, y: number, w: number, h: number, colour: number): void {
    for (let row = y; row < y + h; row += 1) pixels.fill(colour, row * width + x, row * width + x + w);
  }
  function write(text: string, x: number, y: number): void {
    drawText(text, (dx, dy) => fill(x + dx * SCALE, y + dy * SCALE, SCALE, SCALE, INK));
  }

  const lowest = Math.min(0, ...points.map(({ value }) => value));
  const highest = Math.max(0, ...points.map(({ value }) => value));
  const place = (value: number) => plotX + Math.round(((value - lowest) / (highest - lowest || 1)) * PLOT_WIDTH);

  write(title, MARGIN, MARGIN);
  fill(place(0), HEADER_HEIGHT, 1, points.length * ROW_HEIGHT, LINE);
  for (const [index, { value }] of points.entries()) {
    const y = HEADER_HEIGHT + index * ROW_HEIGHT;
    const textY = y + (ROW_HEIGHT - TEXT_HEIGHT) / 2;
    const [start, end] = [place(Math.min(0, value)), place(Math.max(0, value))];
    write(labels[index]!, MARGIN + labelWidth - widest([labels[index]!]), textY);
    fill(start, y + (ROW_HEIGHT - BAR_HEIGHT) / 2, end - start, BAR_HEIGHT, value < 0 ? NEGATIVE_BAR : BAR);
    write(values[index]!, end + MARGIN / 2, textY);
  }
  return encodePng(width, pixels);
}

/** Returns a number such as "1,234,567.50". It does not use `Intl`, so the result is the same for every locale of the machine. */
export function formatValue(value: number): string {
  if (Math.abs(value) >= 1e15) return value.toExponential(3);
  const [whole, fraction] = String(Number(value.toFixed(2))).split(".");
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction.padEnd(2, "0")}`;
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => textWidth(text) * SCALE));
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Calls `dot` for each pixel of `text`, whose top left corner is 0, 0. Text is drawn in capitals, unknown characters as "?". */
function drawText(text: string, dot: (x: number, y: number) => void): void {
  for (const [place, letter] of letters(text).entries()) {
    for (const [y, row] of [...(GLYPHS[letter] ?? GLYPHS["?"]!)].entries()) {
      for (let x = 0; x < GLYPH_WIDTH; x += 1) if (Number(row) & (4 >> x)) dot(place * (GLYPH_WIDTH + 1) + x, y);
    }
  }
}

/** Returns the width in pixels that `drawText` needs. */
function textWidth(text: string): number {
  return Math.max(0, letters(text).length * (GLYPH_WIDTH + 1) - 1);
}

function letters(text: string): string[] {
  return [...plainText(text).toUpperCase()];
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BIT_DEPTH = 8;
const INDEXED_COLOUR = 3;

/**
 * Encodes an image as a PNG with one palette and one byte per pixel (PNG specification, third edition, sections 5 and 11).
 * `pixels` are indexes into the palette, row by row, with `width` pixels per row.
 */
function encodePng(width: number, pixels: Uint8Array): Buffer {
  const height = pixels.length / width;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BIT_DEPTH;
  header[9] = INDEXED_COLOUR;

  // Each row begins with the number of its filter. 0 means no filter.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);

  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(PALETTE)),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), framed.length - 4);
  return framed;
}
