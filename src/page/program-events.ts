/** What a saved program has beside its code, for the page: its recordings, which are its tests, its triggers, and their deliveries. */
import type { App } from "../app/app.ts";
import { recordProgram } from "../app/record-program.ts";
import type { JsonObject } from "../base/json-object.ts";
import { minuteMs } from "../base/units.ts";
import { modelServerName } from "../config/model-server.ts";
import type { SavedProgramsPlace } from "../config/saved-programs-place.ts";
import { placeName } from "../programs/events/places.ts";
import { receiverText, sourceText, Triggers, whenText } from "../programs/events/stored-triggers.ts";
import { mentions } from "../programs/mentioned-servers.ts";
import { RecordingFiles, recordingFile, requireRecordingName } from "../programs/recordings/recording-files.ts";
import { testProgram } from "../programs/recordings/test-program.ts";
import { ProgramLibrary } from "../programs/saved/library.ts";
import type { SavedProgram } from "../programs/saved/model.ts";
import type { BriefDelivery } from "../store/deliveries.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageDelivery, PageProgramAbout, PageRecorded, PageTested } from "./programs-contract.ts";

/** Deliveries of one program on the page. Dead ones come first. */
const maxShownDeliveries = 20;

/** Characters of the message of a delivery, and of one difference of a test. */
const maxShownMessageChars = 1_000;

/** Differences of one test. */
const maxShownDifferences = 30;

/** Time for all tests of a program. */
const pageTestMs = 2 * minuteMs;

export async function aboutProgram(
  name: string,
  place: SavedProgramsPlace,
  { store, config }: Pick<App, "store" | "config">,
): Promise<PageProgramAbout> {
  const triggers = new Triggers(place);
  const { code } = new ProgramLibrary(place).get(name);
  const deliveries = await store.deliveries.list(placeName(place), maxShownDeliveries, name);
  return {
    recordings: new RecordingFiles(place).files(name),
    triggers: triggers.of(name).map((trigger) => ({
      id: trigger.id,
      source: sourceText(trigger),
      filter: trigger.filter,
      perMinute: trigger.perMinute,
    })),
    notifications: triggers.notificationsOf(name).flatMap(({ id, on, notify, filter }) => {
      const when = on.kind === "after" && on.when ? `${whenText(on.when)}, ` : "";
      return notify ? [{ id, text: `${when}${receiverText(notify)}`, filter }] : [];
    }),
    modelCalls: mentions(code, `${modelServerName}.ask`) ? (config.askModel || { calls: 0 }).calls : undefined,
    deliveries: deliveries.map(shown),
  };
}

/** Replays the recordings of the program, without any server. Throws PROGRAM_NOT_FOUND. */
export async function testedProgram(
  name: string,
  place: SavedProgramsPlace,
  { sandbox }: Pick<App, "sandbox">,
): Promise<PageTested[]> {
  const program = new ProgramLibrary(place).get(name);
  const files = new RecordingFiles(place);
  const recordings = files.files(name).map((file) => ({ file, read: () => files.read(file) }));
  const tests = await testProgram(program, recordings, { sandbox, signal: AbortSignal.timeout(pageTestMs) });
  return tests.map(({ recording, ok, durationMs, differences, problem }) => ({
    recording,
    ok,
    durationMs,
    differences: differences.slice(0, maxShownDifferences).map(({ text }) => text.slice(0, maxShownMessageChars)),
    more: Math.max(0, differences.length - maxShownDifferences),
    problem,
  }));
}

/** Runs the program, and keeps its calls as a recording with a new name, or with the given one. Throws RefusedRequest if it fails. */
export async function recordedTest(
  program: SavedProgram,
  { input, as }: { input: JsonObject; as: string | undefined },
  app: App,
): Promise<PageRecorded> {
  if (as !== undefined) requireRecordingName(as);
  const files = new RecordingFiles(app.config.savedPrograms);
  const name = as ?? files.nextName(program.name);
  const file = recordingFile(program.name, name);
  if (files.files(program.name).includes(file)) {
    throw new RefusedRequest(409, `There already is a recording ${file}`, "Give it another name.");
  }
  const done = await recordProgram({ program, input, name }, app, AbortSignal.timeout(pageTestMs));
  if ("failed" in done) {
    const { message, hint } = done.failed.error;
    throw new RefusedRequest(422, `Nothing was kept, because the program failed: ${message}`, hint);
  }
  const { calls, isPrivateReplaced = false } = done.recording;
  return { recording: file, calls: calls.length, isPrivateReplaced };
}

function shown({ id, triggerId, state, attempts, at, nextAt, execution, message }: BriefDelivery): PageDelivery {
  return {
    id,
    trigger: triggerId,
    state,
    attempts,
    at,
    nextAt: state === "failed" ? nextAt : undefined,
    execution: execution ?? undefined,
    message: state === "done" ? undefined : message?.slice(0, maxShownMessageChars),
  };
}
