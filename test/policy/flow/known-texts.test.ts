/** Texts of labelled data are kept once, however often they are read. */
import { expect, test } from "bun:test";
import { type DataLabel, KnownTexts, type Origin } from "../../../src/policy/flow/known-texts.ts";

const page = JSON.stringify({ text: "Each order has a number. ".repeat(10_000) });

function origin(source: string, ...labels: DataLabel[]): Origin {
  return { source, labels: new Set(labels) };
}

/** A session after programs that have each read one text. */
function session(...reads: { from: Origin; text: string }[]): KnownTexts {
  const texts = new KnownTexts();
  for (const { from, text } of reads) {
    const program = new KnownTexts();
    program.add(from, text.length, () => text);
    texts.addAll(program);
  }
  return texts;
}

test("a list that a hundred programs have read takes the room of one", () => {
  const texts = session(...Array(100).fill({ from: origin("shop.list_orders", "private"), text: page }));
  expect(texts.all).toHaveLength(1);
});

test("texts that differ in a letter, in their source, labels or program are kept", () => {
  const orders = origin("shop.list_orders", "private");
  const texts = session(
    { from: orders, text: page },
    { from: orders, text: page.replace("E", "e") },
    { from: origin("crm.list_orders", "private"), text: page },
    { from: origin("shop.list_orders", "private", "untrusted"), text: page },
    { from: { ...orders, shownBy: "return 1" }, text: page },
  );
  expect(texts.all).toHaveLength(5);
  expect(texts.of("untrusted")).toHaveLength(1);
});

test("a session drops the texts that were read longest ago", () => {
  const read = (letter: string) => ({ from: origin(`shop.${letter}`, "private"), text: letter.repeat(3_000_000) });
  const texts = session(read("a"), read("b"), read("a"), read("c"));
  expect(texts.all.map(({ origin: { source } }) => source)).toEqual(["shop.a", "shop.c"]);
});

test("a text is made once, and a program that is running makes none", () => {
  const program = new KnownTexts();
  let made = 0;
  program.add(origin("shop.list_orders", "private"), page.length, () => {
    made += 1;
    return page;
  });
  expect(made).toBe(0);
  const texts = new KnownTexts();
  texts.addAll(program);
  texts.addAll(program);
  expect(texts.all[0]?.hasValue("Each order has a number. ")).toBe(true);
  expect(made).toBe(1);
});
