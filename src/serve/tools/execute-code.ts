/** The MCP tool `execute_code`: runs TypeScript and returns its value, logs and a receipt. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { isServerDown } from "../../base/errors.ts";
import { largeJsonChars } from "../../base/limits.ts";
import { TookTooLong } from "../../base/off-thread.ts";
import { oneLine } from "../../base/visible-text.ts";
import { maxTimeoutMs } from "../../config/limits.ts";
import type { Config } from "../../config/load.ts";
import { pagePath } from "../../config/oidc.ts";
import { awaitsApproval } from "../../policy/approvals/awaited.ts";
import { agentOfUser, type RequestingAgent } from "../../programs/execution/asker.ts";
import type { FollowedExecution } from "../../programs/execution/running-execution.ts";
import { receiptText } from "../../programs/outcome-text.ts";
import { markOutputs, readOutcome } from "../../programs/program-reads.ts";
import type { Outcome, Receipt } from "../../sandbox/contract.ts";
import { onAbort } from "../../servers/abort.ts";
import type { Approval } from "../../store/approval.ts";
import type { LearnedType } from "../../tools/catalog/observer.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { toolId } from "../../tools/model.ts";
import { changedPart, tellingPart } from "../../tools/observed/differences.ts";
import { type DownServer, downServers, downText } from "../../tools/search/down-servers.ts";
import { formatOf, observedType, resultType } from "../../tools/signature.ts";
import { contentWithoutFiles, type OutputOptions, textResult } from "../content/bounded-content.ts";
import { contentInWorker } from "../content/work.ts";
import { leftToOthers } from "../host-request.ts";
import type { ToolCallContext } from "./call-context.ts";

/** Time after which a call is answered while its program continues. Most agents do not wait longer. */
const usualAnswerMs = 50_000;

/** Time that a patient agent waits when it asks for an outcome again. */
const patientResumeMs = 600_000;

/** Time for a program in the background to end at once. Otherwise its call is answered with its id. */
const backgroundAnswerMs = 100;

/** Characters of the list of an execution's calls in an answer. */
const maxCallsChars = 300;

/** Approvals that an answer names. */
const maxNamedApprovals = 5;

/** Characters of the reason why a person is asked, which a rule of any length may be. */
const maxWaitingWhyChars = 400;

/** Types of results in an answer. More would be more than a model needs to read at once. */
const maxNewTypes = 5;

export const executeCode: Tool = {
  name: "execute_code",
  title: "Execute code",
  description:
    "Run TypeScript that calls tools: `await server.tool({ ... })`. Do all you can in one program, calls together. Results " +
    "are whole; only what is returned or logged is shown, so filter. A failed call throws; only files stay.",
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string" },
      timeout_ms: { type: "integer", default: 30_000 },
      dry_run: { type: "boolean" },
      background: { type: "boolean", description: "Returns an id for resume" },
      resume: { type: "string", description: "Waits for that id" },
    },
  },
};

export async function callExecuteCode(
  args: Record<string, unknown>,
  app: App,
  signal: AbortSignal,
  context: ToolCallContext = {},
): Promise<CallToolResult> {
  const { resume } = args;
  const followed =
    resume === undefined
      ? await started(args, app, signal, context)
      : await resumed(resume, args["code"], app, context);
  if ("content" in followed) return followed;
  cancelWith(context.asker?.ended, followed);
  context.claimed?.onExecution(followed);
  context.span?.executes(followed.id);
  const outcome = await outcomeInTime(followed, args, app, signal, context);
  if (!outcome) return textResult(await waitingText(followed, app));
  if (resume !== undefined) await readOutcome(followed.id, outcome, context.asker ?? agentOfUser, app);
  const { folders, limits } = app.config;
  const { workspace, bases } = folders;
  const { receipt } = outcome;
  const { mentioned, saidTypes = new Map() } = context;
  const result = await contentFor(outcome, { maxChars: limits.outputChars, workspace, bases }, app, context.asker);
  const executions = await app.executions();
  const more = [
    await plannedText(outcome),
    executions.repeated.has(outcome) ? await keepText(app) : "",
    downAfter(outcome, app, mentioned),
    await learnedTypes({ receipt, startedAt: followed.startedAt, content: result.content }, app.catalog, saidTypes),
  ].filter(Boolean);
  return { ...result, content: [...result.content, ...more.map((text) => ({ type: "text" as const, text }))] };
}

/** Starts the program, or says what is wrong with the request. */
async function started(
  args: Record<string, unknown>,
  app: App,
  signal: AbortSignal,
  { onProgress, identity: host, claimed, trace, asker = agentOfUser }: ToolCallContext,
): Promise<FollowedExecution | CallToolResult> {
  const { code, background, dry_run: isDryRun = false } = args;
  const timeoutMs = args["timeout_ms"] ?? args["timeout"];
  if (typeof code !== "string") return textResult('execute_code needs "code": TypeScript as one string', true);
  if (
    timeoutMs !== undefined &&
    !(Number.isInteger(timeoutMs) && Number(timeoutMs) >= 1 && Number(timeoutMs) <= maxTimeoutMs)
  ) {
    return textResult(`"timeout_ms" must be a whole number of milliseconds from 1 to ${maxTimeoutMs}`, true);
  }
  if (typeof isDryRun !== "boolean") return textResult('"dry_run" must be true or false', true);
  if (isDryRun && background === true) return textResult("A dry run cannot run in the background", true);
  const executions = await app.executions();
  const dryRun = isDryRun ? new (await import("../../programs/dry-run/dry-run.ts")).DryRun() : undefined;
  const limits = { timeoutMs: timeoutMs as number | undefined };
  const { starter } = asker;
  const { claim } = claimed ?? {};
  const tape = dryRun ? undefined : app.recordings?.newTape();
  const agent = { host, claim, starter, isForAgent: true };
  const request = { source: code, limits, signal, trace, onProgress, ...agent, dryRun, tape };
  const running = executions.start(request, app, { isBackground: background === true });
  if (tape) app.recordings?.keep(running, tape, code, app);
  return running;
}

/** Cancels the execution when its agent may no longer call, even if it runs in the background. */
function cancelWith(ended: AbortSignal | undefined, followed: FollowedExecution): void {
  if (!ended) return;
  const stop = onAbort(ended, () => followed.cancel());
  void followed.outcome.catch(() => {}).finally(stop);
}

async function resumed(
  id: unknown,
  code: unknown,
  app: App,
  { asker = agentOfUser }: ToolCallContext,
): Promise<FollowedExecution | CallToolResult> {
  if (typeof id !== "string") return textResult('"resume" takes the id of an execution as a string', true);
  if (code !== undefined) return textResult('Give "code" or "resume", not both', true);
  const followed = await (await app.executions()).follow(id, app, asker);
  return followed;
}

/** Agents that wait for as long as a call takes. */
const patientHosts: ReadonlySet<string> = new Set(["claude-code"]);

/** Waits for the outcome for as long as the agent does. Undefined if it must ask for the outcome later. */
async function outcomeInTime(
  followed: FollowedExecution,
  { background, resume }: Record<string, unknown>,
  app: App,
  signal: AbortSignal,
  { identity, task, onProgress }: ToolCallContext,
): Promise<Outcome | undefined> {
  const { config, approvals, pool } = app;
  const patient = resume === undefined ? false : patientResumeMs;
  const usual = patientHosts.has(identity?.name ?? "") ? patient : usualAnswerMs;
  const allowed = task ? false : (config.executions.answerAfterMs ?? usual);
  const answerAfterMs = background === true ? backgroundAnswerMs : allowed;
  const late = Promise.withResolvers<undefined>();
  const timer = answerAfterMs === false ? undefined : setTimeout(() => late.resolve(undefined), answerAfterMs);
  // An agent that asks for an outcome again, or runs a program in the background or as a task, may stop waiting for it.
  const isKept = () => followed.isHandedOut && (task !== undefined || signal.reason === leftToOthers);
  let isLeft = false;
  void followed.left?.then(() => {
    isLeft = true;
    late.resolve(undefined);
  });
  const cancels = () => resume === undefined && background !== true && !isLeft && !isKept();
  const stop = onAbort(signal, () => (cancels() ? followed.cancel() : late.resolve(undefined)));
  const ended = new AbortController();
  // An agent that asks again knows it, and waits for the user.
  if (resume === undefined) {
    const options = { approvals, isAsking: () => pool.isAsking, signal: ended.signal };
    void awaitsApproval(followed.id, options).then(async (isAwaited) => {
      if (!task) late.resolve(undefined);
      else if (isAwaited) onProgress?.((await waitingText(followed, app)).replaceAll("\n", " "));
    });
  }
  try {
    const outcome = await Promise.race([followed.outcome, late.promise]);
    if (!outcome) await followed.handOut();
    if (followed.isReleased) return undefined;
    // It may have ended before its id could be handed out. Then nothing of it is kept.
    return outcome ?? (followed.isHandedOut ? undefined : followed.outcome);
  } finally {
    clearTimeout(timer);
    ended.abort();
    stop();
  }
}

/** Tells the agent about a program that is not done. */
async function waitingText(followed: FollowedExecution, { approvals, catalog, config }: App): Promise<string> {
  const [progress, open] = await Promise.all([followed.progress(), approvals.open({ execution: followed.id })]);
  if (open.length > 0)
    return [...approvalLines(followed.id, open, catalog), decidersText(config), laterText(followed.id)].join("\n");
  const how =
    progress.state === "asleep" ? `sleeps until ${new Date(progress.until).toISOString()}` : "is not done yet";
  const calls = progress.state === "running" ? progress.calls.join(", ").slice(0, maxCallsChars) : "";
  return [
    `The execution ${followed.id} ${how}${calls === "" ? "" : `: it waits for ${calls}`}.`,
    laterText(followed.id),
  ].join(" ");
}

function laterText(id: string): string {
  return `To get its outcome later, call execute_code with {"resume": "${id}"}.`;
}

function approvalLines(id: string, open: readonly Approval[], catalog: ToolCatalog): string[] {
  const waiting = open.slice(0, maxNamedApprovals).map(({ id: approval, server, tool, line, told, askedAt }) => {
    const where = line === null ? "" : ` (line ${line})`;
    return `- ${toolId(server, catalog.shownName(server, tool))}${where}, since ${new Date(askedAt).toISOString()}: approval ${approval}. Asked because ${oneLine(told, maxWaitingWhyChars)}`;
  });
  const more = open.length > maxNamedApprovals ? [`- and ${open.length - maxNamedApprovals} more`] : [];
  return [`The execution ${id} waits until a person approves or denies:`, ...waiting, ...more];
}

/** Tells the agent who decides. */
function decidersText({ person, oidc }: Config): string {
  if (!person) return "Tell the user, who decides with `claudikins ui`, or with `claudikins approvals` in a terminal.";
  const { approvers = [], address, clientId } = oidc ?? {};
  const groups = approvers.filter((each) => each !== "*");
  const who =
    approvers.length === 0
      ? "whoever runs claudikins for them"
      : groups.length < approvers.length
        ? "everybody who has signed in"
        : `the people in ${groups.join(" or ")}`;
  const where =
    clientId === undefined ? "" : `, on the page ${address ?? "of claudikins"}${address === undefined ? "" : pagePath}`;
  return `Tell the user that these may approve it: ${who}${where}.`;
}

/** Asks an agent once whether to keep a program that it has run three times. */
async function keepText(app: App): Promise<string> {
  const { isTaken } = await import("../../programs/saved/namespace.ts");
  if (isTaken(app)) return "";
  return "You have run nearly this program three times. Keep it? await programs.save({ name, input }) makes it a tool; values in input become its inputs.";
}

/** What a dry run would have called. */
async function plannedText({ dryRun }: Outcome): Promise<string> {
  if (!dryRun) return "";
  const { dryRunText } = await import("../../programs/dry-run/report-text.ts");
  return dryRunText(dryRun);
}

/**
 * After a call of a server that is down: all servers that are down, without the ones that an answer or the error has named. Servers that
 * were down last time may work now, and are named only to a program that has called them.
 */
function downAfter(outcome: Outcome, app: App, mentioned = new Set<string>()): string {
  const failing = Object.entries(outcome.receipt.tools).flatMap(([id, { failures }]) => (failures > 0 ? [id] : []));
  const down = failing.length > 0 ? downServers(app) : [];
  const isCalled = ({ server }: DownServer) => failing.some((id) => id.startsWith(`${server}.`));
  if (!down.some(isCalled)) return "";
  const message = outcome.ok || !isServerDown(outcome.error.code) ? "" : outcome.error.message;
  const told = down.filter((each) => !each.isPast || isCalled(each));
  const due = told.filter(({ server }) => !mentioned.has(server) && !message.includes(`"${server}"`));
  for (const { server } of told) mentioned.add(server);
  return downText(due);
}

/**
 * Makes the content of an outcome. For a large one, a worker does it. It also writes the file with a text that is too long, because the
 * workspace is measured first.
 */
async function contentFor(
  outcome: Outcome,
  options: OutputOptions,
  app: App,
  asker: RequestingAgent | undefined,
): Promise<CallToolResult> {
  const { logs, display, receipt, dryRun } = outcome;
  const isLarge = receipt.charsOut > largeJsonChars || (outcome.ok && outcome.json !== undefined);
  const small = isLarge ? undefined : contentWithoutFiles(outcome, options);
  if (small) return small;
  await markOutputs(asker, app);
  try {
    const json = outcome.ok ? (outcome.json ?? JSON.stringify(outcome.value)) : undefined;
    const withoutValue: Outcome = outcome.ok
      ? { ok: true, value: undefined, logs, display, receipt, ...(dryRun ? { dryRun } : {}) }
      : outcome;
    const content = await contentInWorker(json, { outcome: withoutValue, options });
    await (await app.sharedWorkspace())?.keep();
    return content;
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    const text = `(the answer has ${receipt.charsOut} characters and could not be shown in time: return or display less)`;
    return textResult(`${text}\n\n${receiptText(receipt)}`);
  }
}

interface Answer {
  receipt: Receipt;
  /** When the program began, in milliseconds since 1970. */
  startedAt: number;
  content: CallToolResult["content"];
}

/**
 * Tells a model the result types that its program was the first to see, so that it need not print results to learn them. It names each new
 * type once, with the tools that have it, and the changes of known types. `said` has the types that the session has been told, by tool.
 * Types that the answer shows in full are left out.
 */
async function learnedTypes(
  { receipt, startedAt, content }: Answer,
  { observer }: ToolCatalog,
  said: Map<string, string>,
): Promise<string> {
  if (receipt.calls === 0) return "";
  const shown = content.map((each) => (each.type === "text" ? each.text : "")).join("\n");
  const learned = (await observer.learnedSince(startedAt)).flatMap((each) => {
    const id = toolId(each.server, each.tool.name);
    const type = Object.hasOwn(receipt.tools, id) ? learnedType(each) : undefined;
    if (type === undefined || said.get(id) === type) return [];
    said.set(id, type);
    return each.before === undefined && isIn(shown, type) ? [] : [{ id, type, isNew: each.before === undefined }];
  });
  const lines = [true, false].flatMap((isNew) => {
    const types = Map.groupBy(
      learned.filter((each) => each.isNew === isNew),
      ({ type }) => type,
    );
    const all = [...types].map(([type, tools]) => `${tools.map(({ id }) => id).join(", ")} → ${type}`);
    if (all.length === 0) return [];
    return [isNew ? "Observed result types:" : "Changed in observed result types:", ...all.slice(0, maxNewTypes)];
  });
  return lines.join("\n");
}

/** The new type, or its changed part. Undefined if it says nothing, or was known without a call. */
function learnedType({ tool, before }: LearnedType): string | undefined {
  const { observed = {}, outputSchema, known } = tool;
  if (before === undefined && !outputSchema && known?.type !== undefined) return undefined;
  const [type, format] = [resultType(tool), formatOf(tool)];
  const isSameType = type === resultType({ ...tool, observed: before });
  if (isSameType && format === formatOf({ ...tool, observed: before })) return undefined;
  const comment = format === undefined || /sentence/.test(format) ? "" : ` /* ${format} */`;
  if (isSameType && comment === "") return undefined;
  if (isSameType || (outputSchema && before === undefined)) return `${type}${comment}`;
  const part = before ? changedPart(before, observed) : observed;
  const telling = part && tellingPart(part);
  if (!telling || (format !== undefined && comment === "")) return undefined;
  return `${observedType(telling)}${comment}`;
}

/** Whether an answer names all fields of a type. */
function isIn(shown: string, type: string): boolean {
  const names = [...type.matchAll(/([\w$-]+)"?\??: /g)].map(([, name]) => name);
  return names.length > 0 && names.every((name) => shown.includes(`"${name}"`));
}
