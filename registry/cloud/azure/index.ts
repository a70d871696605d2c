/** Microsoft Azure, by Microsoft. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "azure",
  category: "cloud",
  title: "Azure",
  description: "Works with Azure: storage, databases, Kubernetes, monitoring, deployments and some forty more services",
  server: { command: "npx", args: ["-y", "@azure/mcp@latest", "server", "start"] },
  variables: [],
  confined: "it signs in with the files of your Azure programs",
  session: "shared",
  signIn: "program",
  labels: {
    "*": ["private"],
  },
  goodFor: [
    "list resources in Azure",
    "query logs of Azure Monitor",
    "Cosmos DB and SQL",
    "storage accounts and blobs",
    "best practices for Azure",
  ],
  notes: [
    "Sign in first with `az login`.",
    "About 61 tools, each for a whole service; `--mode all` exposes each command as a tool, 235 in total. `--namespace storage` limits it to one service, `--read-only` to reading.",
    "The download is large, so the first start is slow.",
  ],
  aliases: ["azure-mcp", "az", "microsoft azure"],
  homepage: "https://learn.microsoft.com/azure/developer/azure-mcp-server/",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
