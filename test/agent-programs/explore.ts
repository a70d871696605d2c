import { cpSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../../src/base/json-object.ts";
import { toClaudikinsError } from "../../src/base/errors.ts";
import { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { execute } from "../../src/programs/execute.ts";
import { CurrentTools } from "../../src/programs/drift/current.ts";
import { judged } from "../../src/programs/drift/judge.ts";
import { seenNow } from "../../src/programs/drift/live.ts";
import { makeRecording } from "../../src/programs/recordings/make.ts";
import { CallTape } from "../../src/programs/recordings/tape.ts";
import { testRecording } from "../../src/programs/recordings/test-program.ts";
import { withoutFunction } from "../../src/programs/saved/last-programs.ts";
import { withoutFences } from "../../src/sandbox/code/transpile.ts";
import { builtInDemo, everything, filesystem, fixture, memory } from "../support/servers.ts";
import { project } from "../tools/generation/project.ts";
import type { Drifted } from "../fixtures/drifted.ts";
import { readPrograms } from "./program.ts";
import { SharedSandbox } from "./run.ts";
import { isDeepStrictEqual } from "node:util";

const sandbox = new SharedSandbox();
const { signal } = new AbortController();
const only = process.argv.slice(2);
let n = 0;
const kinds: Record<string, number> = {};
for (const program of readPrograms()) {
  if (!/^(natural|habits)\//.test(program.name) || program.steps.length > 1) continue;
  if (only.length > 0 && !only.some((o) => program.name.includes(o))) continue;
  using folder = project();
  const data = join(folder.path, "data");
  cpSync(join(import.meta.dir, "data"), data, { recursive: true });
  const code = withoutFences(program.steps[0]!.code.replace(/(?<=["'`])\/data\b/g, data));
  const drift = (name: string, entry: { command: string; args: string[] }) => ({ ...entry, ...fixture("drifted", join(folder.path, `${name}.json`), entry.command, ...entry.args), labels: { "*": [] }, definitions: "trust" });
  const all = { demo: builtInDemo(), files: filesystem(data), memory: memory(join(folder.path, "memory.jsonl")), everything: everything() };
  const used = Object.entries(all).filter(([name]) => new RegExp(`\\b${name}\\b`).test(code));
  folder.configure(Object.fromEntries((used.length ? used : [["demo", all.demo] as const]).map(([n, e]) => [n, drift(n, e)])));
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  await using app = new App(await loadConfig({ cwd: folder.path, env }), sandbox, { env, cwd: folder.path, log: silentLog });
  const tape = new CallTape();
  const first = await execute({ source: code, tape }, app);
  if (!first.ok) { console.log(program.name, "FAILED", first.error.message); continue; }
  const taken = tape.taken();
  let recording;
  try { recording = await makeRecording({ taken, code, input: {}, isOk: true }, app); } catch (error) { console.log(program.name, "not recorded:", toClaudikinsError(error).message); continue; }
  const answer = (o: any) => o.ok ? [o.value, o.logs.map(({ text }: any) => text.replace(/2026-\d\d-\d\d \d\d:\d\d:\d\d/g, ""))] : [o.error.message];
  const again = await execute({ source: code }, app);
  if (!isDeepStrictEqual(answer(first), answer(again))) { console.log(program.name, "unstable"); continue; }
  n++;
  const calls = [...new Set(recording.calls.map(({ server, tool }) => withoutFunction(`${server}.${tool}`)))];
  const tested = { name: "program", code, input: { type: "object" }, calls };
  for (const [id, of] of Map.groupBy(recording.calls, (c) => `${c.server}.${c.tool}`)) {
    const { server, tool } = of[0]!;
    const paths = new Map<string, unknown>();
    for (const { result, error } of of) if (!error) leaves(result, [], paths);
    const changes: Drifted[] = [];
    for (const [path, value] of [...paths].slice(0, 25)) {
      const p = path.split(".");
      changes.push({ kind: "renamed", path: p, to: "renamed" });
      changes.push({ kind: "value", path: p, value: typeof value === "string" ? 7 : "text" });
      changes.push({ kind: "value", path: p, value: null });
    }
    for (const change of changes) {
      folder.write(`${server}.json`, { [tool]: change });
      const truth = await execute({ source: code }, app);
      const broke = !isDeepStrictEqual(answer(first), answer(truth));
      const seen = await seenNow([recording], app, signal);
      const tools = await CurrentTools.of({ config: app.config, catalog: app.catalog, env, cwd: folder.path });
      const job = { program: JSON.stringify(tested), servers: JSON.stringify(tools.serversOf(tested)), seen: JSON.stringify(seen.shapes), recording: { file: "r", text: JSON.stringify(recording) }, mayNotFit: false, isFitKnown: false };
      const { reasons } = await judged(job, sandbox);
      const type = broke === reasons.length > 0 ? (broke ? "caught" : "same") : broke ? "MISSED" : "FALSE";
      kinds[type] = (kinds[type] ?? 0) + 1;
      const right = reasons.length === 0 || reasons.some((r) => r.tool === id);
      if (type === "MISSED" || type === "FALSE" || !right) console.log(type, program.name, id, JSON.stringify(change), right ? "" : "WRONG TOOL", JSON.stringify(reasons).slice(0, 500), broke ? JSON.stringify(answer(truth)).slice(0, 150) : "", seen.notSeen.length ? JSON.stringify(seen.notSeen) : "");
    }
    folder.write(`${server}.json`, {});
  }
}
console.log(n, kinds);
sandbox.end();
function leaves(value: unknown, path: string[], found: Map<string, unknown>) {
  if (path.length > 6) return;
  if (Array.isArray(value)) { for (const each of value.slice(0, 5)) leaves(each, [...path, "*"], found); return; }
  if (isObject(value)) { for (const [k, v] of Object.entries(value)) leaves(v, [...path, k], found); return; }
  if (path.length > 0 && path.at(-1) !== "*" && !found.has(path.join("."))) found.set(path.join("."), value);
}
