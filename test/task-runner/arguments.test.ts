/** Arguments from a task: by the tool's schema, asked for again if they do not fit, and asked of a person if they are missing. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { estimateTokens } from "../../src/base/token-estimate.ts";
import type { FilledForm, ModelRequest, TaskOptions, TaskOutcome } from "../../src/task-runner/model.ts";
import { runTask } from "../../src/task-runner/run-task.ts";
import { Recorded } from "../policy/recorded.ts";
import { type Answer, ScriptedModel } from "./scripted-model.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let recorded: Recorded;
let model: ScriptedModel;
beforeEach(() => {
  recorded = new Recorded();
});
afterEach(() => recorded[Symbol.asyncDispose]());

const letter = {
  type: "object",
  properties: {
    to: { type: "string", format: "email", description: "Who gets it." },
    body: { type: "string", description: "What it says.", default: "Hello" },
    priority: { type: "string", enum: ["low", "high"] },
    copies: { type: "integer", minimum: 1 },
  },
  required: ["to", "priority"],
  additionalProperties: false,
};

/** Runs a task with one tool that has this schema. */
async function run(inputSchema: object, options: Partial<TaskOptions>, ...answers: Answer[]): Promise<TaskOutcome> {
  const app = await recorded.open({}, undefined, [{ name: "send", description: "Sends a letter.", inputSchema }]);
  model = new ScriptedModel(...answers);
  const outcome = await runTask({ task: "write to Anna", ...options }, model, app);
  expect(model.left).toBe(0);
  return outcome;
}

const step = ({ receipt }: TaskOutcome) => receipt.steps.at(-1);

describe("arguments from the task", () => {
  test("are sent to the tool, and its result is returned", async () => {
    const args = { to: "anna@example.com", priority: "low" };
    const outcome = await run(letter, {}, args);
    expect(outcome).toEqual({
      success: true,
      tool_used: "rec.send",
      result: "did send",
      arguments: args,
      receipt: expect.objectContaining({ modelCalls: 1, callMs: expect.any(Number) }),
    });
    expect(recorded.got()).toEqual([{ name: "send", args }]);
    expect(step(outcome)).toMatchObject({ level: "arguments", options: 4, choice: "to, priority", skipped: false });
  });

  test("are requested with the tool's type and descriptions, and a schema that requires nothing", async () => {
    await run(letter, {}, { to: "a", priority: "low" });
    const [{ prompt, schema, schemaName, system } = {} as ModelRequest] = model.requests;
    expect(prompt.replace(/\d{4}-\d\d-\d\d/, "DAY").split("\n")).toEqual([
      "Tool:",
      '{"tool":"send","server":"rec","about":"Sends a letter.","type":"{ to: string /* email */; body?: string /* default \\"Hello\\" */; priority: \\"low\\" | \\"high\\"; copies?: number }"}',
      "",
      "Arguments:",
      '{"name":"to","required":true,"about":"Who gets it.","format":"email"}',
      '{"name":"body","about":"What it says.","default":"Hello"}',
      '{"name":"priority","required":true,"about":""}',
      '{"name":"copies","about":""}',
      "",
      "Today is DAY.",
      "",
      'Task: "write to Anna"',
      "",
      "Arguments as JSON:",
    ]);
    const { required: _, ...optional } = letter;
    expect([schemaName, schema]).toEqual(["arguments", optional]);
    expect(system).toContain("never make up a value");
  });

  test("may be wrapped in the tool's name, in a fence, and have null for omitted values", async () => {
    const said = '```json\n{"name": "send", "arguments": {"to": "a", "priority": "low", "copies": null,}}\n```';
    expect(await run(letter, {}, said)).toMatchObject({ success: true, arguments: { to: "a", priority: "low" } });
    const nullable = { type: "object", properties: { limit: { type: ["integer", "null"] } } };
    expect(await run(nullable, {}, { limit: null })).toMatchObject({ success: true, arguments: { limit: null } });
    const own = { type: "object", properties: { arguments: { type: "object" } } };
    expect(await run(own, {}, { arguments: { a: 1 } })).toMatchObject({
      success: true,
      arguments: { arguments: { a: 1 } },
    });
  });

  test("are shown but not sent with --dry-run", async () => {
    const outcome = await run(letter, { dryRun: true }, { to: "a", priority: "low" });
    expect(outcome).toMatchObject({ success: true, dry_run: true, tool_used: "rec.send", arguments: { to: "a" } });
    expect(recorded.got()).toEqual([]);
  });

  test("are requested with a prompt of bounded size, however large the tool is", async () => {
    const property = { type: "string", description: "It is described at length. ".repeat(40) };
    const properties = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`argument_${index}`, property]));
    await run({ type: "object", properties, required: ["argument_9"] }, {}, { argument_9: "x" });
    const [{ system, prompt, schema } = {} as ModelRequest] = model.requests;
    expect(estimateTokens(system + prompt + JSON.stringify(schema))).toBeLessThan(5_000);
    expect(prompt).toContain('{"name":"argument_9","required":true}');
  });
});

describe("invalid arguments", () => {
  test.each<[string, Answer, string]>([
    ["are not JSON", "I cannot", "it is not a JSON object"],
    ["have a wrong type", { to: 5, priority: "low" }, '"to" must be string, got 5'],
    ["have an unknown choice", { to: "a", priority: "highest" }, '"priority" must be one of "low", "high"'],
    ["have an unknown argument", { to: "a", priority: "low", cc: "b" }, 'there is no argument "cc"'],
  ])("invalid arguments that %s are requested once more, with the problem", async (_, wrong, problem) => {
    const outcome = await run(letter, {}, wrong, { to: "a", priority: "high" });
    expect(outcome).toMatchObject({
      success: true,
      arguments: { to: "a", priority: "high" },
      receipt: { modelCalls: 2 },
    });
    expect(step(outcome)).toMatchObject({ retried: true });
    expect(model.requests[1]?.prompt).toContain(problem);
    expect(model.requests[1]?.prompt).toStartWith(model.requests[0]?.prompt ?? "-");
  });

  test("arguments that are invalid twice are a failure that shows the signature, and nothing is called", async () => {
    const outcome = await run(letter, {}, { to: 5, priority: "low" }, { to: 6, priority: "low" });
    expect(outcome).toMatchObject({
      success: false,
      tool_used: "rec.send",
      error: {
        type: "INVALID_ARGUMENTS",
        message: 'rec.send: "to" must be string, got 6',
        suggestion: expect.stringContaining("rec.send(args: { to: string"),
      },
    });
    expect(recorded.got()).toEqual([]);
  });

  test("answers that are not JSON twice are the model's failure", async () => {
    const outcome = await run(letter, {}, "no", "<think>{}");
    expect(outcome).toMatchObject({ success: false, tool_used: "rec.send", error: { type: "MODEL_ANSWER_INVALID" } });
    expect(recorded.got()).toEqual([]);
  });
});

describe("arguments that the task lacks", () => {
  const known = { to: "anna@example.com" };
  const needs = {
    schema: { type: "object", properties: { priority: letter.properties.priority }, required: ["priority"] },
    known,
    missing: ["priority"],
  };

  /** A person who gives this answer, and the questions. */
  function person(answer: FilledForm | Error) {
    const asked: { message: string; schema: object }[] = [];
    const askForMissing: TaskOptions["askForMissing"] = async (message, schema) => {
      asked.push({ message, schema });
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return { asked, askForMissing };
  }

  test("are named with their schema if nobody can be asked, and nothing is called", async () => {
    const outcome = await run(letter, {}, known);
    expect(outcome).toEqual({
      success: false,
      tool_used: "rec.send",
      needs_input: needs,
      error: {
        type: "INVALID_ARGUMENTS",
        message: "rec.send needs priority, which the task does not give",
        suggestion: "Repeat the task with these values in it.",
      },
      receipt: expect.objectContaining({ modelCalls: 1 }),
    });
    expect(recorded.got()).toEqual([]);
  });

  test("are asked for with a form of only these arguments", async () => {
    const { asked, askForMissing } = person({ action: "accept", content: { priority: "high", to: "eve@example.com" } });
    const outcome = await run(letter, { askForMissing }, known);
    expect(outcome).toMatchObject({ success: true, arguments: { ...known, priority: "high" } });
    expect(asked).toEqual([
      {
        message: "rec.send needs priority",
        schema: {
          type: "object",
          properties: { priority: { type: "string", enum: ["low", "high"] } },
          required: ["priority"],
        },
      },
    ]);
    expect(step(outcome)).toMatchObject({ asked: ["priority"], choice: "to, priority" });
    expect(recorded.got()).toEqual([{ name: "send", args: { ...known, priority: "high" } }]);
  });

  test("end the task if the person declines", async () => {
    const outcome = await run(letter, person({ action: "decline" }), known);
    expect(outcome).toMatchObject({ success: false, tool_used: "rec.send", error: { type: "CANCELLED" } });
    expect("needs_input" in outcome).toBe(false);
    expect(recorded.got()).toEqual([]);
  });

  test.each<[string, FilledForm, string]>([
    [
      "dismisses the question",
      { action: "cancel" },
      "rec.send needs priority, which the task does not give; the question was dismissed",
    ],
    [
      "gives an empty answer",
      { action: "accept" },
      'rec.send: the answer is not valid: the argument "priority" is missing',
    ],
    [
      "gives an invalid answer",
      { action: "accept", content: { priority: "urgent" } },
      'rec.send: the answer is not valid: "priority" must be one of',
    ],
  ])("are named if the person %s", async (_, answer, message) => {
    const outcome = await run(letter, person(answer), known);
    expect(outcome).toMatchObject({ success: false, needs_input: needs, error: { type: "INVALID_ARGUMENTS" } });
    expect(outcome.success ? "" : outcome.error.message).toStartWith(message);
    expect(recorded.got()).toEqual([]);
  });

  test("end the task if the question fails", async () => {
    const outcome = await run(letter, person(new ClaudikinsError("CANCELLED", "the host is gone")), known);
    expect(outcome).toMatchObject({ success: false, error: { type: "CANCELLED", message: "the host is gone" } });
  });

  test("are named if the host cannot ask", async () => {
    const outcome = await run(letter, person(new Error("no window")), known);
    expect(outcome).toMatchObject({ success: false, needs_input: needs });
    expect(outcome.success ? "" : outcome.error.message).toEndWith("; the user could not be asked: no window");
  });

  const filter = { $ref: "#/$defs/filter" };
  const $defs = {
    filter: { type: "object", properties: { city: { type: "string" } } },
    name: { type: ["string", "null"], title: "Name", pattern: "x" },
  };

  test("are not asked for if they are not flat fields", async () => {
    const { asked, askForMissing } = person({ action: "accept", content: {} });
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, filter },
      required: ["name", "filter"],
      $defs,
    };
    const outcome = await run(schema, { askForMissing }, {});
    expect(asked).toEqual([]);
    expect(outcome).toMatchObject({
      needs_input: { missing: ["name", "filter"], schema: { properties: { filter }, $defs } },
    });
  });

  test("are asked for with a valid form schema: references resolved, unsupported keywords removed", async () => {
    const { asked, askForMissing } = person({
      action: "accept",
      content: { name: "x", when: "2026-01-01", count: 2, sure: true },
    });
    const properties = {
      name: { $ref: "#/$defs/name", description: "Whose." },
      when: { type: "string", format: "date", examples: ["x"] },
      count: { type: "integer", minimum: 1, multipleOf: 1 },
      sure: { type: "boolean" },
    };
    const schema = { type: "object", properties, required: Object.keys(properties), $defs };
    expect(await run(schema, { askForMissing }, {})).toMatchObject({ success: true });
    expect(asked[0]?.schema).toEqual({
      type: "object",
      properties: {
        name: { type: "string", title: "Name", description: "Whose." },
        when: { type: "string", format: "date" },
        count: { type: "integer", minimum: 1 },
        sure: { type: "boolean" },
      },
      required: Object.keys(properties),
    });
  });
});
