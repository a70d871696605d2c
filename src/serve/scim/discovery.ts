/** The description of the service: its abilities, its kinds of resources and their attributes (RFC 7643, sections 5 to 7). */
import type { DirectoryKind } from "../../store/directory.ts";
import { listAnswer, ScimRefusal, schemaOf, scimAnswer } from "./answers.ts";

/** Entries of one answer to a list. */
export const maxScimPage = 1_000;

const core = "urn:ietf:params:scim:schemas:core:2.0";

const attribute = (name: string, more: object = {}) => ({
  name,
  type: "string",
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...more,
});

const attributes: Record<DirectoryKind, object[]> = {
  User: [
    attribute("userName", { required: true, uniqueness: "server" }),
    attribute("externalId", { caseExact: true }),
    attribute("displayName"),
    attribute("active", { type: "boolean" }),
    attribute("name", {
      type: "complex",
      subAttributes: [attribute("formatted"), attribute("familyName"), attribute("givenName")],
    }),
    attribute("emails", {
      type: "complex",
      multiValued: true,
      subAttributes: [attribute("value"), attribute("type"), attribute("primary", { type: "boolean" })],
    }),
  ],
  Group: [
    attribute("displayName", { required: true, uniqueness: "server" }),
    attribute("externalId", { caseExact: true }),
    attribute("members", {
      type: "complex",
      multiValued: true,
      subAttributes: [attribute("value", { mutability: "immutable" })],
    }),
  ],
};

const kinds: readonly DirectoryKind[] = ["User", "Group"];

/** The answer to a question about the service at `path`, below its address. Undefined for other paths. */
export function discovered(path: readonly string[], base: string): Response | undefined {
  const [what, id, ...more] = path;
  if (more.length > 0) return undefined;
  switch (what) {
    case "ServiceProviderConfig":
      return id === undefined ? scimAnswer(serviceConfig(base)) : undefined;
    case "ResourceTypes":
      return one(
        kinds.map((kind) => resourceType(kind, base)),
        id,
      );
    case "Schemas":
      return one(
        kinds.map((kind) => schema(kind, base)),
        id,
      );
    default:
      return undefined;
  }
}

function one(all: { id: string }[], id: string | undefined): Response {
  if (id === undefined) return listAnswer(all);
  const found = all.find((each) => each.id === id);
  if (!found) throw new ScimRefusal(404, `There is no "${id}" here`);
  return scimAnswer(found);
}

function serviceConfig(base: string): object {
  return {
    schemas: [`${core}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxScimPage },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      { type: "oauthbearertoken", name: "Bearer token", description: "The token of auth.oidc.scim in the config" },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

function resourceType(kind: DirectoryKind, base: string) {
  return {
    schemas: [`${core}:ResourceType`],
    id: kind,
    name: kind,
    endpoint: `/${kind}s`,
    schema: schemaOf[kind],
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${kind}` },
  };
}

function schema(kind: DirectoryKind, base: string) {
  const id = schemaOf[kind];
  return {
    schemas: [`${core}:Schema`],
    id,
    name: kind,
    attributes: attributes[kind],
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` },
  };
}
