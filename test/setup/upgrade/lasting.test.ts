/** The command that agents tell their users to type. */
import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { selfCommand } from "../../../src/config/self.ts";
import { ownShellCommand } from "../../../src/setup/upgrade/lasting.ts";
import { shellLine } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary.ts";

test("is claudikins if that is on the PATH, but not the copy of npx", () => {
  using folder = temporaryFolder();
  const program = (name: string) => {
    const file = folder.write(name, "#!/bin/sh\n");
    chmodSync(file, 0o755);
    return dirname(file);
  };
  const own = shellLine(selfCommand());
  expect(ownShellCommand({})).toBe(own);
  const copy = program(".npm/_npx/0123/node_modules/.bin/claudikins");
  expect(ownShellCommand({ PATH: copy })).toBe(own);
  expect(ownShellCommand({ PATH: `${copy}:${program("bin/claudikins")}` })).toBe("claudikins");
});
