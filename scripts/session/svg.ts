/** A recording as one SVG without other files: animated by CSS, in dark and light, and still for reduced motion. */
import { animated } from "./animation.ts";
import { escaped, letter } from "./drawing.ts";
import { dark, light, type Theme } from "./palette.ts";
import type { Recording } from "./recording.ts";

export interface Words {
  title: string;
  /** For screen readers. */
  description: string;
  /** Below the screen: how it was recorded, and what was shortened. */
  caption: string;
}

const [padding, barHeight, captionHeight] = [18, 36, 32];

const fonts = `ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace`;

export function svgOf(recording: Recording, { title, description, caption }: Words): string {
  const { columns, rows } = recording;
  const screen = { width: Math.ceil(columns * letter.width), height: rows * letter.height };
  const width = screen.width + 2 * padding;
  const height = barHeight + screen.height + captionHeight + padding / 2;
  const animation = animated(recording);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<style>\n${styles(animation.body)}${animation.styles}</style>`,
    `<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    ...[0, 1, 2].map((dot) => `<circle class="dot" cx="${padding + 5 + dot * 18}" cy="${barHeight / 2}" r="5.5"/>`),
    `<text class="aside" x="${width / 2}" y="${barHeight / 2 + 4.5}">${escaped(title)}</text>`,
    `<svg x="${padding}" y="${barHeight}" width="${screen.width}" height="${screen.height}">`,
    animation.body,
    "</svg>",
    `<text class="aside" x="${width / 2}" y="${height - captionHeight / 2 + 1}">${escaped(caption)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}

/** Only the colours that are used. */
function styles(body: string): string {
  const used = [...light.colours.keys()].filter((colour) => new RegExp(`class="c${colour}[ "]`).test(body));
  return [
    themed("svg", light, used),
    `@media (prefers-color-scheme:dark){${themed("svg", dark, used)}}`,
    `text{font:${letter.size}px ${fonts};fill:var(--text)}`,
    "rect{fill:var(--text)}.b{font-weight:600}.d{fill-opacity:.72}.f{fill-opacity:.25}.g{fill:var(--ground)}",
    ...used.map((colour) => `.c${colour}{fill:var(--c${colour})}`),
    ".window{fill:var(--ground);stroke:var(--edge)}.dot{fill:var(--edge)}",
    ".aside{font:11.5px system-ui,sans-serif;fill:var(--aside);text-anchor:middle}",
    "",
  ].join("\n");
}

function themed(selector: string, { text, ground, edge, aside, colours }: Theme, used: number[]): string {
  const numbered = used.map((colour) => `--c${colour}:${colours[colour]}`);
  return `${selector}{${[`--text:${text}`, `--ground:${ground}`, `--edge:${edge}`, `--aside:${aside}`, ...numbered].join(";")}}`;
}
