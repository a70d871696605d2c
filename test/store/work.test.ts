/** Work on a database as a generator of its statements. */
import { expect, test } from "bun:test";
import { all, done, first, ofNothing, run, type Work } from "../../src/store/work.ts";

function* reading(): Work<[number, string | undefined]> {
  const rows = yield* all<{ name: string }>("SELECT name FROM claudikins.people");
  const one = yield* first<{ name: string }>("SELECT name FROM claudikins.people WHERE id = $id", { id: "a" });
  return [rows.length, one?.name];
}

test("each statement is answered in its turn, with its values", () => {
  const asked: [string, object][] = [];
  const answer = done(reading(), ({ text, values }) => {
    asked.push([text, values]);
    return [{ name: "ada" }, { name: "bob" }];
  });
  expect(answer).toEqual([2, "ada"]);
  expect(asked).toEqual([
    ["SELECT name FROM claudikins.people", {}],
    ["SELECT name FROM claudikins.people WHERE id = $id", { id: "a" }],
  ]);
});

test("a read of a store without data finds nothing", () => {
  expect(ofNothing(reading())).toEqual([0, undefined]);
});

test("an error of a statement reaches the work, and the caller unless the work handles it", () => {
  function* careful(): Work<string> {
    try {
      yield* run("DELETE FROM claudikins.people");
    } catch (error) {
      return (error as Error).message;
    }
    return "deleted";
  }
  const broken = (): never => {
    throw new Error("the disk is full");
  };
  expect(done(careful(), broken)).toBe("the disk is full");
  expect(() => done(reading(), broken)).toThrow("the disk is full");
});
