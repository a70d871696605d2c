/** The resources that `using` holds until the end of its block. See `rewriteUsing` in code/transpile.ts. */

class Held {
  readonly #disposes: (() => unknown)[] = [];
  #failure: { error: unknown } | undefined;

  add<T>(value: T): T {
    return this.#hold(value, [Symbol.dispose]);
  }

  addAsync<T>(value: T): T {
    return this.#hold(value, [Symbol.asyncDispose, Symbol.dispose]);
  }

  #hold<T>(value: T, names: symbol[]): T {
    if (value === null || value === undefined) return value;
    const methods = names.map((name) => (value as Record<symbol, unknown>)[name]);
    const dispose = methods.find((method) => typeof method === "function");
    if (!dispose) throw new TypeError("The value declared with using has no Symbol.dispose method");
    this.#disposes.unshift(() => Reflect.apply(dispose, value, []));
    return value;
  }

  /** Records an error of the block, or of disposing. It is thrown again after everything is disposed. */
  failed(error: unknown): void {
    if (!this.#failure) this.#failure = { error };
    else {
      const both = { error, suppressed: this.#failure.error };
      this.#failure = { error: Object.assign(new Error("Disposing failed after another error"), both) };
    }
  }

  end(): void {
    for (const dispose of this.#disposes) {
      try {
        dispose();
      } catch (error) {
        this.failed(error);
      }
    }
    if (this.#failure) throw this.#failure.error;
  }

  async endAsync(): Promise<void> {
    for (const dispose of this.#disposes) {
      try {
        await dispose();
      } catch (error) {
        this.failed(error);
      }
    }
    if (this.#failure) throw this.#failure.error;
  }
}

export function using(): Held {
  return new Held();
}
