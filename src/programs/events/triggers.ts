/** Triggers: what starts a saved program when something happens. A private document for each, beside the programs. */
import { join } from "node:path";
import type { DocumentChanges } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { didYouMean } from "../../base/near-names.ts";
import { isNewer } from "../../base/newer.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { tellOthers } from "../saved/library.ts";
import { problemOfName } from "../saved/model.ts";
import { triggersFolder } from "./places.ts";

/** Triggers of one config, or of one door. */
const maxTriggers = 100;

/** The input that has the event, if the program has such an input. */
export const eventInput = "event";

/** The signature that a webhook needs: each of these services has its own. `standard` is the Standard Webhooks specification. */
export const webhookForms = ["github", "stripe", "slack", "standard"] as const;
export type WebhookForm = (typeof webhookForms)[number];

export interface WebhookSource {
  kind: "webhook";
  form: WebhookForm;
  /** The part of the address that nobody can guess. */
  address: string;
  /** A reference to the secret with which requests are signed, such as `${secret:NAME}`. */
  secret: string;
  /** Whether the secret was made for the trigger, and ends with it. */
  isSecretMade: boolean;
  /** `result`: the answer is the outcome of the program. `id`: it is the id of the delivery, at once. */
  answer: "id" | "result";
}

export interface FileSource {
  kind: "file";
  /** The absolute path of the folder below which the files are. */
  folder: string;
  /** A glob of paths in the folder. */
  pattern: string;
}

export interface OutcomeSource {
  kind: "after";
  /** The saved program whose outcome is the event. */
  program: string;
  /** Undefined: whatever the outcome is. */
  if?: "done" | "failed" | undefined;
}

export interface ResourceSource {
  kind: "resource";
  /** The key of the server in the config. */
  server: string;
  /** The server announces updates of this resource, and of resources below it. */
  uri: string;
}

export type EventSource = WebhookSource | FileSource | OutcomeSource | ResourceSource;

export interface Trigger {
  version: 1;
  /** The name of its file. */
  id: string;
  program: string;
  on: EventSource;
  /** A condition in CEL about `event`. Other events are left out. */
  filter?: string | undefined;
  /** How many runs it starts within a minute, at most. */
  perMinute: number;
  /** Input that is always the same. */
  input: JsonObject;
  /** Input that is made of the event: expressions in CEL by the names of the inputs. */
  map: Record<string, string>;
  /** Milliseconds since 1970. */
  createdAt: number;
}

export class Triggers {
  readonly #folder: string;
  readonly #place: SavedProgramsPlace;

  constructor(place: SavedProgramsPlace) {
    this.#place = place;
    this.#folder = triggersFolder(place);
  }

  ids(): string[] {
    const files = this.#place.documents.namesIn(this.#folder).filter((name) => name.endsWith(".json"));
    return files.map((name) => name.slice(0, -".json".length)).filter((id) => problemOfName(id) === undefined);
  }

  /** In the order of their ids. Files that cannot be read are left out: `problems` names them. */
  all(): Trigger[] {
    return this.ids().flatMap((id) => this.find(id) ?? []);
  }

  /** The files that cannot be read. */
  problems(): string[] {
    return this.ids().flatMap((id) => (this.find(id) ? [] : [this.#fileOf(id)]));
  }

  of(program: string): Trigger[] {
    return this.all().filter((each) => each.program === program);
  }

  find(id: string): Trigger | undefined {
    const value = parsedJson(this.#place.documents.read(this.#fileOf(id)) ?? "");
    return isTrigger(value) && !isNewer(value, 1) ? { ...value, id } : undefined;
  }

  /** `before` is called when nothing is in the way. Throws FILE_NOT_WRITABLE, and USAGE if there are too many or another one has the id. */
  async add(trigger: Trigger, before = async () => {}): Promise<void> {
    await this.#alone(async (changes) => {
      const ids = this.ids();
      if (ids.includes(trigger.id)) {
        throw new ClaudikinsError("USAGE", `A trigger called "${trigger.id}" exists already`, {
          hint: `Choose another name with --as, or remove it first: claudikins programs off ${trigger.id}`,
        });
      }
      if (ids.length >= maxTriggers) throw new ClaudikinsError("USAGE", `There are ${maxTriggers} triggers already`);
      await before();
      changes.write(this.#fileOf(trigger.id), `${JSON.stringify(trigger, null, 1)}\n`);
      tellOthers(this.#place, changes);
    });
  }

  /** Throws PROGRAM_NOT_FOUND. */
  require(id: string): void {
    const ids = this.ids();
    if (ids.includes(id)) return;
    throw new ClaudikinsError("PROGRAM_NOT_FOUND", `No trigger is called "${id}"`, {
      hint: didYouMean(id, ids) ?? (ids.length === 0 ? "There are no triggers." : `Triggers: ${ids.join(", ")}`),
    });
  }

  /** Throws PROGRAM_NOT_FOUND and FILE_NOT_WRITABLE. */
  async remove(id: string): Promise<void> {
    await this.#alone((changes) => {
      this.require(id);
      changes.remove(this.#fileOf(id));
      changes.remove(this.#seenFileOf(id));
      tellOthers(this.#place, changes);
    });
  }

  /** The files that the trigger knows, with a text that changes when a file changes. Undefined if it has not looked yet. */
  seenFiles(id: string): Map<string, string> | undefined {
    const value = parsedJson(this.#place.documents.read(this.#seenFileOf(id)) ?? "");
    return isObject(value) ? new Map(Object.entries(value).map(([path, look]) => [path, String(look)])) : undefined;
  }

  /** Has no effect if the trigger was removed. Throws FILE_NOT_WRITABLE. */
  async noteFiles(id: string, files: ReadonlyMap<string, string>): Promise<void> {
    await this.#alone((changes) => {
      if (this.ids().includes(id)) changes.write(this.#seenFileOf(id), JSON.stringify(Object.fromEntries(files)));
    });
  }

  #alone(work: (changes: DocumentChanges) => void | Promise<void>): Promise<void> {
    const lock = join(this.#place.folder, ".triggers.lock");
    return this.#place.documents.alone({ folder: this.#folder, lock, what: "the triggers" }, work);
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }

  #seenFileOf(id: string): string {
    return join(this.#folder, "seen", `${id}.json`);
  }
}

function isTrigger(value: unknown): value is Trigger {
  if (!isObject(value)) return false;
  const { version, program, on, perMinute, input, map, createdAt } = value;
  const areNumbers = typeof perMinute === "number" && typeof createdAt === "number";
  const isKnown = isObject(on) && ["webhook", "file", "after", "resource"].includes(String(on["kind"]));
  return version === 1 && typeof program === "string" && isKnown && areNumbers && isObject(input) && isObject(map);
}

/** `webhook (github)`, `file reports/*.csv`, `after nightly, if it failed`. */
export function sourceText({ on }: Pick<Trigger, "on">): string {
  if (on.kind === "webhook") return `webhook (${on.form})`;
  if (on.kind === "file") return `file ${join(on.folder, on.pattern)}`;
  if (on.kind === "resource") return `resource ${on.uri} of ${on.server}`;
  return `after ${on.program}${on.if === undefined ? "" : `, if it ${on.if === "done" ? "succeeded" : "failed"}`}`;
}
