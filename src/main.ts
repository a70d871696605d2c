#!/usr/bin/env bun
/** argv → cli → process.exitCode; nothing else. */
import { processIo } from "./cli/io.ts";
import { run } from "./cli/run.ts";

process.exitCode = await run(process.argv.slice(2), processIo());
