/** The example of the sandbox's README runs, and prints what it says. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("the example of the README prints its value", async () => {
  using folder = temporaryFolder();
  const text = readFileSync(join(root, "src/sandbox/README.md"), "utf8");
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
  const file = folder.write("example.ts", example.replace("./sandbox.ts", join(root, "src/sandbox/sandbox.ts")));
  const { stdout, stderr } = await runProgram([process.execPath, file], { cwd: folder.path });
  expect({ stdout, stderr }).toEqual({ stdout: "3\n", stderr: "" });
});
