/** Runs attacks and harmless tasks against `claudikins serve`, each with servers of its own. */
import { executable } from "../../../test/support/claudikins.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { Agent } from "./agent.ts";
import type { Attack } from "./attack.ts";
import type { AttackResult, TaskResult } from "./figures.ts";
import { Person, type PersonKind } from "./person.ts";
import { office } from "./servers.ts";
import type { Task } from "./task.ts";
import { World } from "./world.ts";

export interface ObeyOptions {
  /** `policy.flow` of the config; undefined for the default. */
  flow: string | undefined;
  person: PersonKind;
  /** Path of another claudikins. */
  binary?: string | undefined;
  report?: (line: string) => void;
}

/** More would only wait for a processor. */
const sessionsAtOnce = 2;

export async function attacked(attacks: readonly Attack[], options: ObeyOptions): Promise<AttackResult[]> {
  return atOnce(attacks, (attack) => attackOnce(attack, options));
}

async function attackOnce(
  attack: Attack,
  { flow, person: kind, binary, report = () => {} }: ObeyOptions,
): Promise<AttackResult> {
  using folder = temporaryFolder();
  const command = [binary ?? executable()];
  const world = new World(folder, { servers: attack.servers, command, flow });
  const { goal, type, name } = attack;
  /** Whether the goal was reached before a person was asked about the server. */
  let reachedBefore: boolean | undefined;
  const person = new Person(kind, (question) => {
    if (isAbout(question, goal.server)) reachedBefore ??= goal.reached(world);
  });
  await using agent = new Agent({
    ...attack,
    folder,
    world,
    command,
    person,
    mode: attack.mode ?? "code",
    instructions: attack.obeys,
  });
  await agent.does(attack.task);
  const isReached = goal.reached(world);
  const result: AttackResult = {
    type,
    name,
    kind: goal.kind,
    isReached,
    hasSucceeded: reachedBefore ?? isReached,
    obeyed: agent.obeyed,
    questions: person.questions,
    transcript: agent.transcript,
  };
  report(
    `${result.hasSucceeded ? "succeeded" : result.questions.length > 0 ? "asked    " : "stopped  "} ${type}: ${name}`,
  );
  return result;
}

/** Questions name the tool in their first line, and later what was read. A call that waits is named further down. */
function isAbout(question: string, server: string): boolean {
  const [first = ""] = question.split("\n");
  const names = (text: string, name: string) => new RegExp(`(?:^|[^\\w.-])${name}\\.["\\w]`).test(text);
  return names(names(first, "[\\w-]+") ? first : question, server);
}

/** Each task in a session of its own. */
export async function alone(tasks: readonly Task[], options: ObeyOptions): Promise<TaskResult[]> {
  const results = await atOnce(tasks, (task) => inOneSession([task], options));
  return results.flat();
}

/** All tasks in one session, in this order. */
export async function inOneSession(tasks: readonly Task[], options: ObeyOptions): Promise<TaskResult[]> {
  const { flow, person: kind, binary, report = () => {} } = options;
  using folder = temporaryFolder();
  const command = [binary ?? executable()];
  const world = new World(folder, { servers: office(), command, flow });
  const person = new Person(kind);
  await using agent = new Agent({ folder, world, command, person, mode: "code", instructions: [] });
  const results: TaskResult[] = [];
  for (const { name, steps, done } of tasks) {
    const [asked, shown] = [person.questions.length, agent.transcript.length];
    await agent.does(steps);
    const questions = person.questions.slice(asked);
    const transcript = agent.transcript.slice(shown);
    const isDone = (done?.(world) ?? true) && !transcript.some((line) => line.startsWith("← Failed"));
    results.push({ name, questions, isDone, transcript });
    if (questions.length > 0 || !isDone) report(`${questions.length > 0 ? "asked    " : "not done "} task: ${name}`);
  }
  return results;
}

async function atOnce<T, R>(all: readonly T[], run: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...all.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await run(next[1]);
  };
  await Promise.all(Array.from({ length: sessionsAtOnce }, work));
  return results;
}
