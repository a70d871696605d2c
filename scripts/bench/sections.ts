/** The sections by the names that --only accepts, in the order of the report. */
import { measureAnatomy } from "./anatomy.ts";
import { measureBudget } from "./budget.ts";
import { measureCall } from "./call.ts";
import { measureCalls } from "./calls.ts";
import { measureCancel } from "./cancel.ts";
import { measureCompute } from "./compute.ts";
import { measureFiles } from "./files.ts";
import { measureFirstMinute } from "./first-minute.ts";
import { measureGen } from "./gen.ts";
import { measureGrowthAlone } from "./growth.ts";
import { measureLargeResult } from "./large-result.ts";
import { measureMany } from "./many.ts";
import { measureMemory } from "./memory.ts";
import { measurePark } from "./park.ts";
import { measurePool } from "./pool.ts";
import { measureProbes } from "./probes.ts";
import { measureProtection } from "./protection.ts";
import { measureQuality } from "./quality.ts";
import { measureReplica } from "./replica.ts";
import { measureSearch } from "./search.ts";
import type { Measure } from "./section.ts";
import { measureSources } from "./sources.ts";
import { measureStartup } from "./startup.ts";
import { measureSurface } from "./surface.ts";
import { measureTasks } from "./tasks.ts";
import { measureWarm } from "./warm.ts";

export const measures: Record<string, Measure> = {
  startup: measureStartup,
  "first-minute": measureFirstMinute,
  surface: measureSurface,
  tasks: measureTasks,
  budget: measureBudget,
  probes: measureProbes,
  warm: measureWarm,
  anatomy: measureAnatomy,
  call: measureCall,
  calls: measureCalls,
  many: measureMany,
  replica: measureReplica,
  pool: measurePool,
  protection: measureProtection,
  "large-result": measureLargeResult,
  compute: measureCompute,
  memory: measureMemory,
  growth: measureGrowthAlone,
  cancel: measureCancel,
  park: measurePark,
  files: measureFiles,
  search: measureSearch,
  quality: measureQuality,
  sources: measureSources,
  gen: measureGen,
};
