/** Reads an SVG of ours back: the texts on its screen and their places. */
import { letter } from "../../scripts/session/drawing.ts";
import { type Element, elementsOf } from "./xml.ts";

/** All lines at the end of the session, including those that scrolled away. Bars are not text, and not included. */
export function lastLines(svg: Element): string[] {
  const style = elementsOf(svg, "style")[0]?.text ?? "";
  const hidden = /^(?<names>\.[^{}@]+)\{visibility:hidden\}$/m.exec(style)?.groups?.["names"] ?? "";
  const gone = new Set(hidden.split(",").map((name) => name.slice(1)));
  const layers = scrolled(svg).children.filter(({ attributes }) => !gone.has(attributes["class"] ?? ""));
  const lines: string[] = [];
  for (const { text, attributes } of layers.flatMap((layer) => elementsOf(layer, "text"))) {
    const line = Math.floor(Number(attributes["y"]) / letter.height);
    const before = lines[line] ?? "";
    const gap = Math.round(Number(attributes["x"]) / letter.width) - Bun.stringWidth(before);
    lines[line] = before + " ".repeat(gap) + text;
  }
  return Array.from(lines, (line = "") => line);
}

/** The element that moves up when the screen is full. */
export function scrolled(svg: Element): Element {
  const found = elementsOf(svg, "g").find(({ attributes }) => attributes["class"] === "scroll");
  if (!found) throw new Error("there is no screen");
  return found;
}

/** `k3` → `2.5%{visibility:visible}…`: the keyframes by their names. */
export function keyframesOf(svg: Element): Map<string, string> {
  const style = elementsOf(svg, "style")[0]?.text ?? "";
  const found = style.matchAll(/@keyframes (\w+)\{((?:[^{}]+\{[^{}]*\})*)\}/g);
  return new Map([...found].map(([, name = "", frames = ""]) => [name, frames]));
}
