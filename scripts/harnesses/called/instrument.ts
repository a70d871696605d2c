/**
 * Loaded before claudikins, it writes down each function of `src` that is called: one line `file:function@offset` for each call, in a file for
 * each thread that begins with the path in the variable CALLED. Code of the guest and of the page in the browser is left out, because it runs
 * elsewhere.
 */
import { openSync, readFileSync, writeSync } from "node:fs";
import { threadId } from "node:worker_threads";
import { type Node, parse } from "acorn";
import { ancestor } from "acorn-walk";

const file = openSync(`${process.env["CALLED"]}.${process.pid}.${threadId}`, "a");
Object.assign(globalThis, { __called: (name: string) => void writeSync(file, `${name}\n`) });

// Workers load this file, too.
const PlainWorker = globalThis.Worker;
globalThis.Worker = class extends PlainWorker {
  constructor(url: string | URL, options: object = {}) {
    super(url, { ...options, preload: import.meta.path } as WorkerOptions);
  }
} as typeof Worker;

const transpiler = new Bun.Transpiler({ loader: "ts", target: "bun" });

Bun.plugin({
  name: "called functions",
  setup(build) {
    build.onLoad({ filter: /\/src\/(?!.*\/(?:guest|browser)\/).*\.ts$/ }, ({ path }) => {
      const code = transpiler.transformSync(readFileSync(path, "utf8"));
      return { contents: instrumented(code, path.slice(path.lastIndexOf("/src/") + 5)), loader: "js" };
    });
  },
});

interface FunctionNode extends Node {
  id?: { name: string } | null;
  body: Node;
}

function instrumented(code: string, name: string): string {
  const added: { at: number; text: string }[] = [];
  ancestor(parse(code, { ecmaVersion: "latest", sourceType: "module" }), {
    Function(node, _, ancestors) {
      const { id, body, start } = node as unknown as FunctionNode;
      const around = ancestors.at(-2) as { key?: { name?: string }; id?: { name?: string } } | undefined;
      const called = `${name}:${id?.name ?? around?.key?.name ?? around?.id?.name ?? ""}@${start}`;
      const call = `__called(${JSON.stringify(called)})`;
      if (body.type === "BlockStatement") added.push({ at: body.start + 1, text: `${call};` });
      else added.push({ at: body.start, text: `(${call},(` }, { at: body.end, text: "))" });
    },
  });
  added.sort((a, b) => b.at - a.at);
  return added.reduce((text, { at, text: more }) => text.slice(0, at) + more + text.slice(at), code);
}
