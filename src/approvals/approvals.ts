/**
 * The approvals of the user: what waits for a decision, in all processes, and the decisions. The audit log records every decision
 * before it counts.
 */
import { thisProcess } from "../audit/decider.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import { auditing, type Write } from "../audit/log.ts";
import type { Environment } from "../config/environment.ts";
import { auditFolder, ownersFolder, storeFile } from "../config/locations.ts";
import { ClaudikinsError } from "../errors.ts";
import { argumentsDigest } from "../policy/desk.ts";
import { type Approval, type ApprovalFilter, ApprovalStore, type Asking, type Decision } from "../store/approvals.ts";
import { openDatabase } from "../store/database.ts";
import { isOwnerAlive, Owner } from "../store/owner.ts";

/** Maximum number of open rows of all executions. No person reads more. */
const maxOpen = 500;

/** Time between looks at the decisions of other processes. */
const lookMs = 500;

interface ApprovalsOptions {
  env: Environment;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export class Approvals implements AsyncDisposable {
  readonly #env: Environment;
  readonly #now: () => number;
  #opening: Promise<ApprovalStore> | undefined;
  #owning: Promise<Owner> | undefined;
  /** Changes that are being recorded. */
  readonly #changing = new Set<Promise<unknown>>();
  /** Open rows of this process, with the functions that wait for them. */
  readonly #watched = new Map<string, { row: Approval; closed: (row: Approval) => void }>();
  readonly #rowListeners = new Set<(row: Approval) => void>();
  readonly #changeListeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** Whether a watched row may have closed before it was watched. */
  #isNew = false;

  constructor({ env, now = Date.now }: ApprovalsOptions) {
    this.#env = env;
    this.#now = now;
  }

  /** The approvals that wait for a decision, oldest first. Throws FILE_NOT_WRITABLE, as all methods. */
  open(filter: Omit<ApprovalFilter, "state"> = {}): Promise<Approval[]> {
    return this.list({ ...filter, state: "open" });
  }

  /** All approvals of the last weeks, oldest first. */
  async list(filter: ApprovalFilter = {}): Promise<Approval[]> {
    const store = await this.#opened();
    await this.#expire(store);
    await this.#withdrawLost(store);
    return store.list(filter);
  }

  async get(id: string): Promise<Approval | undefined> {
    return (await this.list()).find((row) => row.id === id);
  }

  /**
   * Decides an open approval. Returns the rows that it decided, the wanted one first: none if the id is unknown, the time is over,
   * or another decision was first. A denial also decides the other open calls of the tool in the same execution.
   */
  decide(id: string, decision: Decision): Promise<Approval[]> {
    return this.#change(thisProcess(decision.by), (store) => store.decide(id, decision, this.#now()));
  }

  /** Whether a process runs that waits for the row. */
  isWaitedFor({ owner }: Approval): Promise<boolean> {
    return isOwnerAlive(ownersFolder(this.#env), owner);
  }

  /** Withdraws an open or approved row, because what was asked about has changed or nobody needs it any more. */
  withdraw(id: string): Promise<Approval[]> {
    return this.#change(thisProcess(), (store) => {
      const row = store.withdraw(id, this.#now());
      return row ? [row] : [];
    });
  }

  now(): number {
    return this.#now();
  }

  /** Writes an open row, for which this process waits. Throws POLICY_DENIED if too many rows are open. */
  async ask(asking: Omit<Asking, "owner">): Promise<Approval> {
    const [store, { name }] = await Promise.all([this.#opened(), this.#owner()]);
    if (store.countOpen() >= maxOpen) {
      const { server, tool } = asking;
      throw new ClaudikinsError(
        "POLICY_DENIED",
        `${server}.${tool} was not called: ${maxOpen} calls already wait for approval`,
        {
          hint: "Decide about these first: claudikins approvals --all",
        },
      );
    }
    const row = store.add({ ...asking, owner: name });
    this.#tell(row);
    this.#changed();
    return row;
  }

  /** The last row of a call. If it is open, this process waits for it from now on. */
  async ofCall(execution: string, call: number): Promise<Approval | undefined> {
    const store = await this.#opened();
    await this.#expire(store);
    const row = store.ofCall(execution, call);
    if (row?.state === "open") store.adopt(row.id, (await this.#owner()).name);
    return row;
  }

  /** The permission for further calls of a tool that a person gave an execution. */
  async sessionApproval(execution: string, server: string, tool: string): Promise<Approval | undefined> {
    return (await this.#opened()).sessionApproval(execution, server, tool);
  }

  /** Records an event without a row. */
  note(event: AuditEvent, by: Decider): Promise<void> {
    return auditing(auditFolder(this.#env), (write) => write(event, by));
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
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watched.clear();
    this.#changeListeners.clear();
    await Promise.allSettled(this.#changing);
    const [store, owner] = await Promise.all([
      this.#opening?.catch(() => undefined),
      this.#owning?.catch(() => undefined),
    ]);
    this.#opening = undefined;
    this.#owning = undefined;
    store?.close();
    owner?.[Symbol.dispose]();
  }

  #owner(): Promise<Owner> {
    this.#owning ??= Owner.take(ownersFolder(this.#env)).catch((error: unknown) => {
      this.#owning = undefined;
      throw error;
    });
    return this.#owning;
  }

  #opened(): Promise<ApprovalStore> {
    this.#opening ??= openDatabase(storeFile(this.#env)).then(
      (database) => {
        const store = new ApprovalStore(database);
        store.prune(this.#now());
        return store;
      },
      (error: unknown) => {
        // The next caller tries again.
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  /** Changes rows and records the events together: no decision counts without its line in the log. */
  async #change(by: Decider, work: (store: ApprovalStore) => Approval[]): Promise<Approval[]> {
    const store = await this.#opened();
    const change = auditing(auditFolder(this.#env), (write) =>
      store.atomically(() => recorded(work(store), by, write)),
    );
    this.#changing.add(change);
    const rows = await change.finally(() => this.#changing.delete(change));
    for (const row of rows) this.#close(row);
    if (rows.length > 0) this.#changed();
    return rows;
  }

  /** Marks rows whose time is over. */
  async #expire(store: ApprovalStore): Promise<void> {
    const now = this.#now();
    if (store.isDue(now)) await this.#change(thisProcess(), (each) => each.expire(now));
  }

  /** Withdraws the rows of processes that have died, unless another process can continue their executions. */
  async #withdrawLost(store: ApprovalStore): Promise<void> {
    const rows = store.unsaved();
    const owners = [...new Set(rows.map(({ owner }) => owner))];
    const folder = ownersFolder(this.#env);
    const isAlive = new Map(
      await Promise.all(owners.map(async (name) => [name, await isOwnerAlive(folder, name)] as const)),
    );
    const lost = rows.filter(({ owner }) => !isAlive.get(owner));
    if (lost.length === 0) return;
    await this.#change(thisProcess(), (each) => lost.flatMap(({ id }) => each.withdraw(id, this.#now()) ?? []));
  }

  /** Looks at the rows as long as somebody waits for them. */
  #run(): void {
    const isNeeded = this.#watched.size + this.#changeListeners.size > 0;
    if (isNeeded) this.#timer ??= setInterval(() => void this.#look(), lookMs);
    else {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const store = await this.#opened();
      await this.#expire(store);
      const hasChanged = store.hasChanged();
      if (!hasChanged && !this.#isNew) return;
      this.#isNew = false;
      for (const { row } of [...this.#watched.values()]) {
        const now = store.get(row.id);
        if (now?.state !== "open") this.#close(now ?? { ...row, state: "withdrawn" });
      }
      if (hasChanged) this.#changed();
    } catch {
      // The file may be locked for long. The next look tries again.
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

/** Writes an event for each row, all at once. Returns the rows. */
function recorded(rows: Approval[], by: Decider, write: Write): Approval[] {
  const events = rows.flatMap((row) => {
    const { state, scope } = row;
    return state === "open" ? [] : [{ decision: state, ...aboutRow(row), ...(scope ? { scope } : {}) }];
  });
  if (events.length > 0) write(events, by);
  return rows;
}

function aboutRow({
  id,
  config,
  execution,
  call,
  line,
  server,
  tool,
  args,
  bound,
}: Approval): Omit<AuditEvent, "decision"> {
  return {
    approval: id,
    ...(config === null ? {} : { config }),
    execution,
    call,
    ...(line === null ? {} : { line }),
    server,
    tool,
    arguments: { sha256: argumentsDigest(bound), bytes: Buffer.byteLength(JSON.stringify(args)) },
  };
}
