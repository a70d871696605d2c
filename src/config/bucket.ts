/** The bucket for the large contents of a team. Its address comes from the environment, because it may have a password. */
import { type AwsCredentials, domainOfAws } from "../base/aws-credentials.ts";
import { ClaudikinsError } from "../base/errors.ts";
import { isSafe } from "../base/loopback.ts";
import { percentDecoded } from "../base/percent-decoded.ts";
import type { Environment } from "./environment.ts";
import { secretOf } from "./secret-variable.ts";

const given = {
  name: "CLAUDIKINS_BUCKET",
  hint: "Set CLAUDIKINS_BUCKET to s3://bucket/prefix?region=eu-central-1, or CLAUDIKINS_BUCKET_FILE to a file with this address. For another service: s3://KEY:SECRET@bucket/prefix?endpoint=https://s3.example.com",
};

export interface BucketAddress {
  name: string;
  /** Begins the names of all objects. Empty, or with a slash at its end. */
  prefix: string;
  /** The address of the service, without the bucket. */
  endpoint: string;
  region: string;
  /** Undefined: those that the process has at AWS. */
  credentials: AwsCredentials | undefined;
}

/** The user and the password, the bucket, the prefix, and the parameters. Keys of AWS may contain a slash. */
const addressPattern = /^s3:\/\/(?:([^:@/?]+):([^@?]+)@)?([a-z0-9][\w.-]{1,61}[a-z0-9])(?:\/([^?]*))?(?:\?(.*))?$/i;

const prefixPattern = /^(?:[\w!'()*-][\w.!'()*-]*\/)*$/;

const parameterNames = ["region", "endpoint", "allowHttp"];

/** The region for services that have none. */
const anyRegion = "us-east-1";

/**
 * The bucket in which a team stores the contents of workspaces and the memory of programs that wait. It has secrets. Undefined without one.
 * Throws CONFIG_INVALID, and FILE_NOT_FOUND if its file cannot be read. No error has a secret.
 */
export function bucketOf(env: Environment): BucketAddress | undefined {
  const found = secretOf(given, env);
  if (!found) return undefined;
  const { value, variable } = found;
  const [whole, id, secret, name = "", path = "", query = ""] = addressPattern.exec(value) ?? [];
  if (whole === undefined) throw invalid(`${variable} has no address of a bucket`);
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  if (!prefixPattern.test(prefix)) {
    throw invalid(`The prefix in ${variable} has other characters than letters, digits, slashes and -_.!'()*`);
  }
  const parameters = new URLSearchParams(query);
  if ([...parameters.keys()].some((each) => !parameterNames.includes(each))) {
    throw invalid(`${variable} has another parameter than ${parameterNames.join(", ")}`);
  }
  const region = parameters.get("region") ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  const endpoint = parameters.get("endpoint") ?? env["AWS_ENDPOINT_URL_S3"] ?? env["AWS_ENDPOINT_URL"];
  if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) throw invalid(`The region of ${variable} is not usable`);
  if (endpoint === undefined && region === undefined) {
    throw invalid(`The region of ${variable} is not known`);
  }
  return {
    name,
    prefix,
    endpoint: endpointOf(endpoint, region, { variable, allowHttp: parameters.get("allowHttp") === "true" }),
    region: region ?? anyRegion,
    credentials:
      id === undefined || secret === undefined
        ? undefined
        : { accessKeyId: percentDecoded(id), secretAccessKey: percentDecoded(secret) },
  };
}

/** Whether the environment names a bucket, which may be wrong. */
export function namesBucket({ CLAUDIKINS_BUCKET: name, CLAUDIKINS_BUCKET_FILE: file }: Environment): boolean {
  return Boolean(name || file);
}

function endpointOf(
  endpoint: string | undefined,
  region: string = anyRegion,
  { variable, allowHttp }: { variable: string; allowHttp: boolean },
): string {
  if (endpoint === undefined) return `https://s3.${region}.${domainOfAws(region)}`;
  const url = URL.parse(endpoint);
  const isPlain = url && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !["http:", "https:"].includes(url.protocol)) {
    throw invalid(`The endpoint of ${variable} is not an address that begins with https://`);
  }
  if (!isSafe(url) && !allowHttp) {
    throw new ClaudikinsError("CONFIG_INVALID", `The endpoint of ${variable} has no TLS`, {
      hint: "Everybody on the way could read what is stored. Use https://, or add &allowHttp=true for a network that only you can read.",
    });
  }
  return endpoint.replace(/\/+$/, "");
}

function invalid(text: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", text, { hint: given.hint });
}
