/** The excerpts of contents that a record of an execution keeps. */
import { parseExact } from "../../base/exact-json.ts";
import { withoutBase64 } from "../../base/media.ts";
import { type Redact, redactorOf } from "../../servers/values/secrets.ts";
import { maxMaskedSecretChars } from "../limits.ts";
import type { Parts } from "../parts.ts";
import type { Excerpt } from "./record.ts";

/** Characters of all contents of an execution. */
const maxRecordedChars = 4_000_000;

/** Excerpts without secrets and base64, until the limit of an execution is reached. */
export class Excerpts {
  readonly #masked: (value: unknown) => unknown;
  #room = maxRecordedChars;

  private constructor(masked: (value: unknown) => unknown) {
    this.#masked = masked;
  }

  static async of({ config }: Parts): Promise<Excerpts> {
    const { masked } = await import("../../servers/values/secrets.ts");
    const redactors: Redact[] = [...config.servers.values()].map(redactorOf);
    const redact: Redact = (text) => redactors.reduce((known, each) => each(known), text);
    return new Excerpts((value) => masked(value, redact));
  }

  text(whole: string, max: number): Excerpt {
    const isCut = whole.length > max;
    const masked = String(this.#masked(whole.slice(0, max + maxMaskedSecretChars)));
    const most = isCut ? Math.min(max, Math.max(0, masked.length - maxMaskedSecretChars)) : masked.length;
    const all = withoutBase64(masked.slice(0, most), isCut);
    const text = all.slice(0, this.#room);
    this.#room -= text.length;
    return { text, isWhole: !isCut && text.length === all.length };
  }

  /** Short JSON is parsed, so that secrets are also found by the names of their keys. */
  json(json: string, max: number, key: string): Excerpt {
    if (json.length > max) return this.text(json, max);
    try {
      const { [key]: known } = this.#masked({ [key]: parseExact(json) }) as Record<string, unknown>;
      return this.text(typeof known === "string" ? known : JSON.stringify(known), max);
    } catch {
      // The text is not JSON, or nested deeper than our stack.
      return this.text(json, max);
    }
  }
}
