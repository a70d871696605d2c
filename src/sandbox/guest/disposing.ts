/** The resources that `using` holds until the end of its block. See code/rewrite-using.ts. */

type Dispose = () => unknown;

const symbols = Symbol as { dispose?: symbol; asyncDispose?: symbol };

/** Defines the symbols that the engine lacks. */
export function defineDisposeSymbols(): void {
  for (const name of ["dispose", "asyncDispose"] as const) {
    if (symbols[name]) continue;
    Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
  }
}

class Held {
  readonly #disposes: Dispose[] = [];
  #failure: { error: unknown } | undefined;

  add<T>(value: T): T {
    if (value !== null && value !== undefined) this.#push(value, method(value, symbols.dispose));
    return value;
  }

  addAsync<T>(value: T): T {
    if (value === null || value === undefined) return value;
    this.#push(value, method(value, symbols.asyncDispose) ?? method(value, symbols.dispose));
    return value;
  }

  /** Records the error of the block. It is thrown again after everything is disposed. */
  failed(error: unknown): void {
    this.#failure = { error };
  }

  end(): void {
    for (let dispose = this.#disposes.pop(); dispose; dispose = this.#disposes.pop()) {
      try {
        dispose();
      } catch (error) {
        this.#also(error);
      }
    }
    this.#throw();
  }

  async endAsync(): Promise<void> {
    for (let dispose = this.#disposes.pop(); dispose; dispose = this.#disposes.pop()) {
      try {
        await dispose();
      } catch (error) {
        this.#also(error);
      }
    }
    this.#throw();
  }

  #push(value: unknown, dispose: ((this: unknown) => unknown) | undefined): void {
    if (!dispose) throw new TypeError("The value declared with using has no Symbol.dispose method");
    this.#disposes.push(() => Reflect.apply(dispose, value, []));
  }

  #also(error: unknown): void {
    if (!this.#failure) this.#failure = { error };
    else {
      const suppressed = this.#failure.error;
      this.#failure = {
        error: Object.assign(new Error("Disposing failed after another error"), { error, suppressed }),
      };
    }
  }

  #throw(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

function method(value: unknown, name: symbol | undefined): ((this: unknown) => unknown) | undefined {
  const found = name === undefined ? undefined : (value as Record<symbol, unknown>)[name];
  return typeof found === "function" ? (found as (this: unknown) => unknown) : undefined;
}

export function using(): Held {
  return new Held();
}
