/**
 * The changes of a PATCH request (RFC 7644, section 3.5.2), as Entra ID, Okta and others send them: operations in any case, values as texts,
 * and attributes that are not kept. The library scim-patch is not used, because a path can reach the prototype of all objects in it.
 */
import { z } from "zod";
import { isObject } from "../../base/json-object.ts";
import type { DirectoryKind } from "../../store/directory.ts";
import { patchSchema, ScimRefusal, schemaOf } from "./answers.ts";
import { attributesOf, type Resource } from "./resources.ts";

/** Operations of one request. Directories send some 100 members at once, each as one operation. */
const maxOperations = 5_000;

const body = z.object({
  schemas: z.array(z.string()).refine((all) => all.includes(patchSchema), `expected ${patchSchema}`),
  Operations: z
    .array(
      z.object({
        op: z
          .string()
          .toLowerCase()
          .pipe(z.enum(["add", "replace", "remove"])),
        path: z.string().max(1_024).nullish(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(maxOperations),
});

type Operation = z.infer<typeof body>["Operations"][number];

/** `name[attribute eq "value"].part`; everything but the name may be missing. */
const pathForm =
  /^(?<name>\w+)(?:\[\s*(?<by>\w+)\s+eq\s+(?<wanted>"(?:[^"\\]|\\.)*"|true|false)\s*\])?(?:\.(?<part>\w+))?$/i;

/** Changes a resource. Throws a ScimRefusal. */
export function patched(kind: DirectoryKind, resource: Resource, request: unknown): Resource {
  const { success, data, error } = body.safeParse(request);
  if (!success) {
    const [{ path, message }] = error.issues as [z.core.$ZodIssue];
    throw new ScimRefusal(400, `${path.join(".")}: ${message}`, "invalidSyntax");
  }
  let changed = { ...resource };
  const joined = joinedMembers(data.Operations);
  for (const operation of joined) changed = done(kind, changed, operation);
  return changed;
}

/** Members that come one by one are added together: a group may have thousands. */
function joinedMembers(operations: readonly Operation[]): Operation[] {
  const joined: Operation[] = [];
  for (const each of operations) {
    const last = joined.at(-1);
    const isMembers = each.path?.toLowerCase() === "members" && each.op !== "replace";
    if (isMembers && last?.op === each.op && last.path === "members" && each.value !== undefined)
      (last.value as unknown[]).push(...[each.value].flat());
    else if (isMembers && each.value !== undefined)
      joined.push({ ...each, path: "members", value: [each.value].flat() });
    else joined.push(each);
  }
  return joined;
}

function done(kind: DirectoryKind, resource: Resource, { op, path, value }: Operation): Resource {
  if (path === undefined || path === null || path === "") {
    if (op === "remove") throw new ScimRefusal(400, "remove needs a path", "noTarget");
    if (!isObject(value)) throw new ScimRefusal(400, "Without a path, the value must be an object", "invalidValue");
    let changed = resource;
    // Some directories write paths as the names of the values.
    for (const [name, each] of Object.entries(value)) changed = at(kind, changed, op, name, each);
    return changed;
  }
  return at(kind, resource, op, path, value);
}

function at(kind: DirectoryKind, resource: Resource, op: Operation["op"], path: string, value: unknown): Resource {
  const own = `${schemaOf[kind]}:`;
  const plain = path.toLowerCase().startsWith(own.toLowerCase()) ? path.slice(own.length) : path;
  // An attribute of an extension is not kept.
  if (/^urn:/i.test(plain)) return resource;
  const found = pathForm.exec(plain)?.groups;
  if (!found) throw new ScimRefusal(400, `The path "${path}" is not understood`, "invalidPath");
  const name = attributesOf[kind].find((each) => each.toLowerCase() === found["name"]!.toLowerCase());
  if (name === undefined) return resource;
  const { by, wanted, part } = found;
  const before = resource[name];
  if (by !== undefined) return { ...resource, [name]: chosen(before, { op, by, wanted: wanted!, part }, value, path) };
  if (part !== undefined) return { ...resource, [name]: withPart(before, part, op === "remove" ? undefined : value) };
  if (op === "remove") return { ...resource, [name]: value === undefined ? undefined : without(before, value) };
  if (op === "add" && Array.isArray(before)) return { ...resource, [name]: [...before, ...[value].flat()] };
  if (Array.isArray(before) || name === "members" || name === "emails") return { ...resource, [name]: [value].flat() };
  return { ...resource, [name]: isObject(before) && isObject(value) ? { ...before, ...value } : value };
}

interface Choice {
  op: Operation["op"];
  by: string;
  wanted: string;
  part: string | undefined;
}

/** Changes the elements of a list that have a value. A missing one is added, because directories set an address before it is there. */
function chosen(list: unknown, { op, by, wanted, part }: Choice, value: unknown, path: string): unknown[] {
  const all = Array.isArray(list) ? list : [];
  const expected: unknown = JSON.parse(
    wanted.toLowerCase() === "true" || wanted.toLowerCase() === "false" ? wanted.toLowerCase() : wanted,
  );
  const isMeant = (each: unknown) => isObject(each) && same(each[by], expected);
  if (op === "remove" && part === undefined) return all.filter((each) => !isMeant(each));
  if (part === undefined && !isObject(value))
    throw new ScimRefusal(400, `The value of "${path}" must be an object`, "invalidValue");
  const change = (each: unknown) =>
    part === undefined
      ? { ...(each as object), ...(value as object) }
      : withPart(each, part, op === "remove" ? undefined : value);
  if (all.some(isMeant)) return all.map((each) => (isMeant(each) ? change(each) : each));
  if (op === "remove") return all;
  return [...all, change({ [by]: expected })];
}

/** Texts are the same in any case, as nearly all attributes of SCIM are. */
function same(one: unknown, other: unknown): boolean {
  return typeof one === "string" && typeof other === "string"
    ? one.toLowerCase() === other.toLowerCase()
    : one === other;
}

/** `part` has only letters, digits and underscores. A computed key of an object literal never is its prototype. */
function withPart(before: unknown, part: string, value: unknown): object {
  return { ...(isObject(before) ? before : {}), [part]: value };
}

/** The list without the elements that have one of the values. */
function without(list: unknown, values: unknown): unknown {
  if (!Array.isArray(list)) return undefined;
  const gone = new Set([values].flat().map((each) => (isObject(each) ? each["value"] : each)));
  return list.filter((each) => !gone.has(isObject(each) ? each["value"] : each));
}
