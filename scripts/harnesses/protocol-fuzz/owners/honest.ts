/** What owners do honestly between the hostile requests. It must work, whatever others send. */
import type { Random } from "../../random.ts";
import { type Owner, textOf } from "./owner.ts";
import { savedProgramSteps } from "./saved-programs.ts";

export type Step = (owner: Owner, random: Random) => Promise<void>;

const tasksExtension = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };

/** Asking for the outcome of one program. */
const maxResumed = 40;

/** The source of a call of `owned`. */
export function callOf(owner: Owner, tool: string, mark: string, more: object = {}): string {
  return `owned.${tool}(${JSON.stringify({ caller: owner.number, mark, ...more })})`;
}

/** Runs one step, and writes down why it failed. */
export async function honestly(owner: Owner, random: Random): Promise<void> {
  const own = random.pick([...steps, ...savedProgramSteps, ...savedProgramSteps, ...(owner.subject ? ofPeople : [])]);
  try {
    await own(owner, random);
  } catch (error) {
    if (!owner.site.isEnding)
      owner.site.fail(`what an owner does honestly failed (${own.name})`, `owner ${owner.number}: ${error}`);
    await owner.leave().catch(() => {});
  }
}

function expected(got: string, ...marks: string[]): void {
  for (const mark of marks) {
    if (!got.includes(mark)) throw new Error(`${mark} was expected, and there came ${got.slice(0, 500)}`);
  }
}

async function inSession(owner: Owner, random: Random): Promise<void> {
  const [sent, own] = [owner.text(), owner.text()];
  const code = `const { mark } = await ${callOf(owner, "note", sent)}; return [mark, "${own}"]`;
  expected(await owner.execute(random, { code }), sent, own);
}

async function withoutSession(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `return (await ${callOf(owner, "note", mark)}).mark`;
  expected(textOf(await owner.modern(random, "tools/call", { name: "execute_code", arguments: { code } })), mark);
}

async function inBackground(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `await sleep(${random.below(600)}); return (await ${callOf(owner, "hold", mark, { ms: random.below(300) })}).mark`;
  const begun = await owner.execute(random, { code, background: true });
  const id = /\{"resume": "(\w+)"\}/.exec(begun)?.[1];
  if (id === undefined) return expected(begun, mark);
  owner.site.knows({ kind: "execution", of: owner.number, id, replica: 0 });
  for (let times = 0; times < maxResumed; times++) {
    const text = await owner.execute(random, { resume: id });
    if (!text.includes(`{"resume": "${id}"}`)) return expected(text, mark);
  }
  throw new Error(`the execution ${id} did not end`);
}

/** A program whose server asks becomes a task, which is answered at any replica. */
async function asTask(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `return (await ${callOf(owner, "ask", mark)}).mark`;
  const params = { name: "execute_code", arguments: { code } };
  const begun = await owner.modern(random, "tools/call", params, tasksExtension);
  const { taskId } = Object(begun.result) as { taskId?: string };
  if (taskId === undefined) throw new Error(`no task: ${JSON.stringify(begun)}`);
  owner.site.knows({ kind: "task", of: owner.number, id: taskId, replica: 0 });
  for (let times = 0; times < maxResumed; times++) {
    const { result, error } = await owner.modern(random, "tasks/get", { taskId }, tasksExtension);
    const state = Object(result) as { status?: string; result?: object; inputRequests?: object };
    if (state.status === "completed") return expected(JSON.stringify(state.result), mark);
    if (state.status === "input_required") {
      const answer = { action: "accept", content: { answer: owner.text() } };
      const inputResponses = Object.fromEntries(Object.keys(state.inputRequests ?? {}).map((key) => [key, answer]));
      await Bun.sleep(random.below(300));
      await owner.modern(random, "tasks/update", { taskId, inputResponses }, tasksExtension);
    } else if (state.status !== "working") throw new Error(`a task became ${JSON.stringify(error ?? result)}`);
    await Bun.sleep(100);
  }
  throw new Error(`the task ${taskId} did not end`);
}

/** A program that waits for a person who never comes. It fails when its approval expires, so that no session saves it as its last one. */
async function gated(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `return await ${callOf(owner, "guarded", mark)}`;
  if (random.chance(0.5)) {
    const asked = await owner.modern(
      random,
      "tools/call",
      { name: "execute_code", arguments: { code } },
      { elicitation: { form: {} } },
    );
    const { requestState } = Object(asked.result) as { requestState?: string };
    if (requestState !== undefined) owner.site.knows({ kind: "state", of: owner.number, id: requestState, replica: 0 });
    return;
  }
  const text = await owner.execute(random, { code }, false);
  const [, id] = /\{"resume": "(\w+)"\}/.exec(text) ?? [];
  const [, approval] = /: approval (\w+)/.exec(text) ?? [];
  if (id === undefined || approval === undefined) throw new Error(`no approval: ${text.slice(0, 500)}`);
  owner.site.knows({ kind: "execution", of: owner.number, id, replica: 0 });
  owner.site.knows({ kind: "approval", of: owner.number, id: approval, replica: 0 });
}

async function asked(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `return (await ${callOf(owner, "ask", mark)}).mark`;
  expected(await owner.execute(random, { code }, true), mark);
  await owner.leave();
}

async function resources(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `const stream = owned.resources.subscribe("owned://${mark}")[Symbol.asyncIterator]();
    const next = stream.next(); await sleep(${random.below(100)}); await ${callOf(owner, "touch", mark)};
    await Promise.race([next, sleep(300)]); await stream.return?.();
    return await owned.resources.read("owned://${mark}")`;
  expected(await owner.execute(random, { code }), mark);
}

async function files(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const name = `./workspace/of-owner-${random.below(3)}.txt`;
  const code = `await fs.writeFile("${name}", "${mark}"); return await fs.readFile("${name}", "utf8")`;
  expected(await owner.execute(random, { code }), mark);
}

async function ownAccount(owner: Owner, random: Random): Promise<void> {
  const mark = owner.text();
  const code = `return await desk.who({ tag: "${mark}" })`;
  expected(await owner.execute(random, { code }), mark, `secret of ${owner.subject}`);
}

async function page(owner: Owner, random: Random): Promise<void> {
  const state = await owner.page("api/state");
  const text = await state.text();
  if (state.status !== 200) throw new Error(`the page answers ${state.status}: ${text.slice(0, 300)}`);
  const { executions = [], approvals = [] } = JSON.parse(text) as Record<"executions" | "approvals", { id: string }[]>;
  for (const { id } of approvals) owner.site.knows({ kind: "approval", of: owner.number, id, replica: 0 });
  if (executions.length > 0) await (await owner.page(`trace/${random.pick(executions).id}`)).text();
}

async function searches(owner: Owner, random: Random): Promise<void> {
  const params = { name: "search_tools", arguments: { query: "note a mark, or a weekly report", limit: 50 } };
  expected(textOf(await owner.ask(random, "tools/call", params)), "owned.note");
}

async function leaves(owner: Owner): Promise<void> {
  await owner.leave();
}

const steps: readonly Step[] = [
  inSession,
  inSession,
  withoutSession,
  inBackground,
  inBackground,
  asTask,
  gated,
  asked,
  resources,
  searches,
  leaves,
];

/** Only people have their own workspace and accounts. */
const ofPeople: readonly Step[] = [files, files, ownAccount, ownAccount, page];
