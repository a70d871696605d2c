/**
 * What sessions and clients without sessions have in common: how clients are distinguished, which connections they have, and which one
 * loses its place when all are taken. A client chooses its own name, and all programs of a machine share an address. So connections alone
 * never keep other clients out: a client that only listens loses its place, and one that works stays.
 */
import type { App } from "../../app/app.ts";
import type { LivePerson } from "../../policy/people/live-people.ts";
import { sessionOf } from "../../tools/catalog/session-of.ts";
import { clientsOf } from "../owner.ts";
import { endedToken } from "./refusal.ts";

/** The sender of a request, as its token identifies it. */
export interface Caller {
  /** The key of the token, or of the person who has signed in. Undefined for the token of the server itself, and where none is needed. */
  owner?: string | undefined;
  /** The person who has signed in. */
  person?: LivePerson | undefined;
  /** Whether the person of the token may approve calls at this moment, in the agent. Missing: yes. */
  mayApprove?: (() => Promise<boolean>) | undefined;
  /** The only door that the token opens. */
  door?: string | undefined;
  /** Aborted when the token is no longer valid: everything that it began ends. */
  ended?: AbortSignal | undefined;
  /** Aborted when programs end too, including programs that wait in the store. */
  revoked?: AbortSignal | undefined;
  /** The remote address. */
  address: string;
}

/**
 * Clients are distinguished by their token, their remote address and the name that they give themselves. The address of a person may
 * change at any time.
 */
export function clientKey(
  { owner, person, address }: Pick<Caller, "owner" | "person" | "address">,
  name: string,
): string {
  const where = person ? "" : `${address} `;
  return `${owner === undefined ? "" : clientsOf(owner)}${where}${name.slice(0, 256)}`;
}

/** Whether a server is not shared. That is not known before the config is trusted. */
export async function hasPrivateServers({ config, catalog, isLocked }: App): Promise<boolean> {
  if (isLocked) return true;
  const choices = [...config.servers.values()].map((server) => sessionOf(server, catalog.toolNames(server.name)));
  return (await Promise.all(choices)).some(({ session }) => session === "private");
}

interface Needs {
  /** Whether servers may ask the host. A question must not reach the user of another host. */
  canBeAsked: boolean;
  /** Direct mode passes all notifications. */
  isDirect: boolean;
  /** Whether a server is not shared. In this case alone, the client shares the other servers. */
  hasPrivate: boolean;
}

/** The app with the connections of a client: the shared ones, or its own. `session` names the client to servers that are not shared. */
export function appFor(app: App, { canBeAsked, isDirect, hasPrivate }: Needs, session: string): App {
  if (canBeAsked || isDirect) return app.withOwnPool();
  return hasPrivate ? app.withOwnPool({ session }) : app;
}

/** A place that a client has: a session, or in the revision without sessions, the client itself. */
export interface ClientPlace {
  /** The key of its token or person, which has places of its own. */
  owner?: string | undefined;
  /** The remote address. */
  address: string;
  /** Its `clientKey`. */
  client: string;
  /** Whether it has open requests. */
  readonly isWorking: boolean;
  /** Whether it is connected. */
  readonly isInUse: boolean;
  /** The time of its last request. */
  usedAt: number;
}

/** The places that the token of the caller has. Each token has its own, so that one agent keeps no other out. */
export function placesOf<T extends ClientPlace>({ owner }: Caller, places: Iterable<T>): T[] {
  return [...places].filter((each) => each.owner === owner);
}

/** The token may have ended since the request came. Throws an HttpRefusal. */
export function requireValid({ ended }: Caller): void {
  if (ended?.aborted) throw endedToken();
}

/**
 * The place that a newcomer gets: an unused one of the same client, else one of the address and then of the client with the most places.
 * An unused place is chosen before a listening one, and the one that was unused for longest first. A working place is never chosen, and
 * no address loses a listening place to an address with more places. Undefined if no place can be given up.
 */
export function placeToFree<T extends ClientPlace>(
  places: readonly T[],
  newcomer: Pick<ClientPlace, "address" | "client">,
): T | undefined {
  const byAddress = Map.groupBy(places, ({ address }) => address);
  const byClient = Map.groupBy(places, ({ client }) => client);
  const ofAddress = (address: string) => (byAddress.get(address)?.length ?? 0) + Number(address === newcomer.address);
  const ofClient = (client: string) => (byClient.get(client)?.length ?? 0) + Number(client === newcomer.client);
  const mayGo = ({ isWorking, isInUse, address }: T) =>
    !isWorking && (!isInUse || ofAddress(address) >= ofAddress(newcomer.address));
  const isOwn = ({ isInUse, client }: T) => Number(!isInUse && client === newcomer.client);
  const [first] = places
    .filter(mayGo)
    .sort(
      (a, b) =>
        ofAddress(b.address) - ofAddress(a.address) ||
        isOwn(b) - isOwn(a) ||
        ofClient(b.client) - ofClient(a.client) ||
        Number(a.isInUse) - Number(b.isInUse) ||
        a.usedAt - b.usedAt,
    );
  return first;
}
