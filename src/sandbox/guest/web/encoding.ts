/** `TextEncoder` and `TextDecoder` for UTF-8, UTF-16 and Latin-1 only. */
import "@kayahr/text-encoding/encodings/utf-8";
import "@kayahr/text-encoding/encodings/utf-16le";
import "@kayahr/text-encoding/encodings/utf-16be";
import "@kayahr/text-encoding/encodings/windows-1252";
import { TextDecoder, TextEncoder } from "@kayahr/text-encoding/no-encodings";
import { define, named } from "../named.ts";
import { bytesOfLong, textOfLong } from "./long-texts.ts";

const { apply } = Reflect;
const { encode } = TextEncoder.prototype;
const { decode } = TextDecoder.prototype;

define(
  TextEncoder.prototype,
  named({
    encode(this: TextEncoder, input = ""): Uint8Array {
      return (this.encoding === "utf-8" && bytesOfLong("utf8", input)) || apply(encode, this, [input]);
    },
  }),
);
define(TextDecoder.prototype, {
  decode(this: TextDecoder, input?: unknown, ...options: unknown[]): string {
    // Without a decoder of its own, it is not within a stream.
    const isSimple = options.length === 0 && this.encoding === "utf-8" && Reflect.get(this, "decoder") === null;
    const bytes = input instanceof ArrayBuffer ? new Uint8Array(input) : input;
    const text = isSimple && bytes instanceof Uint8Array ? textOfLong("utf8", bytes) : undefined;
    return text ?? apply(decode, this, [input, ...options]);
  },
});

export { TextDecoder, TextEncoder };
