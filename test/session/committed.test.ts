/** The session in the README needs no other files, contains nothing of the machine it was recorded on, and is up to date. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { transcriptOf } from "../../scripts/session/layers.ts";
import { recordSession } from "../../scripts/session/session.ts";
import { columns, steps } from "../../scripts/session/steps.ts";
import type { Entry, Group } from "../../src/cli/command.ts";
import { valuesOf } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/command-table.ts";
import { executable, root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { lastLines } from "./svg-screen.ts";
import { elementsOf, parseXml } from "./xml.ts";

setDefaultTimeout(120_000);

const source = readFileSync(join(root, "scripts", "session", "session.svg"), "utf8");
const svg = parseXml(source);
const description = elementsOf(svg, "desc")[0]?.text ?? "";
/** With the bars, which are drawn as rectangles. */
const transcript = description.slice(description.indexOf("\n") + 1);

test("the SVG is small and loads nothing", () => {
  expect(source.length).toBeLessThan(100_000);
  const known = ["svg", "title", "desc", "style", "rect", "circle", "text", "g"];
  expect([...new Set(elementsOf(svg).map(({ name }) => name))].sort()).toEqual(known.sort());
  const attributes = new Set(elementsOf(svg).flatMap((each) => Object.keys(each.attributes)));
  expect([...attributes].filter((name) => /^on|href|src|^style$/i.test(name))).toEqual([]);
  expect(source).not.toMatch(/url\(|@import|@font-face|javascript:/i);
  expect(source.match(/https?:\/\/[^"<\s]+/g)).toEqual(["http://www.w3.org/2000/svg"]);
});

test("the SVG contains nothing of the machine it was recorded on", () => {
  expect(source).not.toMatch(/(?<![\w.~])\/(?:tmp|home|root|Users|private|var|work|usr|opt|mnt)\//);
  expect(source).not.toMatch(/[A-Z]:\\|\/claudikins-session-/);
  for (const fact of [root, homedir(), `@${hostname()}`]) expect(source).not.toContain(fact);
});

test("the SVG shows the texts of its description for screen readers", () => {
  const bars = /[\u2588-\u258f\u2590]/g;
  const shown = lastLines(svg).map((line) => line.trimEnd());
  expect(shown).toEqual(
    transcript
      .replaceAll(bars, " ")
      .split("\n")
      .slice(0, shown.length)
      .map((line) => line.trimEnd()),
  );
  for (const line of transcript.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
});

/** The typed commands; a line that begins with `>` continues the line before. */
function commandsShown(): string[] {
  const lines = lastLines(svg).map((line) => line.trimEnd());
  return lines.flatMap((line, place) => {
    if (!line.startsWith("$ ")) return [];
    const rest = lines.slice(place + 1);
    const end = rest.findIndex((each) => !each.startsWith("> "));
    return [[line, ...rest.slice(0, end)].map((each) => each.slice(2)).join("\n")];
  });
}

test("the SVG shows the commands of the script, which exist with their flags", async () => {
  const shown = commandsShown();
  expect(shown).toEqual(steps.map(({ command }) => command));
  for (const command of shown) {
    const script = `claudikins() { printf '%s\\0' "$@"; }\n${command}`;
    const { stdout } = await runProgram(["sh", "-c", script]);
    const [name = "", ...args] = stdout.split("\0").slice(0, -1);
    const entry: Entry | Group | undefined = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!entry || !("load" in entry)) throw new Error(`there is no command ${name}`);
    const { default: loaded } = await entry.load();
    expect(() => valuesOf(args, loaded.args, name)).not.toThrow();
  }
});

/** The text, without what differs between runs: times, bars, the order of concurrent calls, and the id of the execution. */
const steady = (text: string) =>
  text
    .replace(/^ *(?:[\d,.]+ +)*[\d,.]+ m?s\n/gm, "AXIS\n")
    .replace(/ *[\u2588-\u258f\u2590]+ */g, " BAR ")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "TIME")
    .replace(/[\d,.]+ m?s\b/g, "N ms")
    .replace(" (after N ms of fetching tools)", "")
    .replace(/\d at once/g, "N at once")
    .replace(/^\w+( {2}exec · )/gm, "ID$1");

test.skipIf(process.platform === "win32")(
  "recording the session again gives the same text; otherwise, run: bun run session",
  async () => {
    const recording = await recordSession(executable(), new AbortController().signal);
    expect(steady(transcriptOf(recording))).toBe(steady(transcript));
  },
);
