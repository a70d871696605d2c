/** The bodies of requests that change something. */
import { z } from "zod";
import { parsedJson } from "../base/json-object.ts";
import { confirmModes } from "../config/policy.ts";
import { RefusedRequest } from "./guard.ts";

const name = z.string().min(1).max(10_000);

export const sessionBody = z.strictObject({ token: z.string().max(200) });

export const decisionBody = z.strictObject({ decision: z.enum(["once", "session", "deny", "deny all"]) });

/** Exactly one of `access` and `confirm`. `tool` is a name, or a pattern of the config. */
export const policyBody = z.union([
  z.strictObject({ server: name, tool: name, access: z.enum(["allowed", "denied"]) }),
  z.strictObject({ server: name, tool: name, confirm: z.enum(confirmModes) }),
]);
export type PolicyBody = z.infer<typeof policyBody>;

export const signInBody = z.strictObject({ server: name });

/** The address that the browser shows at the end of a sign-in, when it could not load it. */
export const pastedBody = z.strictObject({ server: name, address: z.string().max(100_000) });

const maxBytes = 262_144;

/** Throws if the body is not of the shape. */
export async function bodyOf<T>(request: Request, shape: z.ZodType<T>): Promise<T> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "")) {
    throw new RefusedRequest(415, "The body must be JSON");
  }
  if (Number(request.headers.get("content-length") ?? maxBytes + 1) > maxBytes) {
    throw new RefusedRequest(413, "The body is too large");
  }
  const { success, data } = shape.safeParse(parsedJson(await request.text()));
  if (!success) throw new RefusedRequest(400, "The body is not as expected");
  return data;
}
