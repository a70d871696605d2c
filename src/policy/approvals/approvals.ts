/**
 * The user's approvals: the calls of all processes that wait for a decision, and the decisions. The audit log records every decision before
 * it takes effect.
 */

import { eventLoopTurn } from "../../base/event-loop.ts";
import type { Environment } from "../../config/environment.ts";
import type { Person } from "../../config/oidc.ts";
import type {
  Approval,
  ApprovalChange,
  ApprovalFilter,
  ApprovalRows,
  ApprovedBefore,
  Asking,
  Decision,
} from "../../store/approval.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { AuditEvent, Decider } from "../../store/audit/event.ts";
import { openStore } from "../../store/open.ts";
import type { Owner } from "../../store/replicas.ts";
import type { Store } from "../../store/store.ts";

/** Time between two checks for decisions of other processes. */
const decisionLookMs = 500;

/** With an environment, the store is opened for the approvals alone, and closed with them. */
type ApprovalsOptions = ({ env: Environment } | { store: Store }) & {
  /** Milliseconds since 1970. */
  now?: () => number;
};

export class Approvals implements AsyncDisposable {
  readonly #now: () => number;
  readonly #store: Store;
  readonly #ownStore: Store | undefined;
  #opening: Promise<ApprovalRows> | undefined;
  #owning: Promise<Owner> | undefined;
  /** Changes that are being recorded. */
  readonly #changing = new Set<Promise<unknown>>();
  /** Open rows of this process, with the functions that wait for them. */
  readonly #watched = new Map<string, { row: Approval; closed: (row: Approval) => void }>();
  readonly #rowListeners = new Set<(row: Approval) => void>();
  readonly #changeListeners = new Set<() => void>();
  /** The running change that marks rows whose time is over. */
  #expiring: Promise<unknown> | undefined;
  /** Rows that are withdrawn together in the next turn. */
  #withdrawing: { ids: string[]; done: Promise<Approval[]> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;
  #isLooking = false;
  /** Whether a watched row may have closed since the last look, or before it was watched. */
  #isNew = false;
  /** Whether others have changed the database since the last look. */
  #isChanged = false;

  constructor({ now = Date.now, ...options }: ApprovalsOptions) {
    this.#store = "store" in options ? options.store : openStore(options.env);
    this.#ownStore = "store" in options ? undefined : this.#store;
    this.#now = now;
  }

  /** The approvals that wait for a decision, oldest first. Throws FILE_NOT_WRITABLE, as all methods. */
  open(filter: Omit<ApprovalFilter, "state"> = {}): Promise<Approval[]> {
    return this.list({ ...filter, state: "open" });
  }

  /** All approvals of the last weeks, oldest first. */
  async list(filter: ApprovalFilter = {}): Promise<Approval[]> {
    const rows = await this.#opened();
    await this.#expire(rows);
    await this.#withdrawLost(await rows.unsaved(filter));
    return rows.list(filter);
  }

  /** The newest that were decided or expired after a time, at most `count`, newest first. */
  async decided(after: number, count: number): Promise<Approval[]> {
    const rows = await this.#opened();
    return rows.decided(after, count);
  }

  async get(id: string): Promise<Approval | undefined> {
    const rows = await this.#opened();
    await this.#expire(rows);
    const row = await rows.get(id);
    if (row?.state !== "open") return row;
    await this.#withdrawLost(await rows.unsaved({ execution: row.execution }));
    return rows.get(id);
  }

  /** The call of the same tool that was approved last, for the same person behind the same door. Its arguments may be cut. */
  async lastApproved(row: ApprovedBefore): Promise<Approval | undefined> {
    return (await this.#opened()).lastApproved(row);
  }

  /** All arguments of an open approval, as JSON. Undefined if it is not open, because then only an excerpt is kept. */
  async argumentsOf(id: string): Promise<string | undefined> {
    return (await this.#opened()).argumentsOf(id);
  }

  /** Whether a call of the execution waits. This is cheap enough to be asked often. */
  async isWaiting(execution: string): Promise<boolean> {
    const rows = await this.#opened();
    await this.#expire(rows);
    return rows.isWaiting(execution);
  }

  /**
   * Decides an open approval. Returns the rows that it decided, the wanted one first: none if the id is unknown, the time is over,
   * or the call was already decided. A denial also decides the other open calls of the tool in the same execution. `person` is the one who
   * decides, if it is not the user of this process.
   */
  decide(id: string, decision: Decision, person?: Person): Promise<Approval[]> {
    return this.#change(
      { type: "decide", id, decision },
      { ...thisProcess(decision.by), ...(person ? { person } : {}) },
    );
  }

  /** Whether replicas of `serve --http` share the store, and continue executions that no process runs. */
  get areShared(): boolean {
    return this.#store.continuations !== undefined;
  }

  /** Whether a running process waits for the row. */
  isWaitedFor({ owner }: Approval): Promise<boolean> {
    return this.#store.isAlive(owner);
  }

  /** Withdraws an open or approved row, because the call has changed or is no longer needed. */
  async withdraw(id: string): Promise<Approval[]> {
    // The rows of an execution that is cancelled are withdrawn in one change.
    this.#withdrawing ??= { ids: [], done: this.#pending(eventLoopTurn().then(() => this.#withdrawAll())) };
    this.#withdrawing.ids.push(id);
    return (await this.#withdrawing.done).filter((row) => row.id === id);
  }

  #withdrawAll(): Promise<Approval[]> {
    const ids = this.#withdrawing?.ids ?? [];
    this.#withdrawing = undefined;
    return this.#change({ type: "withdraw", ids });
  }

  now(): number {
    return this.#now();
  }

  /** Writes an open row, for which this process waits. Throws POLICY_DENIED if too many rows are open; the error names `tool`. */
  async ask(asking: Omit<Asking, "owner">, tool = `${asking.server}.${asking.tool}`): Promise<Approval> {
    const { name } = await this.#owner();
    const [row] = await this.#change({ type: "ask", asking: { ...asking, owner: name }, tool });
    this.#tell(row!);
    return row!;
  }

  /** The last row of a call. If it is open, this process waits for it from now on. */
  async ofCall(execution: string, call: number): Promise<Approval | undefined> {
    const rows = await this.#opened();
    await this.#expire(rows);
    const row = await rows.ofCall(execution, call);
    if (row?.state === "open") await this.#change({ type: "adopt", id: row.id, owner: (await this.#owner()).name });
    return row;
  }

  /** The permission for further calls of a tool that a person gave an execution. */
  async sessionApproval(execution: string, server: string, tool: string): Promise<Approval | undefined> {
    return (await this.#opened()).sessionApproval(execution, server, tool);
  }

  /** Records an event without a row. */
  async note(event: AuditEvent, by: Decider): Promise<void> {
    await this.#make({ type: "note", event }, by);
  }

  /** Calls back once, when the row is no longer open. Returns a function that ends the wait. */
  watch(row: Approval, closed: (row: Approval) => void): () => void {
    this.#watched.set(row.id, { row, closed });
    this.#isNew = true;
    this.#run();
    return () => {
      this.#watched.delete(row.id);
      this.#run();
    };
  }

  /** Calls the listener with each row of this process that opens or closes. Returns a function that ends this. */
  onRow(listener: (row: Approval) => void): () => void {
    this.#rowListeners.add(listener);
    return () => void this.#rowListeners.delete(listener);
  }

  /** Calls the listener after any change, also by other processes. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    this.#run();
    return () => {
      this.#changeListeners.delete(listener);
      this.#run();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watched.clear();
    this.#changeListeners.clear();
    this.#run();
    await Promise.allSettled(this.#changing);
    const owner = await this.#owning?.catch(() => undefined);
    this.#opening = undefined;
    this.#owning = undefined;
    await owner?.[Symbol.asyncDispose]();
    await this.#ownStore?.[Symbol.asyncDispose]();
  }

  #owner(): Promise<Owner> {
    this.#owning ??= this.#store.takeOwner().catch((error: unknown) => {
      this.#owning = undefined;
      throw error;
    });
    return this.#owning;
  }

  /** The rows, without those that were decided long ago. */
  #opened(): Promise<ApprovalRows> {
    this.#opening ??= this.#openNow().catch((error: unknown) => {
      // The next caller tries again.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openNow(): Promise<ApprovalRows> {
    const { approvals } = this.#store;
    if (await approvals.hasOld(this.#now())) await this.#make({ type: "prune" });
    return approvals;
  }

  /** Changes rows, and notifies the functions that wait for them. */
  async #change(change: ApprovalChange, by?: Decider): Promise<Approval[]> {
    await this.#opened();
    const changed = await this.#make(change, by);
    for (const row of changed) if (row.state !== "open") this.#close(row);
    if (changed.length > 0) this.#changed();
    return changed;
  }

  #make(change: ApprovalChange, by = thisProcess()): Promise<Approval[]> {
    return this.#pending(this.#store.approvals.change(change, by, this.#now()));
  }

  /** Makes the end of this process wait for the work. */
  #pending<T>(work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#changing.delete(watched));
    this.#changing.add(watched);
    return watched;
  }

  /** Marks rows whose time is over. */
  async #expire(rows: ApprovalRows): Promise<void> {
    if (!this.#expiring && !(await rows.isDue(this.#now()))) return;
    this.#expiring ??= this.#change({ type: "expire" }).finally(() => {
      this.#expiring = undefined;
    });
    await this.#expiring;
  }

  /** Withdraws the rows of processes that have died. `unsaved` are rows whose executions no other process can continue. */
  async #withdrawLost(unsaved: readonly Approval[]): Promise<void> {
    const owners = [...new Set(unsaved.map(({ owner }) => owner))];
    const isAlive = new Map(
      await Promise.all(owners.map(async (name) => [name, await this.#store.isAlive(name)] as const)),
    );
    const ids = unsaved.flatMap(({ id, owner }) => (isAlive.get(owner) ? [] : [id]));
    if (ids.length > 0) await this.#change({ type: "withdraw", ids });
  }

  /** Looks at the rows as long as somebody waits for them. */
  #run(): void {
    const isNeeded = this.#watched.size + this.#changeListeners.size > 0;
    if (isNeeded) {
      // Time passes without a change of the database.
      this.#timer ??= setInterval(() => void this.#look(), decisionLookMs);
      this.#stopListening ??= this.#store.onChange(() => this.#noticed());
    } else {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#stopListening?.();
      this.#stopListening = undefined;
    }
  }

  #noticed(): void {
    this.#isNew = true;
    this.#isChanged = true;
    void this.#look();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const rows = await this.#opened();
      await this.#expire(rows);
      if (!this.#isNew) return;
      const isChanged = this.#isChanged;
      this.#isNew = false;
      this.#isChanged = false;
      // A row that is watched from now on waits for the next check.
      const watched = [...this.#watched.values()];
      const open = await rows.openAmong(watched.map(({ row }) => row.id));
      for (const { row } of watched) {
        if (!open.has(row.id)) this.#close((await rows.get(row.id)) ?? { ...row, state: "withdrawn" });
      }
      if (isChanged) this.#changed();
    } catch {
      // The database may be locked for a long time, or unavailable. The next check tries again.
      this.#isNew = true;
    } finally {
      this.#isLooking = false;
    }
  }

  #close(row: Approval): void {
    const watched = this.#watched.get(row.id);
    if (!watched) return;
    this.#watched.delete(row.id);
    this.#run();
    watched.closed(row);
    this.#tell(row);
  }

  #tell(row: Approval): void {
    for (const listener of [...this.#rowListeners]) listener(row);
  }

  #changed(): void {
    for (const listener of [...this.#changeListeners]) listener();
  }
}
