/** The picture in the README is what the commands print today, shows nothing of the machine that made it, and is readable. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { privateFacts, textOf } from "../../scripts/session/picture.ts";
import { runSession } from "../../scripts/session/session.ts";
import { columns, steps } from "../../scripts/session/steps.ts";

import { commandValues, readCommandLine } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/command-table.ts";
import { browserNote, chromiumPath, openBrowser, openPage } from "../support/browser.ts";
import { executable, root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { misplaced, tooFaint } from "./in-browser.js";

setDefaultTimeout(120_000);

const file = join(root, "scripts", "session", "session.svg");
const svg = readFileSync(file, "utf8");
const plain = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
/** The lines of the description for screen readers. */
const lines = plain(/<desc[^>]*>([^<]*)\n<\/desc>/.exec(svg)?.[1] ?? "").split("\n");

test("the picture is small and loads nothing", () => {
  expect(svg.length).toBeLessThan(50_000);
  const elements = new Set(svg.match(/(?<=<)[a-z]+/g));
  expect([...elements].sort()).toEqual(["desc", "rect", "style", "svg", "text", "title"]);
  expect(svg).not.toMatch(/\son\w+=|href|src=|url\(|@import|@font-face|javascript:/i);
  expect(svg.match(/https?:\/\/[^"<\s]+/g)).toEqual(["http://www.w3.org/2000/svg"]);
});

test("the picture shows nothing of the machine that made it", () => {
  expect(svg).not.toMatch(/(?<![\w.~])\/(?:tmp|home|root|Users|private|var|work|usr|opt|mnt)\//);
  expect(privateFacts(svg)).toEqual([]);
  for (const fact of [root, homedir(), `see ${hostname()}`]) expect(privateFacts(`<svg>${fact}</svg>`)).not.toEqual([]);
});

test("the picture shows the lines of its description", () => {
  const shown = new Map<number, string[]>();
  for (const [, y, text = ""] of svg.matchAll(/<text[^>]* y="(\d+)"[^>]*>([^<]*)<\/text>/g)) {
    shown.set(Number(y), [...(shown.get(Number(y)) ?? []), plain(text)]);
  }
  const withoutSpaces = (text: string) => text.replaceAll(/\s/g, "");
  const texts = [...shown.values()].map((texts) => withoutSpaces(texts.join("")));
  expect(texts).toEqual(lines.map(withoutSpaces).filter(Boolean));
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
});

/** The typed commands; a line that begins with `>` continues the line before. */
function commandsShown(): string[] {
  return lines.flatMap((line, place) => {
    if (!line.startsWith("$ ")) return [];
    const rest = lines.slice(place + 1);
    const end = rest.findIndex((each) => !each.startsWith("> "));
    return [[line, ...rest.slice(0, end)].map((each) => each.slice(2)).join("\n")];
  });
}

test("the picture shows the commands of the script, which exist with their flags", async () => {
  const shown = commandsShown();
  expect(shown).toEqual(steps.map(({ command }) => command));
  for (const command of shown) {
    const script = `claudikins() { printf '%s\\0' "$@"; }\n${command}`;
    const { stdout } = await runProgram(["sh", "-c", script]);
    const { entry, rest, path } = readCommandLine(stdout.split("\0").slice(0, -1), commands);
    if (!entry) throw new Error(`there is no command ${command}`);
    const { default: loaded } = await entry.load();
    expect(() => commandValues(rest, loaded.args, path.join(" "))).not.toThrow();
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

describe.skipIf(process.platform === "win32")("a session", () => {
  test("gives the text of the picture; otherwise, run: bun run session", async () => {
    const session = await runSession(executable());
    expect(steady(session.map((line) => `${textOf(line)}\n`).join(""))).toBe(steady(`${lines.join("\n")}\n`));
  });

  test.each([
    ["fails", "echo broken; exit 3", '"claudikins init --apply" ended with 3:\nbroken'],
    ["prints something else", "echo all is well", '"claudikins init --apply" did not print /\\d+ tools'],
  ])("is refused if a command %s", async (_, body, message) => {
    using folder = temporaryFolder();
    const binary = folder.write("claudikins", `#!/bin/sh\n${body}\n`);
    chmodSync(binary, 0o755);
    const error = await runSession(binary).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message.replaceAll("\r", "")).toStartWith(message);
  });
});

test.skipIf(chromiumPath === undefined)(
  `a browser shows each text at its column in any font, and with enough contrast in both schemes${browserNote}`,
  async () => {
    await using browser = await openBrowser();
    for (const colorScheme of ["light", "dark"] as const) {
      await using opened = await openPage(browser, file, { colorScheme });
      expect([colorScheme, await opened.page.evaluate(tooFaint)]).toEqual([colorScheme, []]);
      for (const font of [undefined, "serif", "DejaVu Serif", "monospace"]) {
        expect([font, await opened.page.evaluate(misplaced, font)]).toEqual([font, []]);
      }
      expect([opened.said, opened.requests]).toEqual([[], [`file://${file}`]]);
    }
  },
);
