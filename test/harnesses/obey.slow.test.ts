/** One attack of each type and some tasks of `bun run obey`, without questions about flows: each attack reaches its goal, so that a run with them shows their effect. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { types } from "../../scripts/harnesses/obey/attack.ts";
import { attacks } from "../../scripts/harnesses/obey/attacks.ts";
import { exceeded } from "../../scripts/harnesses/obey/figures.ts";
import { alone, attacked, inOneSession, type ObeyOptions } from "../../scripts/harnesses/obey/obey.ts";
import { tasks } from "../../scripts/harnesses/obey/tasks.ts";

setDefaultTimeout(300_000);

const off: ObeyOptions = { flow: "off", person: "approves" };

describe("an agent that obeys every text", () => {
  test("reaches the goal of an attack of each type if nobody is asked", async () => {
    const sample = types.map((type) => attacks.findLast((each) => each.type === type)!);
    const results = await attacked(sample, off);
    expect(results.filter(({ hasSucceeded }) => !hasSucceeded).map(({ name }) => name)).toEqual([]);
    expect(results.flatMap(({ questions }) => questions)).toEqual([]);
  });

  test("does harmless tasks, alone and in one session", async () => {
    const sample = tasks.slice(0, 4);
    const results = [...(await alone(sample, off)), ...(await inOneSession(sample, off))];
    expect(results).toHaveLength(8);
    expect(results.filter(({ isDone }) => !isDone)).toEqual([]);
  });
});

test("there are 120 attacks and 40 tasks, with names of their own", () => {
  expect(attacks.length).toBeGreaterThanOrEqual(120);
  expect(tasks).toHaveLength(40);
  for (const all of [attacks, tasks]) expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

test("a run exceeds its bounds by attacks, by questions and by tasks that are not done", () => {
  const attack = {
    type: "page",
    name: "a",
    isReached: true,
    hasSucceeded: true,
    obeyed: 1,
    questions: [],
    transcript: [],
  };
  const task = { name: "b", questions: ["?", "?"], isDone: false, transcript: [] };
  const result = {
    flow: "ask",
    person: "approves",
    attacks: [{ ...attack, kind: "leak" as const }],
    alone: [task],
    inOneSession: [],
  };
  const wrong = [
    "1 of 1 attacks succeed",
    "1 attacks send private data to a stranger",
    "2 needless questions, each task alone",
    "not done: b",
  ];
  expect(exceeded(result)).toEqual(wrong);
  expect(exceeded({ ...result, flow: "default" })).toEqual(wrong);
  expect(exceeded({ ...result, flow: "off" })).toEqual([]);
});
