/** The MCP server on stdin and stdout: one session per process. */
import type { Toolbox } from "../toolbox/toolbox.ts";
import { answerFirst } from "./first-answers.ts";
import { sessionMode } from "./proxy/mode.ts";
import { SessionCount } from "./session-count.ts";
import { capabilities, serverInfo, surfaceOf } from "./surface.ts";

/** Serves until the agent closes stdin or `interrupted` aborts. Running executions are cancelled then. */
export async function serveStdio(toolbox: Toolbox, interrupted: AbortSignal): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdout.on("error", end);
  if (interrupted.aborted) end();
  interrupted.addEventListener("abort", end, { once: true });
  // Reading from a terminal would keep the process alive, so it is not read at all.
  if (over.signal.aborted) return void process.stdin.destroy();
  const mode = sessionMode(toolbox);
  const beginning = mode === "code" ? await beginCode(toolbox, over.signal) : {};
  if (!over.signal.aborted) {
    const { serveSession } = await import("./stdio-session.ts");
    await serveSession(toolbox, mode, beginning, over);
  }
  process.stdin.destroy();
}

async function beginCode(toolbox: Toolbox, over: AbortSignal) {
  const surface = surfaceOf(toolbox);
  const count = new SessionCount(toolbox, surface.instructions);
  const begun = await answerFirst(process.stdin, process.stdout, { serverInfo, capabilities, ...surface }, over);
  if (begun.listed) count.listed(begun.listed);
  return { surface, count, begun };
}
