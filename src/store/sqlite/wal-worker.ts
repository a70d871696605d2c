/** The worker that copies the write-ahead log into the database, which waits for the disk. */
import { answerJobs } from "../../base/off-thread.ts";
import { openDatabase } from "./database.ts";

export interface CheckpointJob {
  /** The database. */
  file: string;
}

/** Time to wait for others that read or write, before the log is emptied. */
const emptyingBusyMs = 100;

/** Copies first what can be copied beside others. Emptying the log is then quick. Throws FILE_NOT_WRITABLE. */
async function checkpoint({ file }: CheckpointJob): Promise<object> {
  using database = await openDatabase(file);
  database.run("PRAGMA wal_checkpoint(PASSIVE)");
  database.run(`PRAGMA busy_timeout = ${emptyingBusyMs}`);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return {};
}

declare const self: Worker;

answerJobs(self, checkpoint);
