/** 1,000 concurrent calls to eight servers: one server hangs and one crashes, and the others are not affected. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { processesLeft, runProgram } from "../support/process.ts";
import type { Called } from "./many-calls.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ isShared: true });
let called: Called[];
let mostMb: number;
beforeAll(async () => {
  const program = join(import.meta.dir, "many-calls.ts");
  const { exitCode, stdout, stderr } = await runProgram([process.execPath, program, folder.path]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  ({ called, mostMb } = JSON.parse(stdout));
});

const well = ["one", "two", "three", "four", "five", "six"];
const of = (...servers: string[]) => called.filter(({ server }) => servers.includes(server));

/** The server's answer to a call: its arguments, and its count. */
const answerOf = ({ text = "{}" }: Called) =>
  JSON.parse(text) as { number: number; payload: string; nth: number; most: number };

const isRight = (one: Called) => answerOf(one).number === one.number && answerOf(one).payload === one.payload;

test("working servers answer each call with its own result", () => {
  expect(of(...well)).toHaveLength(750);
  expect(of(...well).filter((one) => !isRight(one))).toEqual([]);
});

test("calls reach a server in order, at most as many concurrently as its limit", () => {
  for (const server of well) {
    expect(of(server).map((one) => answerOf(one).nth)).toEqual(of(server).map(({ index }) => index));
  }
  expect(Math.max(...of("one").map((one) => answerOf(one).most))).toBe(10);
});

test("calls to a server that hangs fail by its time limit", () => {
  const errors = new Set(of("hangs").map(({ error }) => error));
  expect([...errors]).toEqual(["CALL_TIMEOUT: hangs.echo did not answer within 500 ms"]);
});

test("a server that crashes loses the calls it has read; the others are answered after its restart", () => {
  const lost = of("crashes").filter(({ error }) => error !== undefined);
  const errors = new Set(lost.map(({ error }) => error));
  expect([...errors]).toEqual([
    'SERVER_UNAVAILABLE: crashes.echo: server "crashes" is gone: its process was ended by SIGKILL',
  ]);
  // The server crashes at every 60th of 125 calls; at most 20 run at a time.
  expect(lost.length).toBeLessThanOrEqual(40);
  const answered = of("crashes").filter(({ error }) => error === undefined);
  expect(answered.filter((one) => !isRight(one))).toEqual([]);
});

test("memory stays small, and no process is left", async () => {
  expect(mostMb).toBeGreaterThan(10);
  expect(mostMb).toBeLessThan(400);
  expect(await processesLeft(folder.path)).toEqual([]);
});
