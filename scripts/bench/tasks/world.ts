/** The servers of the tasks and their files, which are the same in every run, in a separate folder. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, everything, filesystem, memory } from "../../../test/support/servers.ts";

const routes = ["/", "/cart", "/checkout", "/login", "/products", "/search"];
const statuses = [200, 200, 200, 200, 304, 404, 200, 500];

const requests = Array.from({ length: 9_000 }, (_, index) => ({
  at: new Date(Date.UTC(2026, 0, 1) + index * 41_000).toISOString(),
  method: index % 5 === 0 ? "POST" : "GET",
  route: routes[(index * 7 + Math.floor(index / 11)) % routes.length]!,
  status: statuses[(index * 5 + Math.floor(index / 7)) % statuses.length]!,
  ms: (index * 37) % 900,
}));

/** One line of JSON per request, about a megabyte in total. */
export const accessLog = requests.map((request) => `${JSON.stringify(request)}\n`).join("");

/** The number of failed requests per route. */
export const failedByRoute: Record<string, number> = {};
for (const { route, status } of requests) if (status === 500) failedByRoute[route] = (failedByRoute[route] ?? 0) + 1;

const people = ["Ines", "Jonas", "Klara", "Mats"];

/** Thirty short notes; every fourth contains a to-do item. */
export const notes = Array.from({ length: 30 }, (_, index) => ({
  name: `2026-01-${String(index + 1).padStart(2, "0")}.md`,
  text: [
    `# Stand-up of day ${index + 1}`,
    "",
    `${people[index % 4]} led it. The import of the ${["orders", "products", "tickets"][index % 3]} took ${20 + index} minutes.`,
    ...(index % 4 === 0 ? [`TODO(${people[(index + 1) % 4]}): look at delivery ${1_000 + index * 7}`] : []),
    "Nothing else was decided; the next one is at the usual time.",
    "",
  ].join("\n"),
}));

const config = { service: "shop", port: 8080, retries: 3, features: { search: true, reviews: false }, log: "info" };

/** The servers, and the folder for them and their host. Paths are relative, so that they have the same length everywhere. */
export function makeWorld(folder: string, binary: string): Record<string, Entry> {
  mkdirSync(join(folder, "notes"));
  writeFileSync(join(folder, "access.jsonl"), accessLog);
  writeFileSync(join(folder, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  for (const { name, text } of notes) writeFileSync(join(folder, "notes", name), text);
  return {
    demo: { command: binary, args: ["demo"] },
    files: filesystem(folder),
    memory: memory(join(folder, "memory.json")),
    everything: everything(),
  };
}
