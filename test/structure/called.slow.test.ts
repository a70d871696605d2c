/** A warm request of an agent runs through a bounded number of files and functions, so that a reader can follow it. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { type Called, calledBy } from "../../scripts/harnesses/called/called.ts";

setDefaultTimeout(120_000);

/** At most as many as today, and a few for work in the background that may be done meanwhile. Lower the numbers when a request runs through fewer. */
const most = {
  "a program without a call": { files: 113, functions: 445 },
  "a program with one call": { files: 170, functions: 860 },
  "a search": { files: 85, functions: 325 },
};

type Name = keyof typeof most;

test("a warm request runs through no more files and functions than before", async () => {
  const requests: Record<Name, [tool: string, args: object]> = {
    "a program without a call": ["execute_code", { code: "return 1" }],
    "a program with one call": ["execute_code", { code: 'return await echo.echo({ text: "a" })' }],
    "a search": ["search_tools", { query: "say a text again" }],
  };
  const isFew = (name: string, { files, functions }: Called) =>
    files <= most[name as Name].files && functions <= most[name as Name].functions;
  const called = await calledBy(requests, isFew);
  for (const [name, { files, functions }] of called) console.log(`${name}: ${files} files, ${functions} functions`);
  for (const [name, { files, functions }] of Object.entries(most)) {
    expect(called.get(name)!.files).toBeLessThanOrEqual(files);
    expect(called.get(name)!.functions).toBeLessThanOrEqual(functions);
    // Something is counted.
    expect(called.get(name)!.functions).toBeGreaterThan(files / 2);
  }
});
