#!/usr/bin/env bun
/** The entry point: passes argv and the streams of the process to `run`, and sets the exit code. */
import { endWith, processIo } from "./cli/io.ts";
import { run } from "./cli/run.ts";

endWith(await run(process.argv.slice(2), processIo()));
