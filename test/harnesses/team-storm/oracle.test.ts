/** The oracle of the storm finds each kind of mistake. */
import { describe, expect, test } from "bun:test";
import { type Asked, judgeAsked } from "../../../scripts/harnesses/team-storm/canary.ts";
import { kindOfText, kindOfThrown } from "../../../scripts/harnesses/team-storm/errors.ts";
import { textsOf, watched } from "../../../scripts/harnesses/team-storm/marks.ts";
import { Oracle } from "../../../scripts/harnesses/team-storm/oracle.ts";

const idOf = (person: number) => `id-${person}`;

describe("texts", () => {
  test("with data of somebody else are found, also across two parts of a stream", async () => {
    const oracle = new Oracle(false);
    const text = textsOf(12)();
    const parts = [`it is ${text.slice(0, 5)}`, `${text.slice(5)} here`].map((part) => new TextEncoder().encode(part));
    const read = async (person: number) => {
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return await new Response(watched(stream, (seen) => oracle.got(person, seen))).text();
    };
    expect(await read(12)).toBe(`it is ${text} here`);
    expect(oracle.wrong).toEqual([]);
    await read(1);
    expect(oracle.wrong[0]).toStartWith("p1 got a text of p12");
  });

  test("with a token are found, and the token is not shown", () => {
    const oracle = new Oracle(false);
    oracle.noToken("a file", "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwMSJ9.c2ln");
    expect(oracle.wrong).toEqual(['a file got a token: "Bearer eyJ…"']);
  });
});

describe("calls", () => {
  const judged = (prepare: (oracle: Oracle) => void, arrived: [tool: string, key: string][], isCalm = false) => {
    const oracle = new Oracle(isCalm);
    prepare(oracle);
    const calls = arrived.map(([tool, key]) => ({ tool, key }));
    oracle.judge("far", calls, idOf);
    return oracle.wrong;
  };

  test("are right if they are made once, or may be repeated", () => {
    const prepare = (oracle: Oracle) => {
      oracle.calls(1, "once");
      oracle.isCertain("once", "answered");
      oracle.calls(1, "often", { isRepeatable: true });
      oracle.calls(1, "never");
    };
    const arrived: [string, string][] = [
      ["act", "once"],
      ["look", "often"],
      ["look", "often"],
    ];
    expect(judged(prepare, arrived)).toEqual([]);
    expect(judged(prepare, arrived, true)).toEqual(["far got a call 2 times: often"]);
  });

  test("are wrong if they are made twice, by nobody, or never though they were answered", () => {
    const prepare = (oracle: Oracle) => {
      for (const key of ["twice", "lost"]) oracle.calls(1, key);
      oracle.isCertain("lost", "answered");
    };
    const arrived: [string, string][] = [
      ["act", "twice"],
      ["act", "twice"],
      ["act", "unknown"],
    ];
    expect(judged(prepare, arrived)).toEqual([
      "far got a call that nobody made: act unknown",
      "far got a call 2 times: twice",
      "far did not get a call that was answered: lost",
    ]);
  });

  test("are wrong if nobody has approved them, or for somebody else", () => {
    const prepare = (oracle: Oracle) => {
      for (const key of ["right", "unseen", "denied", "other"]) oracle.calls(1, key);
      oracle.decides("right", idOf(1), "approved");
      oracle.decides("denied", idOf(1), "denied");
      oracle.decides("other", idOf(2), "approved");
      oracle.isCertain("denied", "refused");
    };
    const arrived = ["right", "unseen", "denied", "other"].map((key): [string, string] => ["guarded", key]);
    expect(judged(prepare, arrived)).toEqual([
      "a call was made that no approver was shown: unseen",
      "a call was made that was denied: denied",
      "an approver was shown the wrong person: other id-2",
      "far got a call that was refused: denied",
    ]);
  });
});

describe("errors", () => {
  test("are counted if their kind is known, and are wrong otherwise", () => {
    const oracle = new Oracle(false);
    oracle.saw(kindOfText("EXECUTION_LOST: it is gone"), "p1", "");
    oracle.saw(kindOfThrown(Object.assign(new Error("bad"), { status: 503 })), "p1", "");
    expect(oracle.wrong).toEqual([]);
    expect(oracle.errors).toEqual({ EXECUTION_LOST: 1, "503: no replica takes requests": 1 });
    oracle.saw(kindOfThrown(new TypeError("undefined is not a function")), "p1", "undefined is not a function");
    oracle.saw(kindOfThrown(Object.assign(new Error("bad"), { status: 500 })), "p1", "500");
    expect(oracle.wrong).toEqual(["p1 got an error: undefined is not a function", "p1 got an error: 500"]);
  });

  test("are all wrong in a calm storm", () => {
    const oracle = new Oracle(true);
    oracle.saw(kindOfText("EXECUTION_LOST"), "p1", "EXECUTION_LOST");
    expect(oracle.wrong).toEqual(["p1 got an error: EXECUTION_LOST"]);
  });
});

describe("small programs", () => {
  const lock = { kind: "lock", name: "lock of files", from: 10_000, to: 30_000 } as const;
  const judged = (programs: Asked[], questions: Asked[] = []) => {
    const wrong: string[] = [];
    const [felt] = judgeAsked(programs, questions, [lock], (kind) => wrong.push(kind));
    return { wrong, felt };
  };

  test("may fail while a table is locked and for a moment afterwards, and at no other time", () => {
    const at = [1_000, 20_000, 35_000, 37_000];
    const { wrong, felt } = judged(at.map((each) => ({ at: each, tookMs: 100, error: "503" })));
    expect(wrong).toEqual(Array(2).fill("a small program failed that nothing disturbed"));
    expect(felt).toEqual({ disturbance: "lock of files", programs: 1, failed: 1, slowestMs: 100, readyMs: 0 });
  });

  test("are answered in time, and so is the question for readiness while the database is locked", () => {
    const late = { at: 12_000, tookMs: 26_000 };
    expect(judged([late], [{ at: 1_000, tookMs: 2_500 }, late]).wrong).toEqual([
      "a small program was answered late",
      "/readyz answered late",
    ]);
  });
});
