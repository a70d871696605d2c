/** Answers of SCIM (RFC 7644): resources, lists and errors. */

export const schemaOf = {
  User: "urn:ietf:params:scim:schemas:core:2.0:User",
  Group: "urn:ietf:params:scim:schemas:core:2.0:Group",
} as const;

const api = "urn:ietf:params:scim:api:messages:2.0";

/** The schema of the body of a PATCH request. */
export const patchSchema = `${api}:PatchOp`;

/** The kinds of errors of RFC 7644, section 3.12. */
type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue";

/** A request that is not done. */
export class ScimRefusal extends Error {
  readonly status: number;
  readonly #type: ScimType | undefined;
  readonly #headers: Record<string, string>;

  constructor(status: number, message: string, type?: ScimType, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.#type = type;
    this.#headers = headers;
  }

  response(): Response {
    const { message: detail, status } = this;
    const type = this.#type === undefined ? {} : { scimType: this.#type };
    return scimAnswer(
      { schemas: [`${api}:Error`], status: String(status), ...type, detail },
      { status, headers: this.#headers },
    );
  }
}

export function scimAnswer(body: object, init: { status?: number; headers?: Record<string, string> } = {}): Response {
  const headers = { ...init.headers, "content-type": "application/scim+json", "cache-control": "no-store" };
  return new Response(JSON.stringify(body), { ...init, headers });
}

/** `from` begins at 0. */
export function listAnswer(resources: readonly object[], total = resources.length, from = 0): Response {
  return scimAnswer({
    schemas: [`${api}:ListResponse`],
    totalResults: total,
    startIndex: from + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  });
}
