/** The processes that use a store, and for `serve --http`, where each can be reached and what clients have at each. */

export interface ReplicaRows {
  /** Tells the others that this process, with everything that it runs, answers at `url` as long as it is alive. */
  join(url: string): Promise<Replica>;
  /** A living replica. */
  find(replica: string): Promise<Reached | undefined>;
  /** The living replica that runs an execution. */
  runnerOf(execution: string): Promise<Reached | undefined>;
  /** What all replicas have together. */
  state(): Promise<TeamState>;
  /** 32 random bytes, which are made once and are the same for everybody. */
  key(): Promise<Uint8Array<ArrayBuffer>>;
  readonly sessions: SessionRows;
  readonly values: ValueRows;
}

export interface TeamState {
  /** Living replicas. */
  replicas: number;
  /** Saved programs that have not ended. */
  programs: number;
  /** Bytes of saved programs and of results. */
  bytes: number;
}

/** A replica that can be reached. */
export interface Reached {
  replica: string;
  url: string;
}

/** This process. */
export interface Replica extends Owner {
  /** Whether the others surely count this process as alive. */
  readonly holds: boolean;
  /** How often the others may have counted it as dead. */
  readonly lapses: number;
  /** Resolves when the others surely count it as alive. Throws DATABASE_UNAVAILABLE. */
  confirm(): Promise<void>;
}

/** A session of the revisions up to 2025-11-25. */
export interface StoredSession {
  /** The digest of the id that the client has. */
  id: string;
  /** The config and the door. */
  place: string;
  /** The key of the token or of the person. Null for the token of the server itself. */
  owner: string | null;
  /** The `clientKey` of the client. */
  client: string;
  /** The parameters of `initialize`, as JSON. */
  parameters: string;
  /** What the client has set, as JSON. */
  kept: string;
}

/** A session that a replica has taken over. */
export interface AdoptedSession extends StoredSession {
  /** How often it was taken over: 1 for the first time. */
  adoptions: number;
}

/** Time in milliseconds after which a session ends if its replica writes nothing. */
export interface SessionTime {
  id: string;
  ms: number;
}

export interface SessionRows {
  begin(session: StoredSession, replica: string, ms: number): Promise<void>;
  /** The living replica that has the session. Undefined if the session has ended, or its replica is dead. */
  find(id: string): Promise<Reached | undefined>;
  /** Whether a living replica has the session, whose row is kept for longer than this. */
  outlasts(id: string, ms: number): Promise<boolean>;
  /** Takes a session from its dead replica. Undefined if another replica has it, or it is of another place or owner. */
  adopt(
    session: Pick<StoredSession, "id" | "place" | "owner">,
    to: string,
    ms: number,
  ): Promise<AdoptedSession | undefined>;
  keep(id: string, replica: string, kept: string): Promise<void>;
  /** Lets sessions of a replica live longer, and removes old ones. Returns the ids of those that the replica still has. */
  renew(times: readonly SessionTime[], replica: string): Promise<Set<string>>;
  /** Leaves sessions of a replica to the one that is asked for them next. */
  leave(ids: readonly string[], replica: string): Promise<void>;
  /** Nothing happens if another replica has the session. */
  end(id: string, replica: string): Promise<void>;
  /** Removes the sessions of an owner in a config, at whatever replica. */
  forget(config: string, owner: string): Promise<void>;
}

/** A short text for some time, such as a sign-in that is under way. */
export interface KeptValue {
  kind: string;
  /** A digest. */
  id: string;
  value: string;
  /** In milliseconds since 1970. */
  endsAt: number;
}

export interface ValueRows {
  /** Adds a value, and removes the oldest ones of its kind beyond `max`. */
  add(value: KeptValue, max: number): Promise<void>;
  /** Undefined if there is none, or its time is over. */
  get(kind: string, id: string): Promise<KeptValue | undefined>;
  /** The ids under which nothing is kept. */
  missing(ids: readonly string[]): Promise<string[]>;
  /** Removes it. One caller alone gets it. */
  take(kind: string, id: string): Promise<KeptValue | undefined>;
}

/** A process that is alive for all others until this is disposed, or the process has died. */
export interface Owner extends AsyncDisposable {
  /** A random name, which no other process ever has. */
  readonly name: string;
}
