/** Which HTTP session ends at the limit, so that idle sessions of one client do not lock others out. */
import { expect, test } from "bun:test";
import { type Candidate, sessionToEvict } from "../../src/server/http/sessions.ts";

interface Use {
  running?: number;
  isInUse?: boolean;
}

const session = (client: string, usedAt: number, { running = 0, isInUse = running > 0 }: Use = {}): Candidate => ({
  client,
  usedAt,
  transport: { running, isInUse },
});
const listening = { isInUse: true };
const busy = { running: 1 };

test("the longest idle session of the same client ends first, even if sessions of other clients are idle for longer", () => {
  const sessions = [session("b", 1), session("a", 3), session("a", 2), session("b", 0)];
  expect(sessionToEvict(sessions, "a")).toBe(sessions[2]);
});

test("a session without a connection ends before one that listens", () => {
  const sessions = [session("a", 1, listening), session("a", 2)];
  expect(sessionToEvict(sessions, "a")).toBe(sessions[1]);
});

test("a new client replaces an idle session of the client with the most sessions", () => {
  const sessions = [session("b", 1), session("c", 2), session("c", 3)];
  expect(sessionToEvict(sessions, "a")).toBe(sessions[1]);
});

test("a client with several listening sessions loses one, but a client with one does not", () => {
  const hoard = [session("b", 1, listening), session("c", 2, listening), session("c", 3, listening)];
  expect(sessionToEvict(hoard, "a")).toBe(hoard[1]);
  expect(sessionToEvict([session("b", 1, listening), session("c", 2, listening)], "a")).toBeUndefined();
});

test("a client with many sessions does not replace listening sessions of other clients", () => {
  const sessions = [
    session("a", 1, busy),
    session("a", 2, busy),
    session("b", 1, listening),
    session("b", 2, listening),
  ];
  expect(sessionToEvict(sessions, "a")).toBeUndefined();
});

test("a session with a running call is never ended", () => {
  expect(sessionToEvict([session("a", 1, busy), session("b", 2, busy)], "a")).toBeUndefined();
});
