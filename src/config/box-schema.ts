/** The schema of `sandbox`, of an entry and of a config. */
import { z } from "zod";

const paths = z.array(z.string().regex(/^[^\0\n]+$/, "use one path, without line breaks"));

/** `host`, `*.host`, `host:port`, or an IPv4 address in the place of the host. */
const host = /^(?:\*\.)?[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*(?::\d{1,5})?$/i;

const boxFields = {
  /** Files and folders that the server may read, besides its own program. */
  read: paths.optional(),
  /** Files and folders that it may read and write. They must exist. */
  write: paths.optional(),
  /** `false`: none. `true`: the network of the machine. Or the hosts that it may connect to, over HTTPS. */
  network: z
    .union([z.boolean(), z.array(z.string().regex(host, "use host, *.host or host:port, without https://"))])
    .optional(),
};

export const boxSchema = z.union([z.boolean(), z.object(boxFields)]);

export const boxKeys = Object.keys(boxFields);

/** A server on the network is not a process of this machine. */
export const noBox = z.literal(false, "only a server with a command can have a sandbox").optional();
