/** `node:string_decoder`: decodes bytes in pieces without breaking characters. */
import { TextDecoder } from "../web/encoding.ts";
import { Buffer, bytesOf } from "./buffer.ts";

const streamed: Record<string, string> = {
  __proto__: null as never,
  utf8: "utf-8",
  "utf-8": "utf-8",
  utf16le: "utf-16le",
  ucs2: "utf-16le",
};

export class StringDecoder {
  readonly encoding: string;
  readonly #decoder: InstanceType<typeof TextDecoder> | undefined;

  constructor(encoding = "utf8") {
    this.encoding = encoding.toLowerCase();
    const known = streamed[this.encoding];
    this.#decoder = known === undefined ? undefined : new TextDecoder(known, { ignoreBOM: true });
  }
  write(chunk: unknown): string {
    if (typeof chunk === "string") return chunk;
    const bytes = bytesOf(chunk) ?? Buffer.alloc(0);
    return this.#decoder ? this.#decoder.decode(bytes, { stream: true }) : bytes.toString(this.encoding as "hex");
  }
  end(chunk?: unknown): string {
    const text = chunk === undefined ? "" : this.write(chunk);
    return text + (this.#decoder?.decode() ?? "");
  }
}
