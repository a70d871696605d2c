/** Elasticsearch, by Elastic. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "elasticsearch",
  category: "data",
  title: "Elasticsearch",
  description: "Searches Elasticsearch indices and shows their mappings and shards",
  server: {
    command: "npx",
    args: ["-y", "@elastic/mcp-server-elasticsearch"],
    env: { ES_URL: "${ES_URL}", ES_API_KEY: "${ES_API_KEY}" },
  },
  variables: [
    { name: "ES_URL", required: true, what: "the address of the cluster" },
    {
      name: "ES_API_KEY",
      required: true,
      what: "an API key; ES_USERNAME and ES_PASSWORD work instead",
      from: "https://www.elastic.co/docs/deploy-manage/api-keys/elasticsearch-api-keys",
    },
  ],
  confined: { network: true },
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["private"],
    search: ["untrusted", "private"],
    esql: ["untrusted", "private"],
  },
  goodFor: ["search logs", "query an index", "mappings of an index", "aggregations"],
  notes: [
    "4 read-only tools.",
    "Elastic continues it as a container image and, from 9.2, as part of Kibana; the npm package gets no updates.",
  ],
  aliases: ["elastic", "elasticsearch-mcp", "es"],
  homepage: "https://github.com/elastic/mcp-server-elasticsearch",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
