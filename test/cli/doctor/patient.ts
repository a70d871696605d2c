/** `claudikins doctor` in a folder that is both home and project, with its findings. */
import { afterEach, beforeEach, expect, setDefaultTimeout } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../../src/cli/doctor/finding.ts";
import { processesWith } from "../../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";
import { type CliOptions, type CliResult, cli } from "../in-memory.ts";

export interface Answer {
  ok: boolean;
  findings: Finding[];
  exitCode: number;
  /** The finding with this id, without the fields that every finding has. */
  of(id: string): Partial<Finding> | undefined;
}

export interface Patient {
  /** The folder of the current test. */
  readonly folder: TemporaryFolder;
  at(...path: string[]): string;
  run(argv: string[], options?: CliOptions): Promise<CliResult>;
  doctor(flags?: string[], options?: CliOptions): Promise<Answer>;
  /** Writes claudikins.json. */
  configure(mcpServers: object, more?: object): string;
  /** Writes a program that prints a version. */
  program(path: string, said: string): string;
}

/** A new folder for each test of a file. */
export function patient(): Patient {
  // Processes start slowly on a small machine.
  setDefaultTimeout(60_000);
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => {
    expect(processesWith(folder.path)).toEqual([]);
    folder[Symbol.dispose]();
  });
  const run: Patient["run"] = (argv, options = {}) => cli(argv, { cwd: folder.path, ...options });
  return {
    get folder() {
      return folder;
    },
    at: (...path) => join(folder.path, ...path),
    run,
    async doctor(flags = ["--no-servers"], options = {}) {
      const { exitCode, stdout, stderr } = await run(["doctor", "--json", ...flags], options);
      expect(stderr).toBe("");
      const { ok, findings } = JSON.parse(stdout.replaceAll(folder.path, "FOLDER")) as Answer;
      return { ok, findings, exitCode, of: (id) => findingOf(findings, id) };
    },
    configure: (mcpServers, more = {}) => folder.write("claudikins.json", { mcpServers, ...more }),
    program(path, said) {
      const file = folder.write(path, `#!/bin/sh\necho ${said}\n`);
      chmodSync(file, 0o755);
      return file;
    },
  };
}

function findingOf(findings: Finding[], id: string): Partial<Finding> | undefined {
  const [found, ...others] = findings.filter((finding) => finding.id === id);
  expect(others).toEqual([]);
  if (!found) return undefined;
  const { id: _, area: __, ...rest } = found;
  return rest;
}
