/** The errors that people may see while replicas and the database fail, by kind. */

/** Statuses that say: try again, perhaps elsewhere. */
const statuses: Record<number, string> = {
  403: "403: the person is revoked",
  401: "401: the session of the page has ended",
  404: "404: the session has ended",
  502: "502: the replica has ended",
  503: "503: no replica takes requests",
  504: "504: the replica is silent",
};

/** Codes of claudikins that say what was lost. */
const codes = ["EXECUTION_LOST", "CALL_OUTCOME_UNKNOWN", "DATABASE_UNAVAILABLE", "CANCELLED"] as const;

/** What clients throw when a connection ends. Their errors have no common code. */
const lostConnection =
  /socket connection was closed|connection (?:was )?closed|ECONNRESET|ECONNREFUSED|Unable to connect|terminated|fetch failed|SSE stream|Not connected|aborted before/i;

/** The kind of an error that a client has thrown. Undefined: this error must not happen. */
export function kindOfThrown(error: unknown): string | undefined {
  const { status, code, message = "", data } = Object(error) as Record<string, unknown> & { message?: string };
  const found = [status, code, (data as { status?: unknown } | undefined)?.status].find(
    (each) => typeof each === "number" && each in statuses,
  );
  if (found !== undefined) return statuses[found as number];
  const chain = [message, String((error as { cause?: { message?: string } } | undefined)?.cause?.message ?? "")].join(
    " ",
  );
  if (/request timed out/i.test(chain)) return "no answer within the time of the client";
  if (lostConnection.test(chain)) return "connection lost";
  return kindOfText(chain);
}

/** The kind of an error in the text of an answer. Undefined: this error must not happen. */
export function kindOfText(text: string): string | undefined {
  const code = codes.find((each) => text.includes(each));
  if (code) return code;
  if (/The database .*(?:cannot be reached|does not answer|has not answered)/i.test(text))
    return "DATABASE_UNAVAILABLE";
  if (/Another process has taken|cannot be continued/.test(text)) return "EXECUTION_LOST";
  if (/token is no longer valid/.test(text)) return statuses[403];
  if (
    /The replica that ran this request has ended|the replica that asked has ended|ended while it worked on this/.test(
      text,
    )
  )
    return "the answer is lost";
  // A replica that has used a refresh token, and dies before it has stored the new one, leaves nothing to renew with.
  if (/cannot be used: it needs a sign-in/.test(text)) return "a sign-in is lost";
  if (/claudikins (?:ends|was interrupted|is shutting down)|was cancelled/i.test(text)) return "CANCELLED";
  return undefined;
}
