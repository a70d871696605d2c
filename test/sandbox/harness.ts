/** Runs code in a real sandbox with a few bindings, without MCP. */
import { join } from "node:path";
import type { CallListener } from "../../src/sandbox/call-events.ts";
import type { Checkpointer } from "../../src/sandbox/checkpoint-contract.ts";
import type {
  BindingCall,
  BindingContext,
  Bindings,
  BindingValue,
  CheckMode,
  Limits,
  Outcome,
} from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { someLimits } from "./some-limits.ts";

export const megabyte = 1_048_576;

export interface HarnessOptions extends Partial<Limits> {
  signal?: AbortSignal;
  call?: Bindings["call"];
  listener?: CallListener;
  checkpointer?: Checkpointer;
}

/** Tools of the server `test`: `echo` returns its arguments, `fail` throws, `slow` takes `ms`, `text` returns text. */
export async function answer({ name, args }: BindingCall, { signal }: BindingContext): Promise<BindingValue> {
  switch (name) {
    case "echo":
      return { json: JSON.stringify(args) };
    case "text":
      return { text: "plain text" };
    case "slow": {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      setTimeout(resolve, Number(args["ms"]));
      await promise;
      return { json: JSON.stringify(args) };
    }
    default:
      throw Object.assign(new Error(`${name} says no`), {
        code: "TOOL_FAILED",
        hint: "ask differently",
        secret: "s3cret",
      });
  }
}

/** The servers of the harness. */
export function bindingsWith(call: Bindings["call"]): Bindings {
  const names = ["echo", "text", "slow", "fail", "with-dash", "constructor"];
  const functions = names.map((name) => ({ name, jsName: name.replace("-", "_") }));
  return {
    namespaces: [
      { name: "test", jsName: "test", functions },
      { name: "my-server", jsName: undefined, functions: [{ name: "echo", jsName: "echo" }] },
      { name: "open", jsName: "open", functions: "any" },
    ],
    call,
  };
}

export class Harness implements Disposable {
  readonly sandbox: Sandbox;
  check: CheckMode = "error";
  readonly #folder = temporaryFolder();
  constructor(options: ConstructorParameters<typeof Sandbox>[0] = {}) {
    this.sandbox = new Sandbox(options);
  }

  /** Two temporary folders, which are removed with the harness. */
  readonly mounts = { workspace: join(this.#folder.path, "workspace"), registry: join(this.#folder.path, "registry") };

  async run(source: string, options: HarnessOptions = {}): Promise<Outcome> {
    const { signal, call = answer, listener, checkpointer, ...limits } = options;
    return this.sandbox.run(source, {
      bindings: bindingsWith(call),
      limits: someLimits({ timeoutMs: 60_000, cpuMs: 60_000, ...limits }),
      mounts: this.mounts,
      check: this.check,
      signal,
      listener,
      checkpointer,
    });
  }

  /** The value of code that is expected to succeed. */
  async value(source: string, options: HarnessOptions = {}): Promise<unknown> {
    const outcome = await this.run(source, options);
    if (!outcome.ok) throw new Error(`${outcome.reason}: ${outcome.error.message}`);
    return outcome.value;
  }

  [Symbol.dispose](): void {
    this.sandbox[Symbol.dispose]();
    this.#folder[Symbol.dispose]();
  }
}
