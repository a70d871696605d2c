/** `TextEncoder` and `TextDecoder`, which leave long texts to the host. */
import { encoding } from "../library.ts";
import { define, named } from "../named.ts";
import { bytesOfLong, textOfLong } from "./long-texts.ts";

const { TextDecoder, TextEncoder } = encoding;
type TextDecoder = InstanceType<typeof TextDecoder>;
type TextEncoder = InstanceType<typeof TextEncoder>;

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
