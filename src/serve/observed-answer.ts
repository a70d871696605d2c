/** Answers a request within its span. */
import type { App } from "../app/app.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { RequestSpan } from "../programs/telemetry.ts";
import type { HostRequest } from "./host-request.ts";

export interface Observed {
  /** The trace of what the request causes. */
  trace: TraceContext | undefined;
  /** Undefined if nothing is sent. */
  span: RequestSpan | undefined;
}

/** `tool` is the name of a tool that exists. Rejects as `answer` does. */
export async function observedAnswer<Result extends { isError?: unknown }>(
  { method, origin, identity }: HostRequest,
  { telemetry, config: { door, person } }: App,
  tool: string | undefined,
  answer: (observed: Observed) => Promise<Result>,
): Promise<Result> {
  const span = telemetry?.request({ method, tool, ...origin, protocol: identity.protocol, door, person: person?.id });
  if (!span) return answer({ trace: origin.trace, span });
  try {
    const result = await span.run(() => answer({ trace: span.trace, span }));
    span.ended(result.isError === true ? "tool_error" : undefined);
    return result;
  } catch (error) {
    const { code } = error as { code?: unknown };
    span.ended(["string", "number"].includes(typeof code) ? String(code) : "_OTHER");
    throw error;
  }
}
