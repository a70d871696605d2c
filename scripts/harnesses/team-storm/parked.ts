/** Programs of people that run in the background: they sleep, or wait until somebody approves a call. Each must end with the right value. */
import { kindOfText } from "./errors.ts";
import { executionIn, type Person, WrongAnswer } from "./person.ts";

interface Call {
  key: string;
  server: "far" | "near";
}

export interface Parked {
  id: string;
  kind: "timer" | "approval";
  /** The calls whose ends the program returns, in this order. */
  calls: Call[];
  /** The answer to the last question for the outcome. */
  lastText?: string;
}

/** The time that a program may run, also if replicas are frozen or killed meanwhile, or have little of the processor. */
const endsWithinMs = 400_000;

/** Code that returns the key that a call returns, or its error. */
const ended = (call: string, value: string) =>
  `await ${call}.then((r) => String(r.${value}), (e) => ({ code: e.code, message: String(e.message) }))`;

type End = string | { code?: string; message: string };

/** Begins a program with calls and sleeps between them. */
export async function beginTimer(person: Person): Promise<Parked | undefined> {
  const { random } = person;
  const calls: Call[] = [];
  const lines: string[] = [];
  for (let rest = 2 + random.below(3); rest > 0; rest--) {
    if (random.chance(0.5)) {
      const key = person.key();
      calls.push({ key, server: "far" });
      lines.push(ended(`far.act({ key: "${key}", ms: ${random.below(80)} })`, "key"));
    } else {
      const tool = random.pick(["act", "put", "look"] as const);
      const id = person.nearKey({ isRepeatable: tool !== "act" });
      calls.push({ key: String(id), server: "near" });
      lines.push(ended(`near.${tool}({ id: ${id}, ms: ${random.below(80)} })`, "id"));
    }
  }
  const steps = lines.map((line) => `ends.push(${line}); await sleep(${200 + random.below(4_000)});`);
  return begin(person, "timer", calls, `const ends: unknown[] = []; ${steps.join("\n")}\nreturn JSON.stringify(ends)`);
}

/** Begins a program with a call that an approver must allow. */
export async function beginApproval(person: Person): Promise<Parked | undefined> {
  const [before, key, after] = [person.key(), person.key(), person.key()];
  const calls = [before, key, after].map((each) => ({ key: each, server: "far" as const }));
  const lines = [`far.act({ key: "${before}" })`, `far.guarded({ key: "${key}" })`, `far.act({ key: "${after}" })`];
  const code = `return JSON.stringify([${lines.map((line) => ended(line, "key")).join(", ")}])`;
  return begin(person, "approval", calls, code);
}

async function begin(person: Person, kind: Parked["kind"], calls: Call[], code: string): Promise<Parked | undefined> {
  let parked: Parked | undefined;
  await person.attempt(`begun: ${kind}`, async () => {
    const { text, isError } = await person.ask({ code, background: true, timeout_ms: endsWithinMs });
    if (isError) throw new WrongAnswer(text);
    const id = executionIn(text);
    // It may have ended at once.
    if (id === undefined) return judge(person, { id: "", kind, calls }, text);
    parked = { id, kind, calls };
    person.oracle.executions.set(id, person.number);
  });
  return parked;
}

/** Asks for the outcome. Returns true when the program is over. */
export async function follow(person: Person, parked: Parked): Promise<boolean> {
  let isOver = false;
  await person.attempt(`followed: ${parked.kind}`, async () => {
    const { text, isError } = await person.ask({ resume: parked.id });
    parked.lastText = text;
    if (executionIn(text) !== undefined) return;
    // The session that began it may still count as connected.
    if (isError && /EXECUTION_NOT_FOUND|no execution/i.test(text)) {
      person.oracle.did("not found while another session is connected");
      await person.leave(false);
      await Bun.sleep(1_000);
      return;
    }
    isOver = true;
    if (isError) {
      const kind = kindOfText(text);
      if (kind === "DATABASE_UNAVAILABLE") isOver = false;
      throw new WrongAnswer(text);
    }
    judge(person, parked, text);
  });
  if (isOver) person.oracle.did(`over: ${parked.kind}`);
  return isOver;
}

function judge(person: Person, { id, kind, calls }: Parked, text: string): void {
  const { oracle } = person;
  const ends = endsIn(text);
  if (ends?.length !== calls.length) {
    oracle.fail(
      `a program (${kind}) has ended with another value`,
      `${id} of p${person.number}: ${text.slice(0, 400)}`,
    );
    return;
  }
  for (const [place, { key }] of calls.entries()) {
    const end = ends[place]!;
    if (end === key) oracle.isCertain(key, "answered");
    else if (typeof end === "string") oracle.fail("a call got the answer of another one", `${key}: ${end}`);
    else if (end.code === "POLICY_DENIED" && kind === "approval" && place === 1) {
      oracle.isCertain(key, "refused");
      if (oracle.verdictOf(key) !== "denied") oracle.fail("a call was denied that nobody has denied", key);
    } else {
      const error = `${end.code}: ${end.message}`;
      oracle.saw(kindOfText(error), `p${person.number} (a call of a program, ${kind})`, `${key}: ${error}`);
    }
  }
}

/** After the value, the answer may say that files are not stored yet. */
function endsIn(text: string): End[] | undefined {
  try {
    return JSON.parse(text.split("\n\nLogs:")[0]!) as End[];
  } catch {
    return undefined;
  }
}
