/** The arguments of a file operation. They come from the sandbox and can be anything until they are checked. */
import { Fault } from "./fault.ts";

export class Arguments {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(json: string) {
    const given: unknown = JSON.parse(json);
    this.#values = new Map(typeof given === "object" && given !== null ? Object.entries(given) : []);
  }

  /** The paths as they were written, for messages. */
  get paths(): string[] {
    return ["path", "dest"].map((name) => this.#values.get(name)).filter((value) => typeof value === "string");
  }

  text(name: string): string {
    const value = this.#values.get(name);
    if (typeof value !== "string") throw new Fault("EINVAL", `${name} must be a string`);
    return value;
  }

  flag(name: string): boolean {
    return this.#values.get(name) === true;
  }

  /** Returns `data` as bytes, decoded by `encoding`. The default is utf8. */
  bytes(): Buffer {
    return Buffer.from(this.text("data"), this.encoding());
  }

  encoding(): BufferEncoding {
    const given = this.#values.get("encoding") ?? "utf8";
    if (typeof given !== "string" || !Buffer.isEncoding(given))
      throw new Fault("EINVAL", `there is no encoding ${JSON.stringify(given)}`, 'Use "utf8", "base64" or "hex".');
    return given;
  }
}
