/** What a daemon's transport offers on both ends, over a Unix socket or a named pipe. */

/** One end of a connection for messages, as the daemon sees it. */
export interface Peer<State> {
  data: State;
  send(text: string): unknown;
  /** The code and the reason are those of a WebSocket. */
  close(code?: number, reason?: string): void;
}

export interface PeerHandler<State> {
  open(peer: Peer<State>): void;
  message(peer: Peer<State>, text: string | Buffer): void;
  close(peer: Peer<State>): void;
}

export interface ListenOptions<State> {
  /** Answers a request. If it calls `upgrade`, the connection becomes one for messages, and there is no response. */
  answer(request: Request, upgrade: (state: State) => boolean): Promise<Response | undefined>;
  handler: PeerHandler<State>;
}

export interface Listener {
  /** Requests that are not answered yet. */
  readonly pendingRequests: number;
  /** Open connections for messages. */
  readonly openPeers: number;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/** One end of a connection for messages, as the caller sees it: the part of WebSocket that is used. */
export interface MessageSocket {
  readonly readyState: number;
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
  send(text: string): void;
  close(): void;
  terminate(): void;
}

/** Maximum bytes of one request or message, the same as for servers. Larger arguments would be refused by servers anyway. */
export const maxBytes = 256 * 1_048_576;

/** Unread bytes after which a connection for messages is given up. */
export const maxUnreadBytes = 4 * maxBytes;
