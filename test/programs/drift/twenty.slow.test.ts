/** Twenty programs that were kept from runs with a real server break for the right reason, and only then. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isObject, type JsonObject } from "../../../src/base/json-object.ts";
import type { CurrentTool, Reason } from "../../../src/programs/drift/contract.ts";
import { judged } from "../../../src/programs/drift/judge.ts";
import { execute } from "../../../src/programs/execute.ts";
import type { Recording } from "../../../src/programs/recordings/format.ts";
import { makeRecording } from "../../../src/programs/recordings/make.ts";
import { CallTape } from "../../../src/programs/recordings/tape.ts";
import { testRecording } from "../../../src/programs/recordings/test-program.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { shapeOf } from "../../../src/tools/observed/observe.ts";
import { merge } from "../../../src/tools/observed/shape.ts";
import { builtInDemo } from "../../support/servers.ts";
import { project } from "../../tools/generation/project.ts";
import { type DriftingProgram, driftingPrograms } from "./programs.ts";

setDefaultTimeout(120_000);

const sandbox = new Sandbox({ keptWorkers: 1 });
afterAll(() => sandbox[Symbol.dispose]());

const { signal } = new AbortController();
const recordings = new Map<string, Recording>();

/** Each program runs once with the server. Afterwards there is no server. */
beforeAll(async () => {
  using folder = project();
  folder.configure({ demo: { ...builtInDemo(), labels: { "*": [] } } });
  await using app = await folder.open();
  for (const { name, code } of driftingPrograms) {
    const tape = new CallTape();
    const outcome = await execute({ source: code, tape }, app);
    expect([name, outcome.ok]).toEqual([name, true]);
    recordings.set(name, declared(await makeRecording({ taken: tape.taken(), code, input: {}, isOk: true }, app)));
  }
});

/** The recording of a server that says what each tool returns. */
function declared(recording: Recording): Recording {
  for (const [name, tool] of Object.entries(recording.servers["demo"]!.tools)) {
    const shapes = recording.calls.filter((call) => call.tool === name).map(({ result }) => shapeOf(result));
    tool.outputSchema ??= { ...shapes.reduce((one, other) => merge(one, other)) };
  }
  return recording;
}

const copyOf = ({ name }: DriftingProgram) => structuredClone(recordings.get(name)!);

function about({ code }: DriftingProgram, recording: Recording) {
  const calls = [...new Set(recording.calls.map(({ tool }) => `demo.${tool}`))].sort();
  return { name: "program", code, input: { type: "object" }, calls };
}

/** Why the program would break if the server defined its tools in another way. */
async function reasons(
  program: DriftingProgram,
  change: (tools: Record<string, CurrentTool>) => void,
): Promise<Reason[]> {
  const recording = copyOf(program);
  const all = structuredClone(recording.servers["demo"]!.tools);
  const tools = Object.fromEntries(
    Object.entries(all).map(([name, { inputSchema, outputSchema }]): [string, CurrentTool] => {
      return [name, { name, jsName: name, inputSchema, outputSchema }];
    }),
  );
  change(tools);
  const job = {
    program: JSON.stringify(about(program, recording)),
    servers: JSON.stringify({ demo: { jsName: "demo", tools: Object.values(tools) } }),
    recording: { file: "program.recording.json", text: JSON.stringify(recording) },
    ...{ mayNotFit: false, isFitKnown: false },
  };
  return (await judged(job, sandbox)).reasons;
}

/** The differences of a replay of a recording that was changed. */
async function differences(program: DriftingProgram, change: (recording: Recording) => void, code = program.code) {
  const recording = copyOf(program);
  change(recording);
  const tested = { ...about(program, recording), code };
  const found = await testRecording(tested, "program.recording.json", async () => recording, { sandbox, signal });
  expect(found.problem).toBeUndefined();
  return found.differences;
}

/** The schema around the part that the program reads, and the name of the part. */
function place({ tool, reads }: DriftingProgram, tools: Record<string, CurrentTool>) {
  const path = reads.split(".");
  const name = path.pop()!;
  const around = path.reduce<JsonObject>((schema, key) => {
    return (key === "*" ? schema["items"] : (schema["properties"] as JsonObject)[key]) as JsonObject;
  }, tools[tool]!.outputSchema!);
  return { name, around, properties: around["properties"] as JsonObject };
}

const shownPath = ({ reads }: DriftingProgram) => reads.replaceAll(".*", "[*]");

describe.each(driftingPrograms.map((program) => [program.name, program] as const))("%s", (_, program) => {
  const { tool } = program;

  test("does not break if nothing that it reads has changed", async () => {
    expect(await differences(program, () => {})).toEqual([]);
    const found = await reasons(program, (tools) => {
      const { inputSchema, outputSchema } = tools[tool]!;
      (inputSchema!["properties"] as JsonObject)["verbose"] = { type: "boolean" };
      (outputSchema!["properties"] as JsonObject)["took_ms"] = { type: "number" };
    });
    expect(found).toEqual([]);
  });

  test("breaks if a field is renamed", async () => {
    const found = await reasons(program, (tools) => {
      const { name, around, properties } = place(program, tools);
      properties["renamed"] = properties[name];
      delete properties[name];
      around["required"] = (around["required"] as string[]).map((each) => (each === name ? "renamed" : each));
    });
    expect(found).toMatchObject([
      {
        tool: `demo.${tool}`,
        line: expect.any(Number),
        text: `demo.${tool}: ${shownPath(program)} is gone; it may be "renamed" now`,
      },
    ]);
    expect(found[0]?.effect).toMatch(/^(?:The program fails in line \d|output|calls\[\d+\]\.arguments)/);
  });

  test("breaks if a type widens", async () => {
    const found = await reasons(program, (tools) => {
      const { name, properties } = place(program, tools);
      properties[name] = { anyOf: [properties[name], { type: program.wider }] };
    });
    const type = program.wider === "null" ? "null" : "a text";
    expect(found).toMatchObject([
      { tool: `demo.${tool}`, text: expect.stringContaining(`demo.${tool}: ${shownPath(program)} may be ${type} now`) },
    ]);
  });

  test("breaks if a tool vanishes, or needs another argument", async () => {
    const gone = await reasons(program, (tools) => delete tools[tool]);
    expect(gone[0]).toMatchObject({
      tool: `demo.${tool}`,
      text: expect.stringContaining(`demo.${tool} does not exist any more`),
      effect: expect.stringMatching(/^The program fails in line \d+$/),
    });
    const needy = await reasons(program, (tools) => {
      const schema = tools[tool]!.inputSchema!;
      (schema["properties"] as JsonObject)["shop"] = { type: "string" };
      schema["required"] = [...((schema["required"] ?? []) as string[]), "shop"];
    });
    expect(needy[0]?.text).toBe(`demo.${tool} refuses the arguments: the argument "shop" is missing`);
  });

  test("notices that a call fails", async () => {
    const found = await differences(program, ({ calls }) => {
      const call = calls.find((each) => each.tool === tool)!;
      delete call.result;
      call.error = { code: "TOOL_FAILED", message: "The shop is closed" };
    });
    expect(found.at(-1)).toMatchObject({ kind: "failure", text: expect.stringContaining("The shop is closed") });
  });
});

/** Programs with what a test needs, by their names. */
const those = (isFit: (program: DriftingProgram) => boolean) =>
  driftingPrograms.filter(isFit).map((program) => [program.name, program] as const);

test.each(those(({ list }) => list !== undefined))("%s notices that a list is empty", async (_, program) => {
  const found = await differences(program, ({ calls }) => {
    for (const { tool, result } of calls) if (tool === program.tool && isObject(result)) result[program.list!] = [];
  });
  expect(found.length).toBeGreaterThan(0);
  expect(found.every(({ at }) => at.startsWith("output") || at.startsWith("calls["))).toBe(true);
});

test.each(those(({ pages }) => pages === true))("%s notices that a list has another page", async (_, program) => {
  const found = await differences(program, ({ calls }) => {
    (calls.at(-1)!.result as JsonObject)["next_cursor"] = "another";
  });
  expect(found.map(({ kind }) => kind)).toEqual(["new call", "failure"]);
});

test.each(those(({ swapped }) => swapped !== undefined))(
  "%s notices another order of its calls",
  async (_, program) => {
    const found = await differences(program, () => {}, program.swapped?.(program.code));
    expect(found.map(({ kind, at }) => `${kind} ${at}`)).toEqual(["order calls[1]"]);
  },
);
