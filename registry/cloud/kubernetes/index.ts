/** Kubernetes, through kubectl and helm. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "kubernetes",
  category: "cloud",
  title: "Kubernetes",
  description: "Looks after a Kubernetes cluster: gets, describes, applies, scales, logs, rolls out, helm charts",
  server: { command: "npx", args: ["-y", "mcp-server-kubernetes"] },
  variables: [],
  confined: "it starts kubectl with your kubeconfig, whose programs may be any",
  session: "private",
  signIn: "program",
  labels: {
    "*": ["private"],
    "*log*": ["untrusted", "private"],
  },
  goodFor: ["why does a pod not start", "logs of a pod", "scale a deployment", "install a helm chart", "port forward"],
  notes: [
    "About 23 tools. It requires kubectl and helm, and uses the context of ~/.kube/config; set KUBECONFIG in env for another file.",
    "It can delete resources and run commands in pods: set ALLOW_ONLY_NON_DESTRUCTIVE_TOOLS=true in env to leave those tools out.",
  ],
  aliases: ["k8s", "kubectl", "helm"],
  homepage: "https://github.com/Flux159/mcp-server-kubernetes",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
