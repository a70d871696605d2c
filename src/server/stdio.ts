/** The MCP front door on stdin and stdout: one session, as long as the process. */
import type { Toolbox } from "../flows/toolbox.ts";
import { answerFirst } from "./first-answers.ts";
import { SessionCount } from "./session-count.ts";
import { capabilities, serverInfo, surfaceOf } from "./surface.ts";

/** Serves until the host closes stdin or `interrupted` is aborted; executions that run then are cancelled. */
export async function serveStdio(toolbox: Toolbox, interrupted: AbortSignal): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdout.on("error", end);
  if (interrupted.aborted) end();
  interrupted.addEventListener("abort", end, { once: true });
  const surface = surfaceOf(toolbox);
  const count = new SessionCount(toolbox, surface.instructions);
  const begun = await answerFirst(process.stdin, process.stdout, { serverInfo, capabilities, ...surface }, over.signal);
  if (begun.isListed) count.listed(surface.tools);
  if (!over.signal.aborted) {
    const { serveSession } = await import("./stdio-session.ts");
    await serveSession(toolbox, { surface, count, begun }, over);
  }
  process.stdin.destroy();
}
