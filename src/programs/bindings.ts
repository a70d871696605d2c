/** The servers as a program sees them: namespaces of functions, and one function that makes every call. */

import { ClaudikinsError, isServerDown } from "../base/errors.ts";
import { requiredArguments } from "../base/json-schema.ts";
import type { TraceContext } from "../base/trace-context.ts";
import { modelServerName } from "../config/model-server.ts";
import type { MadeCall } from "../policy/approval-queue.ts";
import type { Call } from "../policy/call.ts";
import type { BindingCall, Bindings, BindingValue, CallPosition, Namespace, Suggestion } from "../sandbox/contract.ts";
import { shareListener } from "../servers/abort.ts";
import type { Request } from "../servers/connection/send-request.ts";
import { hintForModel } from "../servers/failures/fault.ts";
import { ConnectionLost } from "../servers/failures/server-failure.ts";
import { jsonValue } from "../servers/result.ts";
import { refusesArguments } from "../tools/arguments/argument-problems.ts";
import { findTool, type RegistryTool } from "../tools/model.ts";
import { isSearchQuick, search } from "../tools/search/search.ts";
import { signature } from "../tools/signature.ts";
import { callForValue, observedBy } from "./call.ts";
import { withinSpan } from "./call-observers.ts";
import type { plannedInquiry } from "./dry-run/plan.ts";
import { maxSourceChars } from "./limits.ts";
import { learnMentioned, mentions } from "./mentioned-servers.ts";
import type { pageValue } from "./pages.ts";
import type { Parts } from "./parts.ts";
import { registryFunction } from "./registry-functions.ts";
import { calledBy } from "./saved/callers.ts";
import { namesVersion, programsServer } from "./saved/model.ts";
import type { NamedVersions } from "./saved/named-versions.ts";
import { isOwnFunction, withOwnFunctions } from "./saved/namespace.ts";
import { requirePermission } from "./saved/permissions.ts";
import type { RequestingProgram } from "./saved/requesting-program.ts";
import { callerOwner } from "./saved/visible-programs.ts";
import { CodeSubscriptions, serverFunction } from "./server-functions.ts";
import type { CallSpans } from "./telemetry.ts";
import type { ToolCallListener } from "./tool-call-events.ts";

/** Tools with a smaller share of the best score are not suggested: they have little more than one word in common. */
const minSuggestionShare = 0.4;

/** The program whose bindings are made, and who hears of its calls. */
export interface BoundProgram {
  /** Gets what happens to the calls. */
  listener?: ToolCallListener | undefined;
  /** Whether servers are asked to report their progress. */
  wantsProgress?: boolean | undefined;
  requesting?: RequestingProgram | undefined;
  spans?: CallSpans | undefined;
  /** Whether servers stay as they are known, because the program is only checked. */
  startsNothing?: boolean | undefined;
}

/**
 * Makes the bindings of one program. Servers that the code names and that are not known are listed first, so that exact names are
 * known before the program runs. A server that cannot answer fails only when it is called. `own` is the call that runs the program: the
 * calls of the program have its origin and its trace.
 */
export async function bindingsFor(
  written: string,
  parts: Parts,
  own: Call = {},
  { listener = () => {}, wantsProgress = false, requesting = ofNobody, spans, startsNothing }: BoundProgram = {},
): Promise<Bindings> {
  const source = written.slice(0, maxSourceChars);
  if (!startsNothing) await learnMentioned(source, parts, own.signal);
  const subscriptions = new CodeSubscriptions(parts.pool);
  const { program, isForAgent, caller, dryRun } = requesting;
  const servers = parts.catalog.names.map(({ name, jsName }) => {
    const { description } = parts.config.servers.get(name) ?? {};
    return { ...namespaceOf(name, jsName, source, parts), description };
  });
  const usesPrograms = mentions(source, programsServer);
  const notModel = source.includes(`${modelServerName}.`) ? modelIfOff(parts) : [];
  const { programsFor, withPrograms, calledProgram } = usesPrograms ? await import("./saved/tools.ts") : {};
  const versions = usesPrograms && namesVersion(source) ? await versionsIn(source, requesting, parts) : undefined;
  const saved = programsFor?.(requesting, parts);
  const known = saved && withPrograms ? withPrograms(servers, saved) : servers;
  const shown = versions ? versions.among(known) : known;
  return {
    namespaces: [...(usesPrograms ? withOwnFunctions(shown, parts) : servers), ...notModel],
    suggest: (words, limit) => {
      const found = suggestions(words, limit, parts);
      // The registry has the programs of the user.
      const isOther = callerOwner(requesting, parts) !== undefined;
      return isOther ? found.filter(({ server }) => server !== programsServer) : found;
    },
    async refuses(server, name) {
      const tool = parts.catalog.findWithDenied(server)?.tools.find((each) => each.name === name);
      return !tool || refusesArguments(tool.inputSchema);
    },
    async call(call, given) {
      const { namespace, group, name, args } = call;
      // A question about the tools.
      if (namespace === "" && group === "tools") {
        return { json: JSON.stringify(await registryFunction(name, args, parts, given.signal, requesting)) };
      }
      if (notModel.length > 0 && namespace === modelServerName && group === "tools") throw modelOff();
      const place = given.made && new PlacedCall(source, given.made);
      const number = place?.call ?? 0;
      if (isOwnFunction(call, parts)) {
        const { ownFunction } = await import("./saved/own-functions.ts");
        const recorder = dryRun && { dryRun, call: number, line: place?.line, listener };
        return await ownFunction(name, args, requesting, parts, recorder);
      }
      const isProgram = namespace === programsServer && group === "tools";
      const version = isProgram ? versions?.find(name) : undefined;
      const known = version ?? (isProgram && saved ? calledProgram?.(name, saved, requesting, parts) : undefined);
      if (program) requirePermission(program, call, version?.name ?? known?.tool.name ?? toolNamed(call, parts));
      // Not async, because each async function on the path of a call adds to its time.
      const make = (trace: TraceContext | undefined): Promise<BindingValue> => {
        const { signal, clock } = given;
        // The calls of a program have one signal.
        shareListener(signal);
        const observer = { number, listener, dryRun };
        const made = observedBy(
          { signal, clock, made: place, origin: own.origin, caller, trace },
          observer,
          wantsProgress,
        );
        const { isSavedPrograms, isModel } = parts.config.servers.get(namespace) ?? {};
        if (group === "tools" && place && (isSavedPrograms || isModel)) {
          const { pause } = given;
          if (isSavedPrograms) made.repeatable = requesting.isStored();
          return calledBy({ ...requesting, position: place, version: version?.number, pause, signal }, (meta) => {
            made.meta = meta;
            return callForValue({ ...call, known }, parts, made, observer);
          });
        }
        if (group === "tools" && call.isPage) return pageOf(call, parts, made, observer);
        if (group === "tools") return callForValue(call, parts, made, observer);
        const planned = dryRun && planInquiry(parts, { dryRun, call: number, line: place?.line, listener, caller });
        const other = serverFunction(call, { pool: parts.pool, subscriptions, call: made, planned });
        return other.then((value) => jsonValue(JSON.stringify(value ?? null)));
      };
      try {
        return await withinSpan(spans, { call: number, trace: own.trace }, make);
      } catch (error) {
        throw isForAgent ? toldToModel(error, namespace, parts) : error;
      }
    },
  };
}

/** Code for versions is loaded only if a program names one. */
async function versionsIn(...given: ConstructorParameters<typeof NamedVersions>): Promise<NamedVersions> {
  const { NamedVersions } = await import("./saved/named-versions.ts");
  return new NamedVersions(...given);
}

/** A program that asks a model although the config does not allow it learns why this fails. */
function modelIfOff({ config: { servers, disabled } }: Pick<Parts, "config">): Namespace[] {
  if (servers.has(modelServerName) || disabled.has(modelServerName)) return [];
  return [{ name: modelServerName, jsName: modelServerName, functions: "any" }];
}

function modelOff(): ClaudikinsError {
  return new ClaudikinsError("MODEL_UNAVAILABLE", "Programs may not ask a model here", {
    hint: `Only the user can allow it, in claudikins.json: "askModel": true`,
  });
}

/** Code for pages is loaded only if a program uses them. */
async function pageOf(...given: Parameters<typeof pageValue>): Promise<BindingValue> {
  const { pageValue } = await import("./pages.ts");
  return pageValue(...given);
}

/** Answers the requests of a dry run about which a person would be asked. */
function planInquiry(parts: Parts, recorder: Parameters<typeof plannedInquiry>[3]) {
  return async (server: string, request: Request) => {
    const { plannedInquiry } = await import("./dry-run/plan.ts");
    return plannedInquiry(server, request, parts, recorder);
  };
}

/** The tool's own name, which code may write in another way. */
function toolNamed({ namespace, name }: BindingCall, { catalog }: Parts): string | undefined {
  const server = catalog.find(namespace);
  return server && findTool(server, name)?.name;
}

const ofNobody: RequestingProgram = {
  program: undefined,
  isForAgent: false,
  host: undefined,
  starter: undefined,
  caller: undefined,
  dryRun: undefined,
  isStored: () => false,
  lastProgram: () => undefined,
  runsOf: async () => [],
};

/** Gives a model the hint about a server that is down as a message for its user: only a person can follow it. */
function toldToModel(error: unknown, server: string, { pool, config }: Parts): unknown {
  if (!(error instanceof ClaudikinsError) || !config.servers.has(server)) return error;
  // The hint of a lost request is for its caller. A server that works may have refused only this call.
  if (error instanceof ConnectionLost || !(isServerDown(error.code) || error.code === "PROTOCOL_ERROR")) return error;
  const fault = pool.fault(server);
  if (!fault) return error;
  return new ClaudikinsError(error.code, error.message, { hint: hintForModel(fault), cause: error });
}

/** Finds the text of the line only if a person is asked about the call. */
class PlacedCall implements MadeCall {
  readonly execution: string;
  readonly call: number;
  readonly line: number | undefined;
  readonly #source: string;

  constructor(source: string, { execution, call, line }: CallPosition) {
    this.#source = source;
    this.execution = execution;
    this.call = call;
    this.line = line;
  }

  get code(): string | undefined {
    return this.line === undefined ? undefined : this.#source.split("\n", this.line)[this.line - 1];
  }
}

function namespaceOf(name: string, jsName: string | undefined, source: string, parts: Parts): Namespace {
  const known = parts.catalog.find(name);
  if (!known) return { name, jsName, functions: "any" };
  const server = { ...known, jsName };
  const held = parts.catalog.heldTools(name);
  const all = [...(parts.catalog.findWithDenied(name)?.tools ?? []), ...held];
  const shown = new Set(known.tools.map((tool) => tool.name));
  // The program learns of no denied or held tool that it does not name itself.
  const isNamed = (tool: Pick<RegistryTool, "name" | "jsName">) =>
    mentions(source, tool.name) || (tool.jsName !== undefined && mentions(source, tool.jsName));
  return {
    name,
    jsName,
    hidden: all
      .filter((tool) => !shown.has(tool.name) && isNamed(tool))
      .map((tool) => ({ name: tool.name, jsName: tool.jsName })),
    mayGrow: parts.pool.announcesTools(name),
    functions: known.tools.map((tool) => ({
      name: tool.name,
      jsName: tool.jsName,
      get inputSchema() {
        const { inputSchema } = tool;
        return { ...inputSchema, required: [...requiredArguments(inputSchema, inputSchema)] };
      },
      get signature() {
        return signature(server, tool);
      },
    })),
  };
}

/** Suggests tools without starting a server. A damaged registry suggests nothing. */
function suggestions(words: string, limit: number, parts: Parts): Suggestion[] {
  if (parts.catalog.index.servers.length === 0 || !isSearchQuick(parts.catalog)) return [];
  const { tools } = search(words, limit, parts.catalog);
  const best = tools[0]?.score ?? 0;
  return tools
    .filter(({ kind, score }) => kind === "tool" && score >= best * minSuggestionShare)
    .map(({ server, name, signature: shown }) => {
      const tool = parts.catalog.find(server)?.tools.find((each) => each.name === name);
      return { server, name: tool?.jsName ?? name, signature: shown };
    });
}
