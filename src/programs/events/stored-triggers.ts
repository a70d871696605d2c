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
import { removedEnding, triggersFolder } from "./places.ts";

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

/** `waiting`: until a person decides about a call. */
export const programStates = ["done", "failed", "waiting"] as const;
export type ProgramState = (typeof programStates)[number];

export interface OutcomeSource {
  kind: "after";
  /** The saved program whose outcome is the event. */
  program: string;
  /** Undefined: when it has ended, whatever the outcome is. */
  when?: readonly ProgramState[] | undefined;
}

export interface ResourceSource {
  kind: "resource";
  /** The key of the server in the config. */
  server: string;
  /** The server announces updates of this resource, and of resources below it. */
  uri: string;
}

/** The lists of servers, as the protocol names them. */
export const listedKinds = ["tools", "resources", "prompts"] as const;
export type ListedKind = (typeof listedKinds)[number];

export interface ListSource {
  kind: "list";
  /** The key of the server in the config. */
  server: string;
  list: ListedKind;
}

export type EventSource = WebhookSource | FileSource | OutcomeSource | ResourceSource | ListSource;

/** A command line for the shell of the user. It gets what has happened in variables, and as JSON on stdin. */
interface CommandReceiver {
  kind: "command";
  command: string;
}

export interface WebhookReceiver {
  kind: "webhook";
  /** An address, or a reference to it such as `${secret:NAME}`. */
  url: string;
  /** The origin of the address. The rest of it may be a secret. */
  origin: string;
  /** From where the address could be reached when the user named it. It is not followed to anything that is nearer. */
  reach: "public" | "private" | "loopback";
  /** A reference to the secret with which requests are signed. */
  secret?: string | undefined;
}

interface ToolReceiver {
  kind: "tool";
  server: string;
  tool: string;
}

/** The next session of an agent of the user. */
interface AgentReceiver {
  kind: "agent";
}

/** Hears of the outcome of a program. */
export type Receiver = CommandReceiver | WebhookReceiver | ToolReceiver | AgentReceiver;

export interface Trigger {
  version: 1;
  /** The name of its file. */
  id: string;
  program: string;
  on: EventSource;
  /** The program starts nothing, but its outcome is told: the source is then `program` itself. */
  notify?: Receiver | undefined;
  /** With `notify`: whether the value and the error are told, too. */
  hasContents?: true | undefined;
  /** A condition in CEL about `event`. Other events are left out. */
  filter?: string | undefined;
  /** How many runs it starts within a minute, at most. */
  perMinute: number;
  /** Input that is always the same: of the program, or of what is notified. */
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

  /** What starts the program. */
  of(program: string): Trigger[] {
    return this.all().filter((each) => each.program === program && !each.notify);
  }

  /** The triggers that tell its outcomes, and start nothing. */
  notificationsOf(program: string): Trigger[] {
    return this.all().filter((each) => each.program === program && each.notify);
  }

  find(id: string): Trigger | undefined {
    return this.#read(this.#fileOf(id), id);
  }

  /** The removed triggers whose deliveries may still run. */
  removed(): Trigger[] {
    const files = this.#place.documents.namesIn(this.#folder).filter((name) => name.endsWith(removedEnding));
    return files.flatMap((name) => this.#read(join(this.#folder, name), name.slice(0, -removedEnding.length)) ?? []);
  }

  #read(file: string, id: string): Trigger | undefined {
    const value = parsedJson(this.#place.documents.read(file) ?? "");
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

  /**
   * It starts nothing from now on. Until it is forgotten, its deliveries that run are found even if their process is killed. Throws
   * PROGRAM_NOT_FOUND and FILE_NOT_WRITABLE.
   */
  async remove(id: string): Promise<void> {
    await this.#alone((changes) => {
      this.require(id);
      const text = this.#place.documents.read(this.#fileOf(id));
      if (text !== undefined) changes.write(this.#removedFileOf(id), text);
      changes.remove(this.#fileOf(id));
      changes.remove(this.#seenFileOf(id));
      tellOthers(this.#place, changes);
    });
  }

  /** For a removed trigger that has no deliveries any more that run. */
  async forget(id: string): Promise<void> {
    await this.#alone((changes) => {
      changes.remove(this.#removedFileOf(id));
      tellOthers(this.#place, changes);
    });
  }

  /** The files or the entries of a list that the trigger knows, with a text that changes when one changes. Undefined if it has not looked yet. */
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

  #removedFileOf(id: string): string {
    return join(this.#folder, `${id}${removedEnding}`);
  }

  #seenFileOf(id: string): string {
    return join(this.#folder, "seen", `${id}.json`);
  }
}

function isTrigger(value: unknown): value is Trigger {
  if (!isObject(value)) return false;
  const { version, program, on, perMinute, input, map, createdAt } = value;
  const areNumbers = typeof perMinute === "number" && typeof createdAt === "number";
  const isKnown = isObject(on) && ["webhook", "file", "after", "resource", "list"].includes(String(on["kind"]));
  return version === 1 && typeof program === "string" && isKnown && areNumbers && isObject(input) && isObject(map);
}

/** `webhook (github)`, `file reports/*.csv`, `after nightly, if it failed`. */
export function sourceText({ on }: Pick<Trigger, "on">): string {
  if (on.kind === "webhook") return `webhook (${on.form})`;
  if (on.kind === "file") return `file ${join(on.folder, on.pattern)}`;
  if (on.kind === "list") return `changes of the ${on.list} of ${on.server}`;
  if (on.kind === "resource") return `resource ${on.uri} of ${on.server}`;
  return `after ${on.program}${on.when ? `, ${whenText(on.when)}` : ""}`;
}

/** `if it failed or waits for a person`. */
export function whenText(when: readonly ProgramState[]): string {
  return `if it ${when.map((state) => stateTexts[state]).join(" or ")}`;
}

const stateTexts: Record<ProgramState, string> = { done: "succeeded", failed: "failed", waiting: "waits for a person" };

/** `tool slack.post_message`, `webhook https://example.com`. */
export function receiverText(receiver: Receiver): string {
  if (receiver.kind === "command") return `command ${receiver.command}`;
  if (receiver.kind === "webhook") return `webhook ${receiver.origin}`;
  if (receiver.kind === "tool") return `tool ${receiver.server}.${receiver.tool}`;
  return "the next session of an agent";
}
