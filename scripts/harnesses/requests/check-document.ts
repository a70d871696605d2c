/**
 * Calls all operations of a document at a server that records requests, with arguments that are made from the schemas of the tools and from the
 * schemas of the document, and compares each request with the document.
 */
import type { Tool } from "@modelcontextprotocol/client";
import { sourceSender } from "../../../src/servers/network/source-sender.ts";
import type { Api, Operation } from "../../../src/sources/openapi/api.ts";
import { apiSource } from "../../../src/sources/openapi/source.ts";
import { checkArguments } from "../../../src/tools/arguments/check-arguments.ts";
import { type DocumentBody, type DocumentOperation, OpenDocument, type Place } from "./document.ts";
import { faultsOf, type Meant, type Received } from "./received.ts";
import { isBytes } from "./schemas.ts";
import { type Problem, problemsOf } from "./validity.ts";
import { type Making, NoValue, valueFor } from "./values.ts";

export interface Report {
  operations: number;
  requests: number;
  /** Operations without a request, because no arguments are found. */
  withoutValues: number;
  /** Values that the shortened schema of a tool accepts and the document does not. */
  shortened: number;
  faults: { operation: string; text: string }[];
}

/** Parameters that the sign-in sends. */
const credential = /token|key|authorization/i;

const files = (path: string) => `the bytes of ${path}`;

export async function checkDocument(api: Api, file: string, value?: unknown): Promise<Report> {
  const document = new OpenDocument(file, value);
  const report: Report = { operations: 0, requests: 0, withoutValues: 0, shortened: 0, faults: [] };
  using recorder = new Recorder();
  const source = await apiSource(api, {
    entry: "api",
    baseUrl: recorder.url,
    auth: undefined,
    maySignIn: false,
    files: { read: async (path) => new TextEncoder().encode(files(path)), write: async (name) => name },
    sender: async (origins) =>
      sourceSender({ endpoint: { headers: {} }, origins, access: undefined, alwaysSignsIn: false, sentBy: undefined }),
  });
  const known = new Map(
    api.operations.map((each, at) => [`${each.method} ${each.path}`, { operation: each, tool: api.tools[at]! }]),
  );
  for (const described of document.operations()) {
    const name = `${described.method} ${described.path}`;
    const found = known.get(name);
    report.operations++;
    const tell = (text: string) => report.faults.push({ operation: name, text });
    if (!found) {
      tell("there is no tool");
      continue;
    }
    const { operation, tool } = found;
    for (const one of argumentsFor(document, described, operation, tool)) {
      if (!one) {
        report.withoutValues++;
        continue;
      }
      const { args, open } = one;
      for (const problem of await checkArguments(tool.inputSchema as never, args as never))
        tell(`the tool refuses: ${problem}`);
      const meant = meantBy(described, operation, args);
      const isOpen = (pointer: string) => open.has(pointer) || [...open].some((each) => pointer.startsWith(`${each}/`));
      const weight = ({ pointer }: Problem) => (isOpen(pointer) ? 0 : 1);
      const problems = invalidIn(document, described, meant, operation, weight);
      for (const { pointer, text } of problems) {
        // A description names the alternatives of required fields.
        const isTold =
          text === "is missing" &&
          new RegExp(`Needs [^.]*\\b${RegExp.escape(pointer.slice(1))}\\b`).test(tool.description ?? "");
        if (isTold || isOpen(pointer)) report.shortened++;
        else tell(`the document refuses ${pointer}: it ${text}`);
      }
      try {
        recorder.last = undefined;
        await source.call(tool.name, args as never, { signal: AbortSignal.timeout(30_000) });
        report.requests++;
        if (!recorder.last) tell("no request arrived");
        else {
          const { last } = recorder as { last: Received };
          if (last.method !== described.method) tell(`the method is ${last.method}`);
          for (const fault of faultsOf(document, described.path, meant, last)) tell(fault);
        }
      } catch (error) {
        tell(`the call fails: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  await source.close();
  return report;
}

class Recorder implements Disposable {
  last: Received | undefined;
  readonly #server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const [, path = "", query = ""] = /^https?:\/\/[^/]+([^?]*)\??(.*)$/.exec(request.url) ?? [];
      const body = new Uint8Array(await request.arrayBuffer());
      this.last = { method: request.method, path, query, headers: request.headers, body };
      return Response.json({});
    },
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

interface Made {
  args: Record<string, unknown>;
  open: Set<string>;
}

function argumentsFor(
  document: OpenDocument,
  described: DocumentOperation,
  operation: Operation,
  tool: Tool,
): (Made | undefined)[] {
  const made = [true, false].flatMap((isFull) => [
    attempt(() => fromTool(operation, tool, isFull)),
    attempt(() => fromDocument(document, described, operation, isFull)),
  ]);
  const texts = made.map((each) => JSON.stringify(each?.args ?? null));
  return made.filter((_, at) => texts.indexOf(texts[at]!) === at);
}

function attempt(make: () => Made): Made | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}

const isPlainPlace = (where: string | undefined) => where === "header" || where === "cookie";

function fromTool(operation: Operation, tool: Tool, isFull: boolean): Made {
  const document = new OpenDocument(`/${tool.name}`, tool.inputSchema);
  const args: Record<string, unknown> = {};
  const open = new Set<string>();
  const required = tool.inputSchema.required ?? [];
  for (const name of Object.keys(tool.inputSchema.properties ?? {})) {
    if (!isFull && !required.includes(name)) continue;
    const isPlain = isPlainPlace(operation.parameters.find(({ argument }) => argument === name)?.in);
    const making: Making = { document, isFull, side: "tool", isPlain, open };
    add(args, name, required.includes(name), () =>
      valueFor(
        making,
        { value: (tool.inputSchema.properties as Record<string, unknown>)[name], file: document.root.file },
        `/${name}`,
      ),
    );
  }
  return { args, open };
}

function fromDocument(
  document: OpenDocument,
  described: DocumentOperation,
  operation: Operation,
  isFull: boolean,
): Made {
  const args: Record<string, unknown> = {};
  const open = new Set<string>();
  const making: Making = { document, isFull, side: "request", open };
  for (const parameter of described.parameters) {
    const known = operation.parameters.find((each) => each.in === parameter.in && each.name === parameter.name);
    if (!known || known.constant !== undefined || (!isFull && !parameter.isRequired)) continue;
    const { argument } = known;
    add(args, argument, parameter.isRequired, () =>
      valueFor({ ...making, isPlain: isPlainPlace(parameter.in) }, parameter.schema, `/${argument}`),
    );
  }
  const { body } = operation;
  const schema = body && bodyFor(described, body)?.schema;
  if (body && schema && (isFull || described.isBodyRequired)) {
    const { argument } = body;
    if (argument !== undefined) {
      if (body.kind === "binary") args[argument] = "workspace/file.bin";
      else add(args, argument, described.isBodyRequired, () => valueFor(making, schema, `/${argument}`));
    } else Object.assign(args, isBytes(document, schema) ? { file: "workspace/file.bin" } : valueFor(making, schema));
  }
  return { args, open };
}

function add(args: Record<string, unknown>, name: string, isRequired: boolean, make: () => unknown): void {
  try {
    args[name] = make();
  } catch (error) {
    if (isRequired || !(error instanceof NoValue)) throw error;
  }
}

function bodyFor(described: DocumentOperation, { mediaType }: { mediaType: string }): DocumentBody | undefined {
  const wild = [...(described.bodies ?? [])].find(([name]) => name.includes("*"));
  return described.bodies?.get(mediaType) ?? wild?.[1];
}

function meantBy(described: DocumentOperation, operation: Operation, args: Record<string, unknown>): Meant {
  const parameters = described.parameters.flatMap((parameter) => {
    const known = operation.parameters.find((each) => each.in === parameter.in && each.name === parameter.name);
    const value = known && (args[known.argument] ?? known.constant);
    return value === undefined ? [] : [{ parameter, value }];
  });
  const { body } = operation;
  const taken = new Set(operation.parameters.map(({ argument }) => argument));
  const fields = Object.entries(args).filter(([name]) => !taken.has(name));
  const whole = body?.argument === undefined ? Object.fromEntries(fields) : args[body.argument];
  const value = body?.argument === undefined && fields.length === 0 && !described.isBodyRequired ? undefined : whole;
  return { parameters, files, ...(body && described.bodies ? { body: { value, bodies: described.bodies } } : {}) };
}

function invalidIn(
  document: OpenDocument,
  described: DocumentOperation,
  { parameters, body }: Meant,
  operation: Operation,
  weight: (problem: Problem) => number,
) {
  const check = (schema: Place, value: unknown, pointer: string) =>
    problemsOf(document, schema, value, weight, pointer);
  const given = new Set(parameters.map(({ parameter }) => parameter));
  const missing = described.parameters.filter(
    (each) =>
      each.isRequired &&
      !given.has(each) &&
      operation.parameters.some(({ name }) => name === each.name) &&
      !credential.test(each.name),
  );
  const schema = operation.body && bodyFor(described, operation.body)?.schema;
  return [
    ...missing.map(({ name }) => ({ pointer: `/${name}`, text: "is missing" })),
    ...parameters.flatMap(({ parameter, value }) => {
      const known = operation.parameters.find((each) => each.in === parameter.in && each.name === parameter.name);
      return known?.constant === undefined
        ? check(parameter.schema, value, `/${known?.argument ?? parameter.name}`)
        : [];
    }),
    ...(schema && body?.value !== undefined && operation.body?.kind !== "binary" && !isBytes(document, schema)
      ? check(schema, body.value, operation.body?.argument === undefined ? "" : `/${operation.body.argument}`)
      : []),
  ];
}
