/** Smaller libraries, in one part. `TextEncoder` and `TextDecoder` are for UTF-8, UTF-16 and Latin-1 only. */
import "@kayahr/text-encoding/encodings/utf-8";
import "@kayahr/text-encoding/encodings/utf-16le";
import "@kayahr/text-encoding/encodings/utf-16be";
import "@kayahr/text-encoding/encodings/windows-1252";
import { TextDecoder, TextEncoder } from "@kayahr/text-encoding/no-encodings";
import { Event, EventTarget, setWarningHandler } from "event-target-shim";
import EventEmitter from "events/";
import querystring from "fast-querystring";
import path from "path-browserify";
import { leave } from "./leave.ts";

leave("encoding", { TextDecoder, TextEncoder });
leave("eventTarget", { Event, EventTarget, setWarningHandler });
leave("EventEmitter", EventEmitter);
leave("querystring", querystring);
leave("path", path);
