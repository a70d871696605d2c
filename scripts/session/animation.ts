/** Lines that appear, disappear and move, by CSS keyframes; without animation, the last screen is shown. */
import { drawRow, letter, rounded } from "./drawing.ts";
import { type Layer, layersOf, scrollsOf } from "./layers.ts";
import type { Recording, Typed } from "./recording.ts";

/** An element, by the name of its class and its keyframes. */
interface Part {
  name: string;
  element: string;
  /** Empty if it is always visible. */
  keyframes: string;
  /** Whether it is hidden at the end. */
  isGone: boolean;
}

/** A time as a share of the whole: `12.5%`. */
type Share = (ms: number) => string;

const [hidden, visible] = ["visibility:hidden", "visibility:visible"];

export function animated(recording: Recording): { body: string; styles: string } {
  const { durationMs, columns } = recording;
  const share: Share = (ms) => `${Math.round((ms / durationMs) * 100_000) / 1_000}%`;
  const parts = [
    ...layersOf(recording).map((layer, place) => layerPart(layer, `k${place}`, share)),
    ...recording.typed.map((typed, place) => coverPart(typed, `t${place}`, share, columns)),
  ];
  const scroll = scrollPart(
    parts.map(({ element }) => element),
    recording,
    share,
  );
  return { body: scroll.element, styles: stylesOf([...parts, scroll], recording) };
}

function layerPart({ fromMs, toMs, rows }: Layer, name: string, share: Share): Part {
  const end = toMs === undefined ? "" : `${share(toMs)}{${hidden}}`;
  const start = `0%{${hidden}}${share(fromMs)}{${visible}}`;
  return {
    name,
    element: `<g class="${name}">\n${rows.map(({ line, row }) => `${drawRow(row, line)}\n`).join("")}</g>`,
    keyframes: fromMs > 0 ? start + end : end && `0%{${visible}}${end}`,
    isGone: toMs !== undefined,
  };
}

/** Hides text that is not typed yet, behind the moving cursor. */
function coverPart(
  { line, fromColumn, toColumn, fromMs, toMs }: Typed,
  name: string,
  share: Share,
  columns: number,
): Part {
  const letters = toColumn - fromColumn;
  const place = `x="${rounded(fromColumn * letter.width)}" y="${line * letter.height}"`;
  const rect = (names: string, width: number) =>
    `<rect${names} ${place} width="${rounded(width * letter.width)}" height="${letter.height}"/>`;
  return {
    name,
    element: `<g class="${name}">${rect(' class="g"', columns - fromColumn)}${rect("", 1)}</g>`,
    keyframes:
      `0%{${hidden}}${share(fromMs)}{${visible};${moved("X", 0)};animation-timing-function:steps(${letters})}` +
      `${share(toMs)}{${hidden};${moved("X", letters * letter.width)}}`,
    isGone: true,
  };
}

const up = (top: number) => moved("Y", -top * letter.height);

function scrollPart(elements: string[], recording: Recording, share: Share): Part {
  const steps = scrollsOf(recording).map(({ atMs, top }) => `${share(atMs)}{${up(top)}}`);
  return {
    name: "scroll",
    element: `<g class="scroll">\n${elements.join("\n")}\n</g>`,
    keyframes: steps.length > 0 ? `0%{${up(0)}}${steps.join("")}` : "",
    isGone: false,
  };
}

function moved(axis: "X" | "Y", by: number): string {
  return `transform:translate${axis}(${rounded(by)}px)`;
}

function stylesOf(parts: readonly Part[], { durationMs, frames }: Recording): string {
  const moving = parts.filter(({ keyframes }) => keyframes !== "");
  const gone = parts.filter(({ isGone }) => isGone);
  const selector = (some: readonly Part[]) => some.map(({ name }) => `.${name}`).join(",");
  return [
    `.scroll{${up(frames.at(-1)?.top ?? 0)}}`,
    ...(gone.length > 0 ? [`${selector(gone)}{${hidden}}`] : []),
    "@media (prefers-reduced-motion:no-preference){",
    ...moving.map(({ name, keyframes }) => `@keyframes ${name}{${keyframes}}`),
    ...(moving.length > 0 ? [`${selector(moving)}{animation:${rounded(durationMs / 1_000)}s step-end infinite}`] : []),
    ...moving.map(({ name }) => `.${name}{animation-name:${name}}`),
    "}",
    "",
  ].join("\n");
}
