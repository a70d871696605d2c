/** What programs are given, and what they must not change: counted bindings, folders, the environment. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { BindingCall, Bindings, BindingValue, Mounts } from "../../../src/sandbox/contract.ts";
import { answer } from "../../../test/sandbox/harness.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";

const names = ["echo", "text", "slow", "fail", "with-dash", "constructor"];
const functions = names.map((name) => ({ name, jsName: name.replace("-", "_") }));
const namespaces: Bindings["namespaces"] = [
  { name: "test", jsName: "test", functions },
  { name: "my-server", jsName: undefined, functions: [{ name: "echo", jsName: "echo" }] },
  { name: "open", jsName: "open", functions: "any" },
];

/** The bindings of one execution, and the state of its calls. */
export class CountedBindings {
  readonly #open = new Set<AbortSignal>();
  #over = false;
  lateCalls = 0;

  readonly bindings: Bindings = {
    namespaces,
    call: async (call, { signal }) => {
      if (this.#over) this.lateCalls += 1;
      this.#open.add(signal);
      try {
        return call.name === "slow" ? await slowly(call, signal) : await answer(call, { signal });
      } finally {
        this.#open.delete(signal);
      }
    },
  };

  /** Marks the outcome, and returns the number of calls that were not cancelled. */
  end(): number {
    this.#over = true;
    return [...this.#open].filter((signal) => !signal.aborted).length;
  }
}

/** Like the harness's `slow`, for at most 50 ms and without a timer that outlives it. */
async function slowly({ args }: BindingCall, signal: AbortSignal): Promise<BindingValue> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(50, Math.max(0, Number(args["ms"]) || 0)));
  signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  try {
    await promise;
    return { json: JSON.stringify(args) };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Folders for files, in an otherwise empty folder. It is the working directory until it is disposed, since other
 * processes write to the project's folder while tests run.
 */
export class Surroundings implements Disposable {
  readonly #workingDirectory = process.cwd();
  readonly #folder = temporaryFolder();
  readonly mounts: Mounts = {
    workspace: join(this.#folder.path, "workspace"),
    registry: join(this.#folder.path, "registry"),
  };

  readonly secrets: readonly string[] = secretsOf(this.#folder.path);

  constructor() {
    process.chdir(this.#folder.path);
  }

  /** Files in folders that cannot be written to. */
  strangeFiles(): string[] {
    const beside = readdirSync(this.#folder.path).filter((name) => name !== "workspace" && name !== "registry");
    const written = existsSync(this.mounts.registry) ? readdirSync(this.mounts.registry) : [];
    return [...beside, ...written];
  }

  [Symbol.dispose](): void {
    process.chdir(this.#workingDirectory);
    this.#folder[Symbol.dispose]();
  }
}

/** Texts of this process that no outcome may contain: its paths, and values of its environment that are not plain words. */
function secretsOf(folder: string): string[] {
  const environment = Object.values(process.env).filter((value = "") => value.length >= 8 && /[^\w.-]/.test(value));
  const places = [process.cwd(), homedir(), process.execPath, folder, "s3cret", "node_modules", "bunfs"];
  const all = [...places, ...environment].filter((text) => text !== undefined && text !== "/");
  return [...new Set(all)] as string[];
}
