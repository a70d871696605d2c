/** Compares the labels of the rules with those that a person gave: `bun run labels FOLDER`, where the folder has one JSON file per server. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { labels } from "../../../src/config/policy.ts";
import { type LabelledDefinition, labelsByRules } from "../../../src/policy/flow/label-rules.ts";
import { handLabels } from "./hand-labels.ts";

const [folder, verbose] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: bun run labels FOLDER [which]");
const hand = handLabels();
const half = (server: string) => (hand.servers.indexOf(server) % 2 === 0 ? "tuned" : "held out");
interface Count {
  right: number;
  extra: number;
  missing: number;
}
const counts = new Map<string, Count>();
let tools = 0;
for (const file of readdirSync(folder).sort()) {
  const { server, tools: listed } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
    server: string;
    tools: (LabelledDefinition & { name: string })[];
  };
  if (!hand.servers.includes(server)) continue;
  for (const tool of listed) {
    const expected = hand.of(server, tool.name);
    if (!expected) throw new Error(`${server}.${tool.name} has no labels by hand`);
    tools += 1;
    const given = labelsByRules(tool.name, tool);
    for (const label of labels) {
      const reason = given.find((each) => each.label === label);
      const want = expected.get(label);
      if (want === "either") continue;
      const kind = want && reason ? "right" : want ? "missing" : reason ? "extra" : undefined;
      if (!kind) continue;
      for (const key of [`${half(server)} ${label}`, `all ${label}`]) {
        const count = counts.get(key) ?? { right: 0, extra: 0, missing: 0 };
        count[kind] += 1;
        counts.set(key, count);
      }
      if (kind !== "right" && (verbose === half(server) || verbose === "all"))
        console.log(`${kind} ${label}: ${server}.${tool.name} ${reason?.why ?? ""}`);
    }
  }
}
console.log(`${tools} tools of ${hand.servers.length} servers`);
for (const [key, { right, extra, missing }] of [...counts].sort()) {
  console.log(
    `${key}: precision ${(right / (right + extra)).toFixed(3)}, recall ${(right / (right + missing)).toFixed(3)} (${right} right, ${extra} extra, ${missing} missing)`,
  );
}
