/** Texts of labelled data are kept once, however often they are read. */
import { expect, test } from "bun:test";
import { type DataLabel, KnownTexts, type Origin } from "../../../src/policy/flow/known-texts.ts";

const page = JSON.stringify({ text: "Each order has a number. ".repeat(10_000) });

function origin(source: string, ...labels: DataLabel[]): Origin {
  return { source, labels: new Set(labels) };
}

const add = (texts: KnownTexts, from: Origin, text: string) => texts.add(from, text.length, () => text);

test("a list that is read a hundred times takes the room of one", () => {
  const texts = new KnownTexts();
  for (let count = 0; count < 100; count++) add(texts, origin("shop.list_orders", "private"), page);
  expect(texts.all).toHaveLength(1);
  expect(texts.lacks("private")).toBe(false);
});

test("texts that differ in a letter, in their source, labels or program are kept", () => {
  const texts = new KnownTexts();
  add(texts, origin("shop.list_orders", "private"), page);
  add(texts, origin("shop.list_orders", "private"), page.replace("E", "e"));
  add(texts, origin("crm.list_orders", "private"), page);
  add(texts, origin("shop.list_orders", "private", "untrusted"), page);
  add(texts, { ...origin("shop.list_orders", "private"), shownBy: "return 1" }, page);
  expect(texts.all).toHaveLength(5);
  expect(texts.of("untrusted")).toHaveLength(1);
});

test("a session drops the texts that were read longest ago", () => {
  const session = new KnownTexts();
  const read = (letter: string) => {
    const program = new KnownTexts();
    add(program, origin(`shop.${letter}`, "private"), letter.repeat(3_000_000));
    session.addAll(program);
  };
  read("a");
  read("b");
  read("a");
  read("c");
  expect(session.all.map(({ origin: { source } }) => source)).toEqual(["shop.a", "shop.c"]);
});

test("a text that was made does not keep the values from which it was made", () => {
  const texts = new KnownTexts();
  let made = 0;
  texts.add(origin("shop.list_orders", "private"), page.length, () => {
    made += 1;
    return page;
  });
  for (let count = 0; count < 3; count++) add(texts, origin("shop.list_orders", "private"), page);
  const [text] = texts.all;
  expect(text?.hasValue("Each order has a number. ")).toBe(true);
  expect(made).toBe(1);
});
