/** The same expression in the sandbox and in this process, where its value is correct. */
import { expect } from "bun:test";
import type { Harness } from "./harness.ts";

// The sandbox always uses UTC; `bun test` does too, unless the environment sets another time zone.
process.env["TZ"] = "UTC";

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null");

/** Evaluates an expression, which may await and may `require` Node's modules. Errors become `Name: message`. */
async function here(expression: string): Promise<unknown> {
  const body = `try { return ${expression} } catch (error) { return error.name }`;
  const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => (given: unknown) => Promise<unknown>;
  return plain(await new AsyncFunction("require", body)(require));
}

export async function expectSame(harness: Harness, expression: string): Promise<void> {
  const inside = await harness.value(
    `try { return JSON.stringify(${expression}) ?? "null" } catch (error) { return JSON.stringify((error as any).name) }`,
  );
  expect(JSON.parse(String(inside))).toEqual(await here(expression));
}
