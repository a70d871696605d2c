/** The labels of the server catalog are those that a person gave to the same tools. */
import { expect, test } from "bun:test";
import { handLabels } from "../../../scripts/harnesses/labels/hand-labels.ts";
import { type Label, labels } from "../../../src/config/policy.ts";
import { ToolLabels } from "../../../src/policy/flow/tool-labels.ts";
import { catalogServers, recognise } from "../../../src/tools/server-catalog.ts";

const hand = handLabels();

test.each(hand.servers)("tools of %s have the labels that a person gave them", async (server) => {
  const recipe = recognise({ command: "npx", args: ["-y", hand.packages.get(server)!] });
  if (!recipe) return;
  const tools = new ToolLabels({
    servers: new Map([[server, {}]]),
    fromCatalog: async () => recipe.labels,
    toolsOf: () => [],
    listed: () => ({ inputSchema: { type: "object", properties: {} }, annotations: { openWorldHint: false } }),
  });
  await tools.load(server);
  const wrong = hand.toolsOf(server).flatMap((tool) => {
    const expected = hand.of(server, tool);
    const given = tools.of(server, tool);
    // A recipe may call a whole server untrusted.
    const differs = (label: Label) =>
      expected?.get(label) !== "either" &&
      (expected?.has(label) ?? false) !== given.has(label) &&
      !(label === "untrusted" && given.has(label));
    return labels.filter(differs).map((label) => `${tool}: ${given.has(label) ? "not " : ""}${label}`);
  });
  expect(wrong).toEqual([]);
});

test("every recipe labels its tools", () => {
  expect(catalogServers().flatMap(({ name, labels: of }) => (of ? [] : [name]))).toEqual([]);
});
