/** The servers that `bun run results` runs: those that do real work on one machine, without an account. */
import type { Plan } from "./plan.ts";
import { chromeDevtools } from "./plans/chrome-devtools.ts";
import { demo } from "./plans/demo.ts";
import { desktopCommander } from "./plans/desktop-commander.ts";
import { eslint } from "./plans/eslint.ts";
import { everything } from "./plans/everything.ts";
import { filesystem } from "./plans/filesystem.ts";
import { memory } from "./plans/memory.ts";
import { mermaid } from "./plans/mermaid.ts";
import { playwright } from "./plans/playwright.ts";
import { puppeteer } from "./plans/puppeteer.ts";
import { sequentialThinking } from "./plans/sequential-thinking.ts";
import { shadcn } from "./plans/shadcn.ts";
import { sqlite } from "./plans/sqlite.ts";

export const plans: readonly Plan[] = [
  chromeDevtools,
  demo,
  desktopCommander,
  eslint,
  everything,
  filesystem,
  memory,
  mermaid,
  playwright,
  puppeteer,
  sequentialThinking,
  shadcn,
  sqlite,
];
