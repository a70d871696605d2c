/**
 * What a saved program consists of changes only together with the number of its format. If this test fails, read `programFormat` in
 * src/base/program-format.ts: raise the number if programs that were saved before cannot be continued, and then write here what the
 * test has found.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { programFormat } from "../../src/base/program-format.ts";
import { storeFile } from "../../src/config/locations.ts";
import { readHead, readProgram, wholeImage } from "../../src/programs/execution/stored-program.ts";
import { createEngine, findEndAddress } from "../../src/sandbox/engine/engine.ts";
import { takeSnapshot } from "../../src/sandbox/engine/snapshot.ts";
import { compiledEngine, programBytes } from "../../src/sandbox/engine/wasm.ts";
import { guestScript } from "../../src/sandbox/guest/bundle.ts";
import { pagesOf, StateParts } from "../../src/sandbox/program-image.ts";
import { stateOf } from "../../src/sandbox/worker/code-run.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { StoreWriter } from "../../src/store/sqlite/writer.ts";
import { ExecutionRows } from "../store/sqlite/rows.ts";
import { root } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { fixture } from "../support/servers.ts";
import { project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

const digestOf = (...parts: (string | Uint8Array)[]) => {
  const hash = new Bun.CryptoHasher("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 16);
};

/** The sources that write memory and read it back. Comments, spaces and imports do not count. */
const writers = [
  "sandbox/program-image.ts",
  "sandbox/worker/reusable-context.ts",
  "sandbox/engine/memory-runs.ts",
  "sandbox/engine/remembered.ts",
  "programs/execution/stored-program.ts",
];

const codeOf = (file: string) =>
  readFileSync(join(root, "src", file), "utf8")
    .replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")
    .replace(/^import [^;]*;$/gm, "")
    .replace(/\s+/g, " ");

test("the engine, the fresh memory and the way in which memory is written are those of the format", async () => {
  const module = await compiledEngine();
  const fresh = takeSnapshot(await createEngine(module, 64 * 1_048_576), await findEndAddress(module), guestScript());
  expect({
    format: programFormat,
    engine: digestOf(await programBytes()),
    fresh: digestOf(fresh),
    writers: digestOf(...writers.map(codeOf)),
  }).toEqual({
    format: 1,
    engine: "75b3601e7470df6a",
    fresh: "d73f3c858461aae0",
    writers: "a3a19c7d97150136",
  });
});

const shapesOf = (values: object): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shapeOf(value)]));

/** The names and types of what a value has. Of elements that are alike, the first one counts. */
function shapeOf(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return value.constructor.name;
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (value instanceof Map) return { Map: [...value].slice(0, 1).flat().map(shapeOf) };
  if (value instanceof Set) return { Set: [...value].slice(0, 1).map(shapeOf) };
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return shapesOf(value);
}

test("the host's part of a program has the shape of the format", async () => {
  using folder = project();
  folder.configure({ counting: fixture("counting", join(folder.path, "counts")) });
  await using app = await folder.open();
  const executions = await app.executions();
  const source = `console.log("logged"); display({ shown: 1 }); setTimeout(() => {}, 3_600_000);
    await counting.act({ name: "answered" });
    await counting.read_wait({ until: "/nowhere" });`;
  const execution = executions.start({ source }, app, { isBackground: true });
  const env = { HOME: folder.path };
  await execution.stored();
  using database = await openDatabase(storeFile(env));
  const store = new ExecutionRows(database);
  await eventually(() => store.calls(execution.id).some(({ call, state }) => call === 2 && state === "sent"));
  const head = readHead(store.get(execution.id)!.program!);
  const writer = new StoreWriter(storeFile(env));
  const { manifest } = head.image;
  const records = await writer.do("records", execution.id, { ...manifest, records: head.records });
  const pages = await writer.do("image", execution.id, manifest);
  await writer.close();
  const parts = new StateParts();
  for (const { page, content } of pagesOf(wholeImage(head, pages).batches)) if (page < 0) parts.add(page, content);
  const { execution: saved } = await readProgram(head, records);
  const { recorded, ...rest } = saved;
  const [displayed, logged] = recorded;
  const call = JSON.parse(store.calls(execution.id)[0]!.message);
  execution.cancel();
  await execution.outcome;
  const found: unknown = {
    format: programFormat,
    ...shapesOf({ ...rest, displayed, logged, call, state: stateOf(parts) }),
  };
  const seen = { tool: "string", args: "string", calls: "number", open: "number", repeated: "number" };
  const failed = { failures: "number", failure: "undefined" };
  const line = { level: "string", text: "string" };
  expect(found).toEqual({
    format: 1,
    image: {
      manifest: {
        version: "number",
        seed: "bigint",
        pages: "Float64Array",
        versions: "Float64Array",
        sizes: "Float64Array",
        hashes: "BigUint64Array",
      },
      now: "number",
      at: "number",
      isAsleep: "boolean",
    },
    recorder: {
      startedAt: "number",
      tools: { Map: ["string", { calls: "number", failures: "number", durationMs: "number", resultChars: "number" }] },
      open: { Set: [] },
      failures: { Map: [] },
      registry: "undefined",
      charsIn: "number",
      exact: "undefined",
    },
    restMs: "number",
    wakeAt: "number",
    displayed: "string",
    logged: [line],
    call: {
      type: "string",
      call: "number",
      namespace: "string",
      group: "string",
      name: "string",
      args: "string",
      raw: "boolean",
      line: "number",
    },
    state: {
      code: "string",
      usedMs: "number",
      displayedBytes: "number",
      displayed: "number",
      isAsleep: "boolean",
      gate: {
        asked: "number",
        made: "number",
        running: "number",
        waiting: [],
        openBytes: "number",
        bytes: { Map: ["number", "number"] },
      },
      calls: {
        open: { Map: ["number", { raw: "boolean", seen: { ...seen, ...failed, results: [] } }] },
        tools: {
          Map: ["string", { ...seen, ...failed, results: [{ type: "string", call: "number", json: "string" }] }],
        },
      },
      logs: {
        first: [line],
        begun: { Map: [] },
        headBytes: "number",
        tail: [],
        tailStart: "number",
        tailHas: "number",
        missing: "number",
      },
      timers: { Map: ["number", "number"] },
      loading: { Map: [] },
      registry: "undefined",
    },
  });
});
