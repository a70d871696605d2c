/** Draws a bar chart as a PNG. Each point has a row with its label, a bar from the zero line, and its value. */
import { drawText, GLYPH_HEIGHT, textWidth } from "./font.ts";
import { type Colour, encodePng } from "./png.ts";

export interface Point {
  label: string;
  value: number;
}

const PALETTE: readonly Colour[] = [
  [255, 255, 255],
  [38, 43, 51],
  [47, 111, 178],
  [196, 78, 61],
  [214, 218, 224],
];
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
  return encodePng(width, pixels, PALETTE);
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
