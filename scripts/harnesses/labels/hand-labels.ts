/** Reads the labels that a person gave to the tools of real servers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exactness, matches } from "../../../src/config/pattern.ts";
import type { Label } from "../../../src/config/policy.ts";

/** "either": the label is neither expected nor wrong. */
export type HandLabels = ReadonlyMap<Label, "expected" | "either">;

const file = join(import.meta.dir, "../../../test/policy/flow/hand-labels.txt");

export function handLabels() {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const byServer = new Map<string, { pattern: string; labels: HandLabels }[]>();
  const packages = new Map<string, string>();
  let server = "";
  for (const line of lines) {
    const [, name, of] = /^\[(\S+) (\S+)\]$/.exec(line) ?? [];
    if (name !== undefined && of !== undefined) {
      server = name;
      packages.set(name, of);
      continue;
    }
    const [given = "", patterns = ""] = line.split(": ");
    const labels = new Map(
      given
        .split(" ")
        .filter((each) => each !== "-")
        .map((each) => [each.replace("?", "") as Label, each.endsWith("?") ? "either" : "expected"] as const),
    );
    const all = byServer.get(server) ?? [];
    for (const pattern of patterns.split(" ")) all.push({ pattern, labels });
    byServer.set(server, all);
  }
  return {
    servers: [...byServer.keys()],
    packages,
    /** The tools that are named, without patterns. */
    toolsOf: (name: string) =>
      (byServer.get(name) ?? []).map(({ pattern }) => pattern).filter((pattern) => !pattern.includes("*")),
    /** Undefined if nobody has labelled the tool. */
    of(name: string, tool: string): HandLabels | undefined {
      const all = byServer.get(name)?.filter(({ pattern }) => matches(pattern, tool)) ?? [];
      return all.sort((a, b) => exactness(b.pattern) - exactness(a.pattern))[0]?.labels;
    },
  };
}
