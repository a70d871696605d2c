/** The source files from which the executable is bundled. */
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** Below src. Workers are separate entries, which the executable starts by their paths. */
const files = [
  "main.ts",
  "sandbox/worker.ts",
  "clients/decoding/worker.ts",
  "registry/work/worker.ts",
  "server/content/worker.ts",
  "approvals/worker.ts",
  "store/worker.ts",
  "trace/page/worker.ts",
  "cli/signal-guard/worker.ts",
];

export const entries: string[] = files.map((file) => join(root, "src", file));

/** Puts sdk-shims.ts in the place of a part of the SDK. */
export const sdkShims: Bun.BunPlugin = {
  name: "sdk-shims",
  setup(build) {
    const path = join(import.meta.dir, "sdk-shims.ts");
    build.onResolve({ filter: /^@modelcontextprotocol\/(?:client|server)\/_shims$/ }, () => ({ path }));
  },
};
