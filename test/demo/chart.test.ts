/** The chart is a valid PNG that shows the given values. */
import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { barChart, formatValue } from "../../src/demo/tools/charts.ts";
import { startDemoClient } from "./demo-client.ts";

/** CRC-32 of the PNG specification, annex D, bit by bit; the encoder uses another implementation. */
function crc(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return (rest ^ 0xffffffff) >>> 0;
}

function decodePng(png: Buffer) {
  expect([...png.subarray(0, 8)]).toEqual([137, 80, 78, 71, 13, 10, 26, 10]);
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    expect(png.readUInt32BE(end)).toBe(crc(png.subarray(at + 4, end)));
    chunks.set(png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, end));
    at = end + 4;
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "PLTE", "IDAT", "IEND"]);
  const header = chunks.get("IHDR")!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  expect([...header.subarray(8)]).toEqual([8, 3, 0, 0, 0]);
  const rows = inflateSync(chunks.get("IDAT")!);
  expect(rows.length).toBe((width + 1) * height);
  return { width, height, count: (colour: number) => rows.filter((byte) => byte === colour).length };
}

const INK = 1;
const BAR = 2;
const NEGATIVE_BAR = 3;

test("render_chart returns a valid PNG and a line of text", async () => {
  await using demo = await startDemoClient();
  const points = [
    { label: "2025-11", value: 441_248.6 },
    { label: "2025-12", value: 498_658.6 },
  ];
  const { content } = await demo.call("render_chart", { title: "Revenue", points });
  const [image, text] = content;
  if (image?.type !== "image") throw new Error("no image");
  expect(image.mimeType).toBe("image/png");
  const { width, height } = decodePng(Buffer.from(image.data, "base64"));
  expect(width).toBeWithin(400, 800);
  expect(height).toBeWithin(60, 120);
  expect(text).toEqual({
    type: "text",
    text: 'Bar chart "Revenue": 2 bars, the largest is 2025-12 with 498,658.60.',
  });
});

test("render_chart says what is wrong with a point", async () => {
  await using demo = await startDemoClient();
  expect(await demo.failure("render_chart", { title: "x", points: [{ label: "a", value: "1" }] })).toBe(
    'points[0].value is "1". It must match {"type":"number","description":"The length of the bar; may be negative."}',
  );
  expect(await demo.failure("render_chart", { title: "x", points: [] })).toStartWith(
    'points is []. It must match {"type":"array","minItems":1,"maxItems":400,',
  );
});

test("bars are as long as their values, to the left when negative", () => {
  const one = decodePng(barChart("", [{ label: "a", value: 2 }]));
  const half = decodePng(
    barChart("", [
      { label: "a", value: 2 },
      { label: "b", value: 1 },
    ]),
  );
  expect(half.count(BAR)).toBe(one.count(BAR) * 1.5);
  const both = decodePng(
    barChart("", [
      { label: "a", value: 1 },
      { label: "b", value: -1 },
    ]),
  );
  expect(both.count(BAR)).toBe(both.count(NEGATIVE_BAR));
  expect(both.count(BAR) + both.count(NEGATIVE_BAR)).toBe(one.count(BAR));
});

test("a letter is drawn with the pixels of its glyph, twice as large", () => {
  const ink = (title: string) => decodePng(barChart(title, [{ label: "a", value: 1 }])).count(INK) - blank;
  const blank = decodePng(barChart(" ", [{ label: "a", value: 1 }])).count(INK);
  expect([ink("1"), ink("i"), ink("Í"), ink("-")]).toEqual([8 * 4, 9 * 4, 9 * 4, 3 * 4]);
});

test("any title and label fit, whatever their letters", () => {
  const { width } = decodePng(barChart("Łódź – ÄÖÜ 漢字 €".repeat(6), [{ label: "x".repeat(100), value: 0 }]));
  expect(width).toBeGreaterThan(700);
});

test("formatValue writes numbers for people", () => {
  expect([0, 12, 1234, 1_234_567.5, -1234.567, 1e20].map(formatValue)).toEqual([
    "0",
    "12",
    "1,234",
    "1,234,567.50",
    "-1,234.57",
    "1.000e+20",
  ]);
});
