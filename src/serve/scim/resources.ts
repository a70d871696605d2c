/** The users and groups of SCIM (RFC 7643), with the attributes that are kept. Others are dropped, as the standard allows. */
import { z } from "zod";
import type { DirectoryAttributes, DirectoryEntry, DirectoryKind } from "../../store/directory.ts";
import { ScimRefusal, schemaOf } from "./answers.ts";

/** Characters of one attribute. Names and addresses are shorter. */
const maxAttributeChars = 1_024;

/** Addresses of one user. */
const maxEmails = 50;

/** Members of one group. */
export const maxMembers = 100_000;

const text = z.string().max(maxAttributeChars);
const name = text.min(1);

/** Some directories send "True" and "False" as texts. */
const flag = z.preprocess((value) => {
  const word = typeof value === "string" ? value.toLowerCase() : undefined;
  return word === "true" ? true : word === "false" ? false : value;
}, z.boolean());

const value = z.object({ value: name });

const schemas = {
  User: z.object({
    userName: name,
    externalId: name.optional(),
    displayName: text.optional(),
    active: flag.default(true),
    name: z.object({ formatted: text.optional(), familyName: text.optional(), givenName: text.optional() }).optional(),
    emails: z
      .array(z.object({ value: text, type: text.optional(), primary: flag.optional() }))
      .max(maxEmails)
      .optional(),
  }),
  Group: z.object({
    displayName: name,
    externalId: name.optional(),
    members: z.array(value).max(maxMembers).default([]),
  }),
};

/** The attributes by kind, in the case in which they are written. */
export const attributesOf: Record<DirectoryKind, readonly string[]> = {
  User: Object.keys(schemas.User.shape),
  Group: Object.keys(schemas.Group.shape),
};

/** A resource without what the server adds. Its attributes may have any values until they are checked. */
export type Resource = Record<string, unknown>;

/** Reads a resource. Attributes have names in any case. Throws a ScimRefusal. */
export function attributesIn(kind: DirectoryKind, given: Resource): DirectoryAttributes {
  const { success, data, error } = schemas[kind].safeParse(withNames(kind, given));
  if (!success) {
    const [{ path, message }] = error.issues as [z.core.$ZodIssue];
    throw new ScimRefusal(400, `${path.join(".")}: ${message}`, "invalidValue");
  }
  if ("userName" in data) {
    return {
      name: data.userName,
      externalId: data.externalId,
      isActive: data.active,
      json: JSON.stringify(data),
      members: [],
    };
  }
  const { members, ...group } = data;
  const ids = [...new Set(members.map((each) => each.value))];
  return {
    name: group.displayName,
    externalId: group.externalId,
    isActive: true,
    json: JSON.stringify(group),
    members: ids,
  };
}

/** Null removes an attribute, as a missing one does. */
function withNames(kind: DirectoryKind, given: Resource): Resource {
  const named = attributesOf[kind].flatMap((attribute) => {
    const found = Object.entries(given).find(([key]) => key.toLowerCase() === attribute.toLowerCase())?.[1];
    return found === undefined || found === null ? [] : [[attribute, found] as const];
  });
  return Object.fromEntries(named);
}

/** The resource that is kept, before a change. */
export function resourceOf(kind: DirectoryKind, { json, members }: DirectoryEntry): Resource {
  const attributes = JSON.parse(json) as Resource;
  return kind === "User" ? attributes : { ...attributes, members: members.map((id) => ({ value: id })) };
}

/** The resource as clients get it. `base` is the address of the service. */
export function shownResource(kind: DirectoryKind, entry: DirectoryEntry, base: string, withMembers: boolean): object {
  const { id, createdAt, changedAt } = entry;
  const { members, ...rest } = resourceOf(kind, entry);
  return {
    schemas: [schemaOf[kind]],
    id,
    ...rest,
    ...(kind === "Group" && withMembers ? { members } : {}),
    meta: {
      resourceType: kind,
      created: new Date(createdAt).toISOString(),
      lastModified: new Date(changedAt).toISOString(),
      location: `${base}/${kind}s/${id}`,
    },
  };
}
