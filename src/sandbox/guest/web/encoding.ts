/** `TextEncoder` and `TextDecoder` for UTF-8, UTF-16 and Latin-1 only. */
import "@kayahr/text-encoding/encodings/utf-8";
import "@kayahr/text-encoding/encodings/utf-16le";
import "@kayahr/text-encoding/encodings/utf-16be";
import "@kayahr/text-encoding/encodings/windows-1252";

export { TextDecoder, TextEncoder } from "@kayahr/text-encoding/no-encodings";
