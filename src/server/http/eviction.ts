/** Which session ends when another one is to begin and there are as many as there may be. */

export interface Candidate {
  /** Remote address and name of the client. Only fairness depends on it: the token decides who may call. */
  client: string;
  transport: { readonly running: number; readonly isInUse: boolean };
  /** When a request of it came last. */
  usedAt: number;
}

/**
 * Never one that has a request without an answer. First an idle one of the same client, then one of the client with the most
 * sessions; one without a connection before one that only listens, and the longest unused before others. Nobody loses the only
 * session that listens to somebody else. Undefined if no session can end.
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
