/**
 * The `Authorization` header of an OAuth client. Both parts are form-encoded first: RFC 6749, section 2.3.1. A space is `%20`, which servers
 * understand that decode percent-encoding only.
 */
export function basicAuthorization(id: string, secret: string): string {
  const encoded = [id, secret].map((each) =>
    new URLSearchParams([["", each]]).toString().slice(1).replaceAll("+", "%20"),
  );
  return `Basic ${Buffer.from(encoded.join(":")).toString("base64")}`;
}
