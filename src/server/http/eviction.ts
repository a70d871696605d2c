/** Chooses the session that ends when a new one begins at the maximum. */

export interface Candidate {
  /** Remote address and name of the client. It only serves fairness: the token decides who may call. */
  client: string;
  transport: { readonly running: number; readonly isInUse: boolean };
  /** The time of its last request. */
  usedAt: number;
}

/**
 * Chooses an idle session of the same client, else of the client with the most sessions. Sessions without a connection come before
 * those that listen, and the longest unused ones come first. A session with an open request is never chosen, and no client loses
 * its only listening session to another client. Undefined if no session can end.
 */
export function sessionToEvict<T extends Candidate>(sessions: readonly T[], client: string): T | undefined {
  const counts = new Map<string, number>();
  for (const each of sessions) counts.set(each.client, (counts.get(each.client) ?? 0) + 1);
  const rank = (each: T) => (each.client === client ? Number.POSITIVE_INFINITY : (counts.get(each.client) ?? 0));
  const fair = (counts.get(client) ?? 0) + 1;
  const candidates = sessions.filter((each) => {
    if (each.transport.running > 0) return false;
    return each.client === client || !each.transport.isInUse || rank(each) > fair;
  });
  const [first] = candidates.sort(
    (a, b) =>
      Number(rank(b) > rank(a)) - Number(rank(a) > rank(b)) ||
      Number(a.transport.isInUse) - Number(b.transport.isInUse) ||
      a.usedAt - b.usedAt,
  );
  return first;
}
