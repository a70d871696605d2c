/** Finds the mistakes in a program that is being written. Nothing runs, and no server is started: tools are as they were listed last. */
import { OffThread, TookTooLong } from "../../base/off-thread.ts";
import type { Bindings, KnownFunction, Namespace } from "../../sandbox/contract.ts";
import { bindingsFor } from "../bindings.ts";
import { mentions } from "../mentioned-servers.ts";
import type { Parts } from "../parts.ts";
import { type CheckJob, functionKey, type PlacedMistake } from "./job.ts";

/** Time for a worker to read and check a program. */
const checkCodeMs = 10_000;

const workers = new OffThread<CheckJob, { mistakes: PlacedMistake[] }>("./programs/checking/worker.ts", {
  maxWorkers: 1,
});

/** The mistakes that `execute` would refuse, in the order of the code. None if the check takes too long. Throws what the signal says. */
export async function mistakesIn(source: string, parts: Parts, signal?: AbortSignal): Promise<PlacedMistake[]> {
  const { check } = parts.config;
  const bindings = await bindingsFor(source, parts, { signal }, { startsNothing: true });
  const named = bindings.namespaces.filter(
    ({ name, jsName = name }) => mentions(source, name) || mentions(source, jsName),
  );
  const job: CheckJob = {
    source,
    namespaces: named.map((each) => plainNamespace(each, source)),
    tolerant: await tolerantIn(named, source, bindings),
    isSyntaxOnly: check === "off",
    isWarning: check === "warn",
  };
  try {
    return (await workers.run(job, { limitMs: checkCodeMs, signal })).mistakes;
  } catch (error) {
    if (error instanceof TookTooLong) return [];
    throw error;
  }
}

/** A copy for the worker. Only functions that the code names have their schemas, which may be large. */
function plainNamespace({ functions, hidden, ...rest }: Namespace, source: string): Namespace {
  const plain = (each: KnownFunction): KnownFunction => {
    const { name, jsName } = each;
    if (!isNamed(each, source)) return { name, jsName };
    return { name, jsName, inputSchema: each.inputSchema, signature: each.signature };
  };
  return {
    ...rest,
    functions: functions === "any" ? "any" : functions.map(plain),
    hidden: (hidden ?? []).map(({ name, jsName }) => ({ name, jsName })),
  };
}

function isNamed({ name, jsName = name }: Pick<KnownFunction, "name" | "jsName">, source: string): boolean {
  return mentions(source, jsName) || mentions(source, name);
}

async function tolerantIn(namespaces: readonly Namespace[], source: string, { refuses }: Bindings): Promise<string[]> {
  const named = namespaces.flatMap(({ name: server, functions }) =>
    functions === "any" ? [] : functions.filter((each) => isNamed(each, source)).map(({ name }) => ({ server, name })),
  );
  const answers = await Promise.all(
    named.map(({ server, name }) => refuses?.(server, name).catch(() => false) ?? true),
  );
  return named.filter((_, place) => !answers[place]).map(({ server, name }) => functionKey(server, name));
}
