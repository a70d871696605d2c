/** A person may type the beginning or the end of an id. It must be unique. */
import { expect, test } from "bun:test";
import { idLike } from "../../src/cli/output/nouns.ts";

const ids = ["0t80fs9gjc4vk2q7xh9mzc3wd8rn", "0t80fs9gjd4vk2q7xh9mzc3wd8rp", "0t80fs9gjc"];

test("the id itself is found, also if it is the beginning of another one", () => {
  expect(ids.map((id) => idLike(id, ids))).toEqual(ids);
});

test("a unique beginning or end is found; a part in the middle, a longer word and an empty word are not", () => {
  expect(idLike("0t80fs9gjd", ids)).toBe(ids[1]);
  expect(idLike("8rn", ids)).toBe(ids[0]);
  for (const word of ["4vk2", `${ids[1]}0`, ""]) expect(idLike(word, ids)).toBeUndefined();
});

test("a word that fits several names up to five of them", () => {
  const hint = `One of: ${ids.join(", ")}`;
  expect(() => idLike("0t80", ids)).toThrow(
    expect.objectContaining({ code: "USAGE", message: 'Several executions begin or end with "0t80"', hint }),
  );
  const many = Array.from({ length: 7 }, (_, place) => `0t80fs9g${place}`);
  expect(() => idLike("0t", many)).toThrow(
    expect.objectContaining({ hint: `One of: ${many.slice(0, 5).join(", ")}, and 2 more` }),
  );
});
