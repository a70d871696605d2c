/** The whole walk with our own search in the place of a model finds at least as much as that search alone. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { tiny } from "../support/servers.ts";
import { examples } from "../tools/evaluation/corpus.ts";
import { project } from "../tools/generation/project.ts";
import { demoEntry, demoRequests } from "./demo-requests.ts";
import { type Request, searchShare, walks } from "./evaluate.ts";
import { reading, searching } from "./stand-in.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

async function measured(
  folder: ReturnType<typeof project>,
  entries: Record<string, object>,
  requests: readonly Request[],
) {
  folder.configure(entries);
  await using app = await folder.open();
  expect(await app.catalog.listMissing(new AbortController().signal, { waitForOutdated: true })).toEqual(new Map());
  const search = searchShare(requests, app);
  const walk = await walks(requests, app, searching(app));
  const byPrompt = await walks(requests, app, reading);
  return { search, walk: walk.right, byPrompt: byPrompt.right };
}

test("the walk finds as much as search on the demo server", async () => {
  using folder = project();
  const { search, walk, byPrompt } = await measured(folder, { demo: demoEntry }, demoRequests);
  expect(walk).toBeGreaterThanOrEqual(search);
  // Without the descriptions of arguments.
  expect(byPrompt).toBeGreaterThanOrEqual(0.65);
});

test("the walk finds as much as search on sixty tools of twelve servers in four categories", async () => {
  using folder = project();
  const servers = [...Map.groupBy(examples, ({ server }) => server)];
  const entries = servers.map(([name, those], index) => {
    const tools = those.map(({ tool, description, parameters }) => {
      const names = parameters.split(", ").filter(Boolean);
      return {
        name: tool,
        description,
        inputSchema: { type: "object", properties: Object.fromEntries(names.map((each) => [each, {}])) },
      };
    });
    const file = folder.write(`lists/${name}.json`, `${JSON.stringify(tools)}\n`);
    return [name, { ...tiny(file), category: `category${index % 4}` }];
  });
  const requests = examples.flatMap(({ server, tool, requests: texts }) =>
    texts.map((text) => ({ text, right: new Set([`${server}.${tool}`]) })),
  );
  const { search, walk, byPrompt } = await measured(folder, Object.fromEntries(entries), requests);
  expect(walk).toBeGreaterThanOrEqual(search);
  expect(byPrompt).toBeGreaterThanOrEqual(search);
});
