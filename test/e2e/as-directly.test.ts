/** Everything that real servers give an agent directly also works through claudikins: roots, progress, images, forms, errors. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Entry, everything, filesystem, memory, sequentialThinking } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { compareWithDirect, type Step } from "./directly.ts";

// Real servers start slowly on a small machine.
setDefaultTimeout(120_000);

test("four servers answer through execute_code as they answer an agent directly, on the first call and later", async () => {
  using folder = temporaryFolder();
  const [root, other] = [join(folder.path, "root"), join(folder.path, "other")];
  for (const each of [root, other]) mkdirSync(each);
  folder.write("root/a.txt", "alpha\n");
  folder.write("other/b.txt", "beta\n");
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  await Bun.write(join(root, "pixel.png"), Buffer.from(pixel, "base64"));
  const servers: Record<string, Entry> = {
    everything: everything(),
    // The server's folder is not the agent's root, as in a user's own config.
    files: filesystem(other),
    memory: memory(join(folder.path, "graph.jsonl")),
    thinking: sequentialThinking(),
  };
  const steps: Step[] = [
    { server: "files", tool: "list_allowed_directories" },
    { server: "files", tool: "read_text_file", args: { path: join(other, "b.txt") } },
    { server: "files", tool: "read_text_file", args: { path: join(root, "a.txt") } },
    { server: "files", tool: "read_media_file", args: { path: join(root, "pixel.png") } },
    { server: "everything", tool: "echo", args: { message: "hello" } },
    { server: "everything", tool: "get-tiny-image" },
    { server: "everything", tool: "get-structured-content", args: { location: "Chicago" } },
    { server: "everything", tool: "get-annotated-message", args: { messageType: "error", includeImage: true } },
    { server: "everything", tool: "get-resource-links", args: { count: 2 } },
    { server: "everything", tool: "trigger-elicitation-request" },
    { server: "everything", tool: "trigger-sampling-request", args: { prompt: "say something", maxTokens: 10 } },
    { server: "everything", tool: "trigger-long-running-operation", args: { duration: 1, steps: 3 } },
    { server: "memory", tool: "open_nodes", args: { names: ["nobody"] } },
    {
      server: "thinking",
      tool: "sequentialthinking",
      args: { thought: "t", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false },
    },
  ];
  expect(await compareWithDirect({ folder, root, servers, steps })).toContain("progress");
});
