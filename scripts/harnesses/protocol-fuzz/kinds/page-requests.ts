/** Requests to the local page: its state, event streams, pages of large executions, decisions, and hostile bodies. */
import { parsedJson } from "../../../../src/base/json-object.ts";
import type { Page } from "../../../../test/support/page.ts";
import type { Agent } from "../agents/agent.ts";
import { largeArgument } from "./gated-calls.ts";
import { gatedCall, type Kind, type Run } from "./kind.ts";
import { endAll, inBackground } from "./parked.ts";

export const pageKind: Kind = {
  name: "requests to the local page",
  weight: 10,
  async run(run) {
    const { random, processes } = run;
    const [page, agent] = await Promise.all([
      processes.page(),
      random.chance(0.5) ? processes.newer() : processes.older(),
    ]);
    const streams = new AbortController();
    const reading = Array.from({ length: random.pick([0, 1, 5]) }, () =>
      read(page, streams.signal, random.chance(0.5)),
    );
    const ids = await withExecutions(run, agent);
    const requests = Array.from({ length: random.pick([5, 20, 60]) }, () => request(run, page, ids));
    await Promise.allSettled(requests);
    await decideAll(run, page);
    streams.abort();
    await Promise.allSettled(reading);
    await endAll(agent, processes, ids);
  },
};

/** Executions with many calls, and programs that wait for an approval. */
async function withExecutions(run: Run, agent: Agent): Promise<string[]> {
  const { random } = run;
  const calls = random.pick([1, 100, 3_000]);
  const code = `for (let i = 0; i < ${calls}; i++) await old_left.ask().catch(() => 0); console.log("x".repeat(10_000)); return 1`;
  const gated = () => `return await ${gatedCall(run, random.chance(0.3) ? largeArgument(run, 500_000) : "")}`;
  return await inBackground(agent, [code, gated(), gated()]);
}

/** Some streams are not read. */
async function read(page: Page, signal: AbortSignal, isRead: boolean): Promise<void> {
  const stream = await page.get("api/events", signal);
  if (!isRead) return await new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  for await (const _ of stream.body ?? []) if (signal.aborted) return;
}

interface State {
  approvals: { id: string; server: string; tool: string }[];
  executions: { id: string }[];
}

async function request({ random }: Run, page: Page, ids: readonly string[]): Promise<unknown> {
  const deep = `${"[".repeat(random.pick([10, 100_000]))}`;
  const bodies = [
    deep,
    `{"decision":${deep}`,
    `"${"x".repeat(250_000)}"`,
    JSON.stringify({ decision: "once", more: "x".repeat(random.pick([10, 300_000])) }),
    JSON.stringify({ server: "x".repeat(9_000), tool: "*".repeat(9_000), access: "denied" }),
    JSON.stringify({ server: "nobody", tool: "x", access: "allowed" }),
    "null",
  ];
  const id = random.pick([...ids, "nothing", "0000000000"]);
  switch (random.below(8)) {
    case 0:
      return (await page.get("api/state")).json();
    case 1:
      return (await page.get(`trace/${id}`)).text();
    case 2:
      return (await page.get(`api/tools?server=${random.pick(["fuzz", "flood", "old_left", "nobody"])}`)).text();
    case 3:
      return (await page.post(random.pick(["api/policy", "api/sign-in", "api/session"]), random.pick(bodies))).text();
    case 4:
      return (await page.post(`api/approvals/${id}`, random.pick(bodies))).text();
    case 5: {
      const { executions } = (await (await page.get("api/state")).json()) as State;
      return await Promise.all(executions.slice(0, 3).map(async (each) => (await page.get(`trace/${each.id}`)).text()));
    }
    case 6:
      return (await page.post(`api/executions/${id}/cancel`, {})).text();
    default:
      return (await page.get(random.pick(["", "page.js", `${"x".repeat(20_000)}`, "..%2f..%2fetc"]))).text();
  }
}

/** Looks at each open approval, and decides some. */
async function decideAll({ random, processes: { site } }: Run, page: Page): Promise<void> {
  const { approvals } = (await (await page.get("api/state")).json()) as State;
  for (const { id, server, tool } of approvals) {
    const { args } = (await (await page.get(`api/approvals/${id}`)).json()) as { args?: string };
    const decision = random.pick(["once", "deny", "later"]);
    // Arguments that are too long are cut, and no person approves them here.
    const shown = parsedJson(args ?? "") as { id: string } | undefined;
    if (decision === "later" || shown === undefined) continue;
    if (decision === "once") {
      site.oracle.approved({ server, tool, id: shown.id, args: shown });
    }
    await (await page.post(`api/approvals/${id}`, { decision })).text();
  }
}
