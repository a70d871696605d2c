/** Runs, schedules, saves and removes saved programs for the page. */

import type { App } from "../app/app.ts";
import { ClaudikinsError } from "../base/errors.ts";
import { type SavedProgramsPlace, savedProgramsOf } from "../config/saved-programs-place.ts";
import type { ArgumentWord } from "../programs/argument-words.ts";
import { mistakesIn } from "../programs/checking/check-code.ts";
import { type ComparedExecution, recordedContents, storedContents } from "../programs/comparing/contents.ts";
import { addNotification, retryDelivery, usualNotificationsPerMinute } from "../programs/events/manage.ts";
import { receiverOf, requireReceiving } from "../programs/events/wanted-receiver.ts";
import { startNoMore, startOn, usualRunsPerMinute, webhookPath } from "../programs/events/wanted-source.ts";
import { cancelFor } from "../programs/execution/cancel-for.ts";
import { programAgain } from "../programs/execution/run-again.ts";
import type { ProgramAudit } from "../programs/saved/audited.ts";
import { differencesOf } from "../programs/saved/differences.ts";
import { type ExecutedProgram, executedProgram } from "../programs/saved/from-execution.ts";
import { inputOf, valuesOf } from "../programs/saved/given.ts";
import { digestOf, ProgramLibrary } from "../programs/saved/library.ts";
import { addSchedule, type ManageOptions, removePrograms, removeSchedule } from "../programs/saved/manage.ts";
import type { SavedProgram } from "../programs/saved/model.ts";
import { callOf } from "../programs/saved/namespace.ts";
import { pinsOf, requirePinned } from "../programs/saved/pins.ts";
import { acceptProgram, programToSave, store } from "../programs/saved/save.ts";
import { nextTimes } from "../programs/saved/schedules.ts";
import type { ExecutionRecord } from "../programs/trace/record.ts";
import { ownTool } from "../setup/settings/switches.ts";
import { type Again, againOf, callsSoFar, notAgain } from "./activity.ts";
import type { PageAbout } from "./activity-contract.ts";
import type { Body } from "./bodies.ts";
import { editorOf, editorTools } from "./editor-types.ts";
import { RefusedRequest } from "./guard.ts";
import { imageIn, type Outcome, shownOutcome } from "./outcome.ts";
import type { PageParts } from "./parts.ts";
import { aboutProgram, recordedTest, testedProgram } from "./program-events.ts";
import { shownInputs } from "./programs.ts";
import type {
  PageEditor,
  PageEditorTool,
  PageMistake,
  PageOutcome,
  PageProgramAbout,
  PageRecorded,
  PageSaving,
  PageScheduled,
  PageTested,
  PageTriggered,
} from "./programs-contract.ts";
import { fileOfServer } from "./rules.ts";

interface Named {
  name: string;
  door?: string | undefined;
}

interface Execution {
  id: string;
  door?: string | undefined;
}

export class ProgramActions {
  readonly #options: PageParts;

  constructor(options: PageParts) {
    this.#options = options;
  }

  /** Throws PROGRAM_NOT_FOUND, as all methods that name a program. */
  code(named: Named): { code: string } {
    return { code: this.#program(named).code };
  }

  async run({ input, ...named }: Named & { input: Record<string, string> }): Promise<{ execution: string }> {
    const program = this.#program(named);
    const given = inputOf(wordsOf(input), program);
    const started = { program: program.name, input: given, door: named.door };
    return { execution: await this.#options.background.start(started) };
  }

  /** Runs the code of an execution again in the daemon. Throws EXECUTION_NOT_FOUND, USAGE. */
  async again({ id, door, dryRun }: Execution & { dryRun: boolean }): Promise<{ execution: string }> {
    return { execution: await this.#options.background.start({ again: id, door, dryRun }) };
  }

  /** Runs code of the editor in the daemon, as `claudikins exec --detach` does. */
  async write({ code, door, dryRun, codeOf }: Body<"editorRun">): Promise<{ execution: string }> {
    const started = { source: code, door, dryRun, codeOf, isFromPage: true };
    return { execution: await this.#options.background.start(started) };
  }

  /** The code of an execution, for the editor. Throws EXECUTION_NOT_FOUND. */
  async source({ id, door }: Execution): Promise<{ code: string }> {
    await using parts = await this.#partsOf(door);
    const { source } = await programAgain(id, parts, await parts.executions(), { isDryRun: true });
    return { code: source };
  }

  /** The mistakes in code of the editor. */
  async check({ code, door }: Body<"editorCheck">): Promise<PageMistake[]> {
    await using parts = await this.#partsOf(door);
    return await mistakesIn(code, parts);
  }

  async editor({ door }: { door?: string | undefined }): Promise<PageEditor> {
    await using parts = await this.#partsOf(door);
    return editorOf(parts);
  }

  async editorTools({ server, door }: Body<"editorTools">): Promise<PageEditorTool[]> {
    await using parts = await this.#partsOf(door);
    return await editorTools(server, parts);
  }

  /** How the code of an execution can be run again, or why it cannot: its door may no longer exist. */
  async howAgain({ id, door }: Execution): Promise<Again> {
    try {
      await using parts = await this.#partsOf(door);
      return await againOf(id, parts);
    } catch (error) {
      return notAgain(error);
    }
  }

  /** The calls that an execution waits for. */
  async callsSoFar({ id, door }: Execution): Promise<Pick<PageAbout, "calls" | "more" | "noContents">> {
    await using parts = await this.#partsOf(door);
    return await callsSoFar(id, parts);
  }

  /** The contents of a recorded execution, to compare it: its door may no longer exist. */
  async contents(record: ExecutionRecord): Promise<ComparedExecution> {
    try {
      await using parts = await this.#partsOf(record.door);
      return await storedContents(record, parts, await parts.executions());
    } catch (error) {
      if (error instanceof ClaudikinsError) return recordedContents(record);
      throw error;
    }
  }

  async schedule({ input, cron, zone, id, ...named }: Body<"schedule">): Promise<PageScheduled> {
    const program = this.#program(named);
    const wanted = { input: inputOf(wordsOf(input), program), cron, zone, id };
    const made = await addSchedule(program, wanted, this.#managed(named.door));
    return { next: nextTimes(made, 1)[0], isWatched: await this.#options.background.wake() };
  }

  /** Ends a schedule. Throws PROGRAM_NOT_FOUND. */
  async unschedule({ name, door }: Named): Promise<void> {
    await removeSchedule(name, this.#managed(door));
  }

  /** Lets schedules and triggers run the version that was shown. Throws USAGE if there is another one by now. */
  async accept({ name, door, version }: Named & { version: number }): Promise<void> {
    const library = new ProgramLibrary(this.#placeOf(door));
    const program = library.get(name);
    requirePinned(program, library);
    const accepted = { number: version, pins: pinsOf(program, library) };
    await acceptProgram(name, accepted, { library, audit: this.#audit(door) });
  }

  about({ name, door }: Named): Promise<PageProgramAbout> {
    return aboutProgram(name, this.#placeOf(door), this.#options.app);
  }

  async test({ name, door }: Named): Promise<PageTested[]> {
    return await testedProgram(name, this.#placeOf(door), this.#options.app);
  }

  /** Runs the program once, and keeps what it did as a test. Throws RefusedRequest if it fails, and what `recordProgram` throws. */
  async record({ input, as, ...named }: Body<"record">): Promise<PageRecorded> {
    const program = this.#program(named);
    const given = inputOf(wordsOf(input), program);
    await using parts = await this.#options.openToRecord(named.door);
    return await recordedTest(program, { input: given, as }, parts);
  }

  /** Starts the program when something happens. The secret of a webhook is in this answer only. Throws what `startOn` throws. */
  async startOn({
    source,
    input,
    map,
    perMinute = usualRunsPerMinute,
    id,
    filter,
    ...named
  }: Body<"on">): Promise<PageTriggered> {
    const program = this.#program(named);
    await using parts = await this.#partsOf(named.door);
    const wanted = { source, filter, perMinute, input: inputOf(wordsOf(input), program), map, id };
    const { config } = parts;
    const made = await startOn(program, wanted, { ...this.#managed(named.door), config, env: this.#options.env });
    const { on } = made.trigger;
    const isWatched = on.kind === "webhook" || (await this.#options.background.wake());
    return {
      id: made.trigger.id,
      path: on.kind === "webhook" ? webhookPath(on.address) : undefined,
      secret: made.secret,
      isWatched,
    };
  }

  /** Tells others what has become of the program. Throws what `receiverOf` and `addNotification` throw. */
  async notify({
    when,
    receiver,
    hasContents,
    values,
    map,
    id,
    filter,
    perMinute,
    ...named
  }: Body<"notify">): Promise<void> {
    const program = this.#program(named);
    await using parts = await this.#partsOf(named.door);
    const { config } = parts;
    const { env } = this.#options;
    const which = (server: string) => ({ flag: fileOfServer(server, this.#options.app.config), cwd: "/", env });
    const toolNamed = async (word: string) => {
      const server = [...config.servers.keys()]
        .filter((each) => word.startsWith(`${each}.`))
        .sort((a, b) => b.length - a.length)[0];
      return await ownTool(word, which(server ?? ""));
    };
    const notify = await receiverOf(receiver, { config, env, toolNamed });
    requireReceiving(program, notify, { hasContents, hasValues: Object.keys({ ...values, ...map }).length > 0 });
    const input = valuesOf(wordsOf(values));
    const wanted = { when, notify, hasContents, id, filter, input, map };
    const limited = { ...wanted, perMinute: perMinute ?? usualNotificationsPerMinute };
    await addNotification(program, limited, this.#managed(named.door));
    await this.#options.background.wake();
  }

  /** Removes a trigger or a notification. Throws PROGRAM_NOT_FOUND. */
  async off({ name, door }: Named): Promise<void> {
    await startNoMore(name, { ...this.#managed(door), env: this.#options.env });
  }

  /** Lets a dead delivery begin again. Throws USAGE, PROGRAM_NOT_FOUND. */
  async retry({ delivery, door }: { delivery: string; door?: string | undefined }): Promise<void> {
    await retryDelivery(delivery, this.#managed(door));
    await this.#options.background.wake();
  }

  async remove({ name, door }: Named): Promise<void> {
    await removePrograms([name], this.#managed(door));
  }

  /** The code of an execution that has ended. Throws EXECUTION_NOT_FOUND, as all methods that name one. */
  async executed({ id, door }: Execution): Promise<Omit<ExecutedProgram, "labels" | "record">> {
    await using parts = await this.#partsOf(door);
    const { labels: _, record: __, ...shown } = await executedProgram(id, parts, await parts.executions());
    return shown;
  }

  /** Previews the program that would be saved. Throws INVALID_ARGUMENTS if it cannot be saved. */
  async preview(body: Body<"preview">): Promise<PageSaving> {
    const made = await this.#programIn(body);
    const { program, replaced } = made;
    const before = new ProgramLibrary(this.#placeOf(body.door)).find(program.name);
    return {
      call: callOf(program),
      description: program.description,
      code: program.code,
      calls: program.calls,
      inputs: shownInputs(program),
      replaced: Object.entries(replaced).map(([input, places]) => ({ input, places })),
      before: before ? digestOf(before) : null,
      changes: before ? changesIn(before, program) : [],
    };
  }

  /** Saves the program as the preview showed it. Throws if another program has got the name since. */
  async save({ before, ...body }: Body<"save">): Promise<{ call: string }> {
    const made = await this.#programIn(body);
    const library = new ProgramLibrary(this.#placeOf(body.door));
    const saved = await store(made, { library, programs: library, audit: this.#audit(body.door) }, (now) => {
      if (digestOf(now) === before) return;
      throw new RefusedRequest(
        409,
        `The program "${now.name}" was changed meanwhile. Nothing was saved`,
        "Look at the preview again.",
      );
    });
    return { call: callOf(saved.program) };
  }

  async cancel({ id, door }: Execution): Promise<boolean> {
    await using parts = await this.#partsOf(door);
    return await cancelFor(id, parts, "page");
  }

  /** Throws if the execution has not ended. */
  async outcome(execution: Execution): Promise<PageOutcome> {
    return shownOutcome(await this.#outcomeOf(execution));
  }

  /** An image of the outcome, by its place. Throws RefusedRequest if there is none that the page shows. */
  async image({ place, ...execution }: Execution & { place: number }): Promise<Response> {
    return imageIn(await this.#outcomeOf(execution), place);
  }

  async #outcomeOf({ id, door }: Execution): Promise<Outcome> {
    await using parts = await this.#partsOf(door);
    const outcome = await (await parts.executions()).stored.outcomeOf(id, parts);
    if (outcome) return outcome;
    throw new RefusedRequest(409, "This execution has not ended yet");
  }

  async #programIn({ execution, door, name, description, values }: Body<"preview">) {
    await using parts = await this.#partsOf(door);
    const { code, calls = [], labels } = await executedProgram(execution, parts, await parts.executions());
    const given = valuesOf(wordsOf(values));
    return await programToSave({ name, code, calls, given, description, labels, by: "user" }, parts);
  }

  #program({ name, door }: Named): SavedProgram {
    return new ProgramLibrary(this.#placeOf(door)).get(name);
  }

  #managed(door: string | undefined): ManageOptions {
    return { place: this.#placeOf(door), audit: this.#audit(door) };
  }

  #audit(door: string | undefined): ProgramAudit {
    const { origin } = this.#options.app.config;
    const config = { origin, ...(door === undefined ? {} : { door }) };
    return { config, store: this.#options.app.store, place: "page" };
  }

  #placeOf(door: string | undefined): SavedProgramsPlace {
    const { app, env } = this.#options;
    const { origin, doors } = app.config;
    if (door === undefined || doors.includes(door)) return savedProgramsOf(origin, env, door);
    throw new ClaudikinsError("DOOR_NOT_FOUND", `The config has no door "${door}"`);
  }

  /** Opens the part of the config behind a door. Servers that are started to list their tools end with it. */
  async #partsOf(door: string | undefined): Promise<App> {
    const { app, openDoor } = this.#options;
    return door === undefined ? app.withOwnPool() : openDoor(door);
  }
}

/** Empty texts count as missing. */
function wordsOf(texts: Record<string, string>): ArgumentWord[] {
  return Object.entries(texts)
    .filter(([, text]) => text !== "")
    .map(([key, text]) => ({ word: `${key}=${text}`, key, text }));
}

function changesIn(before: SavedProgram, program: SavedProgram): string[] {
  const { changes, isCodeChanged } = differencesOf(before, program);
  return [...changes, ...(isCodeChanged ? ["its code is another"] : [])];
}
