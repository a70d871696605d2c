/** A server with 200 saved programs has changed: they are judged soon, and beside the thread that answers agents. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { fileDocuments } from "../../../src/base/documents.ts";
import type { JsonObject } from "../../../src/base/json-object.ts";
import { checkPrograms } from "../../../src/programs/drift/check.ts";
import { CurrentTools } from "../../../src/programs/drift/current.ts";
import { RecordingFiles } from "../../../src/programs/recordings/recording-files.ts";
import { testRecording } from "../../../src/programs/recordings/test-program.ts";
import { ProgramLibrary } from "../../../src/programs/saved/library.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { recorded, report } from "../recordings/shop.ts";

setDefaultTimeout(120_000);

/** Programs that use the server. */
const programs = 200;

/** Time for all of them, on a machine that has nothing else to do. */
const judgedMs = 2_000;

/** A replay on such a machine. */
const quietReplayMs = 2;

/** The longest time for which the main thread may do nothing else, in milliseconds. */
const pauseMs = 100;

const order = (field: string) => ({
  type: "object",
  properties: { customer_id: { type: "string" }, [field]: { type: "number" }, note: { type: "string" } },
  required: ["customer_id", field, "note"],
});
const listed = (field: string): JsonObject => ({
  type: "object",
  properties: { orders: { type: "array", items: order(field) }, next_cursor: { type: "string" } },
  required: ["orders"],
});

/** How long a replay takes at this moment: the mean of 50. */
async function replayMs(): Promise<number> {
  using sandbox = new Sandbox({ keptWorkers: 1 });
  const { signal } = new AbortController();
  const once = () => testRecording(report, "r", async () => recorded(), { sandbox, signal });
  await once();
  const startedAt = performance.now();
  for (let round = 0; round < 50; round++) await once();
  return (performance.now() - startedAt) / 50;
}

test("200 programs are judged within 2 s of a quiet machine, and others do not wait", async () => {
  using folder = temporaryFolder();
  const place = { documents: fileDocuments, folder: join(folder.path, "programs"), mark: join(folder.path, "mark") };
  const library = new ProgramLibrary(place);
  const files = new RecordingFiles(place);
  const inputSchema = { type: "object" };
  for (let number = 0; number < programs; number++) {
    const name = `report-${number}`;
    const recording = recorded();
    recording.servers["shop"]!.tools["list_orders"] = { inputSchema, outputSchema: listed("cents") };
    // Each has other code, so that none is known.
    const program = { ...report, name, code: `${report.code}// ${number}` };
    await library.change(name, () => ({
      ...program,
      ...{ version: 1, description: name, number: 1, savedAt: 1, savedBy: "user" },
    }));
    await files.write(name, undefined, recording);
  }
  const tools = ["get_customer", "list_orders", "post_report"].map((name) => ({ name, jsName: name, inputSchema }));
  const now = tools.map((tool) => (tool.name === "list_orders" ? { ...tool, outputSchema: listed("amount") } : tool));
  const catalog = {
    names: [{ name: "shop", jsName: "shop" }],
    find: () => ({ tools: now }),
    heldTools: () => [],
  };
  const options = { place, tools: CurrentTools.asCalled({ catalog: catalog as never }) };
  const all = library.all();
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const before = await replayMs();
  longest = 0;
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const checked = await checkPrograms(all, options);
  const ms = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  clearInterval(watch);
  const replay = Math.max(before, await replayMs());
  console.log(
    `${programs} programs in ${Math.round(ms)} ms with ${Math.round((cpu.user + cpu.system) / 1_000)} ms of CPU, longest pause ${Math.round(longest)} ms; a replay takes ${replay.toFixed(1)} ms`,
  );
  expect(checked.map(({ reasons }) => reasons.length)).toEqual(Array.from({ length: programs }, () => 1));
  // Others may use the machine at the same time: then each replay takes longer, too.
  const slowness = Math.max(1, replay / quietReplayMs);
  expect(ms).toBeLessThan(judgedMs * slowness);
  expect(longest).toBeLessThan(pauseMs * slowness);
  const again = performance.now();
  await checkPrograms(all, options);
  expect(performance.now() - again).toBeLessThan((judgedMs / 4) * slowness);
});
