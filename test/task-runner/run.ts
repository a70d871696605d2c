/**
 * `bun run navigate [folder …] [--kind step] [--misses]`: prints how often the walk finds a right tool, and how often
 * plain search ranks one first, for the demo server and for recorded corpora. Two stand-ins for a model rank the
 * options by our own search: by everything in the registry, and by the prompt alone.
 */
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { project } from "../tools/generation/project.ts";
import { corpusRequests, serveCorpus } from "./corpus-server.ts";
import { demoEntry, demoRequests } from "./demo-requests.ts";
import { type Request, searchShare, type Walks, walks } from "./evaluate.ts";
import { reading, searching } from "./stand-in.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { kind: { type: "string" }, misses: { type: "boolean", default: false } },
});

await measure("demo", { demo: demoEntry }, demoRequests);
for (const folder of positionals) {
  using corpus = serveCorpus(folder);
  for (const [kind, requests] of Map.groupBy(corpusRequests(folder), (request) => request.kind)) {
    if (values.kind !== undefined && values.kind !== kind) continue;
    await measure(`${basename(folder)} ${kind}`, corpus.entries, requests);
  }
}

async function measure(label: string, entries: Record<string, object>, requests: readonly Request[]): Promise<void> {
  using folder = project();
  folder.configure(entries);
  await using app = await folder.open();
  const problems = await app.catalog.listMissing(new AbortController().signal, { waitForOutdated: true });
  for (const [name, problem] of problems) console.error(`${name}: ${problem}`);
  const searched = searchShare(requests, app);
  const walked = await walks(requests, app, searching(app));
  const read = await walks(requests, app, reading);
  const shares = `walk ${walked.right.toFixed(3)}, search hit@1 ${searched.toFixed(3)}, walk by the prompt alone ${read.right.toFixed(3)}`;
  const costs = `${walked.modelCalls.toFixed(1)} model calls and ${walked.tokens.toFixed(0)} tokens before the arguments`;
  console.log(`${label}: ${requests.length} requests: ${shares}; ${costs}`);
  if (values.misses) showMisses(walked);
}

function showMisses({ missed }: Walks): void {
  for (const { request, walked } of missed) {
    console.log(`  ${request.text.slice(0, 160)}\n    wanted ${[...request.right].join(" or ")}, walked to ${walked}`);
  }
}
