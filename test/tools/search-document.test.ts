/** The terms of a tool and their strengths. The words are made up, so that no thesaurus knows them. */
import { describe, expect, test } from "bun:test";
import { documentOf, meanLengths, strengthsOf, tellingWords } from "../../src/tools/search/document.ts";
import { serverOf, type ToolDraft } from "./search-corpus.ts";

const documentsOf = (tools: Record<string, string | ToolDraft>) => {
  const server = serverOf("zorb", tools);
  return server.tools.map((tool) => documentOf(server, tool));
};

const strengths = (tools: Record<string, string | ToolDraft>) => {
  const documents = documentsOf(tools);
  return documents.map((document) => strengthsOf(document, meanLengths(documents)));
};

describe("the strength of a term", () => {
  test("falls from the name over the server, title, summary and details to the parameters", () => {
    const description = "Quuxes the frood of all vims. Then plonks.";
    const [of] = strengths({ blorf: { description, title: "Wibbo", parameters: { dree: { enum: ["krix"] } } } });
    const words = ["blorf", "zorb", "wibbo", "frood", "plonk", "dree"];
    expect(words.map((word) => of!.get(word)!.toFixed(2))).toEqual(["0.80", "0.75", "0.67", "0.60", "0.41", "0.23"]);
    expect(of!.get("krix")).toBe(of!.get("dree"));
  });

  test("is smaller in a longer text", () => {
    const [short, long] = strengths({
      blorf: "Quuxes the frood.",
      vim: "Quuxes the frood, the plonk, the dree and the wibbo.",
    });
    expect(short!.get("frood")!).toBeGreaterThan(long!.get("frood")!);
  });

  test("depends on how long a title is in comparison with the others, not on its length", () => {
    const once = { blorf: { title: "Frood" }, vim: { title: "Frood plonk" } };
    const twice = { blorf: { title: "Frood grolt" }, vim: { title: "Frood plonk snarf twill" } };
    const of = (tools: Record<string, ToolDraft>) => strengths(tools).map((each) => each.get("frood"));
    expect(of(twice)).toEqual(of(once));
  });

  test("grows with repetitions, but never reaches one", () => {
    const [once, often] = strengths({ blorf: "frood plonk dree vim", vim: "frood frood frood frood" });
    expect(often!.get("frood")!).toBeGreaterThan(once!.get("frood")!);
    expect(often!.get("frood")!).toBeLessThan(1);
  });
});

describe("a document", () => {
  test("has pairs of the name's words, but not across its ends", () => {
    const [document] = documentsOf({ blorf_vim_dree: "" });
    expect(document!.fields.pairs).toEqual(["blorf vim", "vim dree"]);
  });

  test("ends its summary after the first sentence, which is not an abbreviation", () => {
    const [document] = documentsOf({ blorf: "E.g. plonks every frood of the vims. Then wibbos." });
    expect([document!.fields.summary.at(-1), document!.fields.details]).toEqual(["vim", ["wibbo"]]);
  });

  test("leaves out common words, also in what a query is compared with", () => {
    expect(tellingWords("the froods of a vim")).toEqual(["frood", "vim"]);
    expect(documentsOf({ blorf: "Plonks the froods" })[0]!.fields.summary).toEqual(["plonk", "frood"]);
  });
});

test("a field that no tool has counts as one word long", () => {
  expect(meanLengths(documentsOf({ blorf: "", vim_dree: "" }))).toMatchObject({
    name: 1.5,
    title: 1,
    summary: 1,
    pairs: 0.5,
  });
  expect(meanLengths([])).toMatchObject({ name: 1 });
});
