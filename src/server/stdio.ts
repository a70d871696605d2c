/** The MCP front door on stdin and stdout: one session, as long as the process. */
import type { Toolbox } from "../flows/toolbox.ts";
import { answerFirst } from "./first-answers.ts";
import { sessionMode } from "./proxy/mode.ts";
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
  const mode = sessionMode(toolbox);
  const surface = mode === "code" ? surfaceOf(toolbox) : undefined;
  const known = surface && { serverInfo, capabilities, ...surface };
  const begun = known && (await answerFirst(process.stdin, process.stdout, known, over.signal));
  if (!over.signal.aborted) {
    const { serveSession } = await import("./stdio-session.ts");
    await serveSession(toolbox, mode, { surface, begun }, over);
  }
  process.stdin.destroy();
}
