/** Every server of the catalog. Written by `bun run catalog`. */
import { server as gemini } from "./ai-models/gemini/index.ts";
import { server as huggingface } from "./ai-models/huggingface/index.ts";
import { server as nanoBanana } from "./ai-models/nano-banana/index.ts";
import { server as asanaApi } from "./apis/asana-api/index.ts";
import { server as digitaloceanApi } from "./apis/digitalocean-api/index.ts";
import { server as discordApi } from "./apis/discord-api/index.ts";
import { server as figmaApi } from "./apis/figma-api/index.ts";
import { server as githubApi } from "./apis/github-api/index.ts";
import { server as jiraApi } from "./apis/jira-api/index.ts";
import { server as notionApi } from "./apis/notion-api/index.ts";
import { server as openaiApi } from "./apis/openai-api/index.ts";
import { server as pagerdutyApi } from "./apis/pagerduty-api/index.ts";
import { server as slackApi } from "./apis/slack-api/index.ts";
import { server as stripeApi } from "./apis/stripe-api/index.ts";
import { server as twilioApi } from "./apis/twilio-api/index.ts";
import { server as hubspot } from "./business/hubspot/index.ts";
import { server as linear } from "./business/linear/index.ts";
import { server as notion } from "./business/notion/index.ts";
import { server as slack } from "./business/slack/index.ts";
import { server as stripe } from "./business/stripe/index.ts";
import { server as azure } from "./cloud/azure/index.ts";
import { server as cloudflare } from "./cloud/cloudflare/index.ts";
import { server as kubernetes } from "./cloud/kubernetes/index.ts";
import { server as eslint } from "./code/eslint/index.ts";
import { server as git } from "./code/git/index.ts";
import { server as github } from "./code/github/index.ts";
import { server as serena } from "./code/serena/index.ts";
import { server as elasticsearch } from "./data/elasticsearch/index.ts";
import { server as mongodb } from "./data/mongodb/index.ts";
import { server as postgres } from "./data/postgres/index.ts";
import { server as sqlite } from "./data/sqlite/index.ts";
import { server as supabase } from "./data/supabase/index.ts";
import { server as desktopCommander } from "./files/desktop-commander/index.ts";
import { server as filesystem } from "./files/filesystem/index.ts";
import { server as gdrive } from "./files/gdrive/index.ts";
import { server as godot } from "./game-dev/godot/index.ts";
import { server as context7 } from "./knowledge/context7/index.ts";
import { server as memory } from "./knowledge/memory/index.ts";
import { server as notebooklm } from "./knowledge/notebooklm/index.ts";
import { server as stackoverflow } from "./knowledge/stackoverflow/index.ts";
import { server as sentry } from "./monitoring/sentry/index.ts";
import { server as sequentialThinking } from "./reasoning/sequential-thinking/index.ts";
import { server as braveSearch } from "./search/brave-search/index.ts";
import { server as exa } from "./search/exa/index.ts";
import { server as tavily } from "./search/tavily/index.ts";
import { server as everything } from "./testing/everything/index.ts";
import type { CatalogServer } from "./types.ts";
import { server as figma } from "./ui/figma/index.ts";
import { server as mermaid } from "./ui/mermaid/index.ts";
import { server as shadcn } from "./ui/shadcn/index.ts";
import { server as apify } from "./web/apify/index.ts";
import { server as brightData } from "./web/bright-data/index.ts";
import { server as chromeDevtools } from "./web/chrome-devtools/index.ts";
import { server as fetch } from "./web/fetch/index.ts";
import { server as firecrawl } from "./web/firecrawl/index.ts";
import { server as playwright } from "./web/playwright/index.ts";
import { server as puppeteer } from "./web/puppeteer/index.ts";

export const servers: readonly CatalogServer[] = [
  gemini,
  huggingface,
  nanoBanana,
  asanaApi,
  digitaloceanApi,
  discordApi,
  figmaApi,
  githubApi,
  jiraApi,
  notionApi,
  openaiApi,
  pagerdutyApi,
  slackApi,
  stripeApi,
  twilioApi,
  hubspot,
  linear,
  notion,
  slack,
  stripe,
  azure,
  cloudflare,
  kubernetes,
  eslint,
  git,
  github,
  serena,
  elasticsearch,
  mongodb,
  postgres,
  sqlite,
  supabase,
  desktopCommander,
  filesystem,
  gdrive,
  godot,
  context7,
  memory,
  notebooklm,
  stackoverflow,
  sentry,
  sequentialThinking,
  braveSearch,
  exa,
  tavily,
  everything,
  figma,
  mermaid,
  shadcn,
  apify,
  brightData,
  chromeDevtools,
  fetch,
  firecrawl,
  playwright,
  puppeteer,
];
