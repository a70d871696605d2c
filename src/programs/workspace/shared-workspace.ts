/**
 * A workspace that replicas share. Its files are in the database, and the folder of each replica has a copy with which programs work. Of two
 * programs that change the same file at different replicas at the same time, the one that is stored first has the name. The other one's file
 * gets a name of its own, and it is told.
 */
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { FileRefusal } from "../../sandbox/host/filesystem/fault.ts";
import { WorkspaceFolder } from "../../sandbox/host/workspace-folder.ts";
import type { FileRows } from "../../store/files.ts";
import type { Parts } from "../parts.ts";
import { bring } from "./bringing.ts";
import { keep } from "./keeping.ts";
import { KnownFiles } from "./known-files.ts";
import type { WorkspaceParts } from "./parts.ts";

/** Conflicts that wait to be told. Further ones are only in the log. */
const maxUntoldConflicts = 50;

/** Problems of files that are remembered, so that each is told once. */
const maxToldProblems = 1_000;

type Turn = "bring" | "keep";

export class SharedWorkspace {
  readonly #parts: WorkspaceParts;
  readonly #told = new Set<string>();
  /** What programs have not been told yet. */
  #conflicts: string[] = [];
  /** What has not begun yet. */
  readonly #waiting = new Map<Turn, Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(files: FileRows, { origin, folders, person }: Parts["config"], log: Log) {
    const config = origin.kind === "demo" ? "" : origin.file;
    const place = { id: sha256(folders.workspaceName), config, person: person?.id };
    const folder = new WorkspaceFolder(folders);
    this.#parts = { files, place, folder, known: new KnownFiles(), log, tell: (problem) => this.#tell(problem) };
  }

  /** Runs a program, which sees what others have stored before. Throws what `bring` throws. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    await this.bring();
    const { known } = this.#parts;
    known.running += 1;
    try {
      return await work();
    } finally {
      known.running -= 1;
    }
  }

  /** Brings what others have changed here. Throws DATABASE_UNAVAILABLE, BUCKET_UNAVAILABLE, and FILE_NOT_WRITABLE if a file cannot be written. */
  bring(): Promise<void> {
    return this.#inTurn("bring", () => bring(this.#parts));
  }

  /** Brings what others have changed here, if that is possible now. Never throws. */
  async refresh(): Promise<void> {
    try {
      await this.bring();
    } catch (error) {
      this.#parts.log.warn(`The files of other replicas are not here yet: ${messageOf(error)}`);
    }
  }

  /**
   * Stores what was changed here. Returns why files are not stored: they stay here. The next time, what failed is tried again. Never throws.
   */
  async keep(): Promise<string[]> {
    try {
      return await this.#inTurn("keep", async () => {
        const { known, folder } = this.#parts;
        // What others have removed must not come back.
        if (!known.isComplete || !folder.exists) await bring(this.#parts);
        const { problems, conflicts } = await keep(this.#parts);
        this.#conflicts = [...this.#conflicts, ...conflicts].slice(0, maxUntoldConflicts);
        return problems;
      });
    } catch (error) {
      const problem = `what was changed in ./workspace is on this replica alone: ${messageOf(error)}`;
      this.#parts.log.warn(problem);
      return [problem];
    }
  }

  /** The conflicts of files since they were asked for last. */
  takeConflicts(): string[] {
    const conflicts = this.#conflicts;
    this.#conflicts = [];
    return conflicts;
  }

  /** One after the other. Callers that wait for the same share it. */
  #inTurn<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    const waiting = this.#waiting.get(turn);
    if (waiting) return waiting as Promise<T>;
    const done = this.#last.then(async () => {
      this.#waiting.delete(turn);
      try {
        return await work();
      } catch (error) {
        throw this.#readable(error);
      }
    });
    this.#waiting.set(turn, done);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Programs see no paths of this machine. */
  #readable(error: unknown): ClaudikinsError {
    if (error instanceof ClaudikinsError) return error;
    this.#parts.log.debug(`./workspace: ${messageOf(error)}`);
    const { why = systemCodeOf(error) ?? "unexpected error", hint = undefined } =
      error instanceof FileRefusal ? error : {};
    return new ClaudikinsError("FILE_NOT_WRITABLE", `./workspace cannot be shared: ${why}`, { hint, cause: error });
  }

  #tell(problem: string): boolean {
    if (this.#told.has(problem)) return false;
    if (this.#told.size >= maxToldProblems) this.#told.clear();
    this.#told.add(problem);
    this.#parts.log.warn(problem);
    return true;
  }
}
