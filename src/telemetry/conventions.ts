/**
 * Names of the OpenTelemetry conventions for MCP and generative AI, and our own, which begin with `claudikins.`. The conventions are in
 * development, so the names are literals here: an update of a package cannot change what dashboards ask for.
 */
import type { CallRequest } from "../sandbox/contract.ts";

export const attribute = {
  method: "mcp.method.name",
  tool: "gen_ai.tool.name",
  operation: "gen_ai.operation.name",
  arguments: "gen_ai.tool.call.arguments",
  result: "gen_ai.tool.call.result",
  session: "mcp.session.id",
  protocol: "mcp.protocol.version",
  request: "jsonrpc.request.id",
  transport: "network.transport",
  networkProtocol: "network.protocol.name",
  address: "server.address",
  port: "server.port",
  error: "error.type",
  server: "claudikins.server",
  door: "claudikins.door",
  outcome: "claudikins.outcome",
  state: "claudikins.state",
  startedBy: "claudikins.started_by",
  execution: "claudikins.execution.id",
  program: "claudikins.program",
  isContinued: "claudikins.execution.continued",
  calls: "claudikins.execution.calls",
  failures: "claudikins.execution.failures",
  line: "claudikins.call.line",
  waited: "claudikins.call.waited",
  notMade: "claudikins.call.not_made",
  call: "claudikins.call.number",
  approval: "claudikins.approval.id",
  duration: "claudikins.call.duration",
  sent: "claudikins.call.sent",
  argumentBytes: "claudikins.call.argument.size",
  resultBytes: "claudikins.call.result.size",
  decision: "claudikins.call.decision",
  labels: "claudikins.call.labels",
  agent: "claudikins.agent",
  config: "claudikins.config",
  personId: "user.id",
  personName: "user.name",
  token: "claudikins.token.id",
  pid: "process.pid",
  auditDecision: "claudikins.audit.decision",
  auditScope: "claudikins.audit.scope",
  changed: "claudikins.audit.changed",
  why: "claudikins.audit.why",
  decidedAt: "claudikins.audit.decider.place",
  decidedBy: "claudikins.audit.decider.id",
  decidedByName: "claudikins.audit.decider.name",
  decidedFrom: "claudikins.audit.decider.parent",
} as const;

/** The value of `gen_ai.operation.name` for calls of tools. */
export const executesTool = "execute_tool";

/** The value of `error.type` for a result with `isError`. */
export const toolError = "tool_error";

/** The bounds that the convention gives for durations of MCP, in seconds. */
export const durationBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** The method of MCP that a call of a program makes. */
export function methodOf({ group, name }: Pick<CallRequest, "group" | "name">): string {
  if (group === "tools") return "tools/call";
  return name === "templates" ? "resources/templates/list" : `${group}/${name}`;
}

/** A word for the kind of an error. Other errors than claudikins' own are `_OTHER`, as the conventions require. */
export function errorType(code: string | undefined): string {
  return code !== undefined && /^[A-Z][A-Z\d_]{0,39}$/.test(code) ? code : "_OTHER";
}
