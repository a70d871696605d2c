/**
 * The bucket of a team, in S3 or in a service with its interface. Objects are written once, under names that are never used again. Errors have
 * no credentials and no addresses: code in the sandbox may read the text.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type AwsCredentials, awsCredentials } from "../../base/aws-credentials.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { ServiceFailure } from "../../base/service-request.ts";
import { minuteMs } from "../../base/units.ts";
import type { BucketAddress } from "../../config/bucket.ts";
import type { Environment } from "../../config/environment.ts";

/** Time for the answer to one request. */
const bucketAnswerMs = 10_000;

/** Time in which a request that has failed is made again. */
const bucketRetryMs = 6_000;

/** Time for which a bucket that could not be used counts as away. */
const bucketAwayMs = 5_000;

/** Requests of one process at the same time. */
const maxRequestsAtOnce = 16;

/** Time for which credentials of AWS are used before they are asked for again. AWS renews them five minutes before their end. */
const credentialsKeptMs = 4 * minuteMs;

const namePattern = /^[a-z]+(?:\/[0-9a-f-]+)+$/;

/** A part of an object. */
export interface ByteRange {
  begin: number;
  /** The first byte after it. */
  end: number;
}

export class Bucket {
  readonly #address: BucketAddress;
  readonly #env: Environment;
  readonly #places = new Semaphore(maxRequestsAtOnce);
  #client: { opening: Promise<Bun.S3Client>; until: number } | undefined;
  #awayUntil = Number.NEGATIVE_INFINITY;
  #problem: unknown;

  /** Nothing is asked before the first method needs it. `env` has the credentials, if the address has none. */
  constructor(address: BucketAddress, env: Environment) {
    this.#address = address;
    this.#env = env;
  }

  /** Whether it could not be used a moment ago. */
  get isAway(): boolean {
    return performance.now() < this.#awayUntil;
  }

  /** Throws BUCKET_UNAVAILABLE. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const key = this.#keyOf(name);
    await this.#asked((client) => client.write(key, bytes, { type: "application/octet-stream" }));
  }

  /** Undefined if there is no such object. Throws BUCKET_UNAVAILABLE. */
  async get(name: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    const key = this.#keyOf(name);
    return this.#asked(async (client) => {
      const file = client.file(key);
      try {
        return await (range ? file.slice(range.begin, range.end) : file).bytes();
      } catch (error) {
        if (codeOf(error) === "NoSuchKey") return undefined;
        throw error;
      }
    });
  }

  /** Nothing happens if there is no such object. Throws BUCKET_UNAVAILABLE. */
  async remove(name: string): Promise<void> {
    const key = this.#keyOf(name);
    await this.#asked((client) => client.delete(key));
  }

  /** Writes, reads and removes an object. Throws BUCKET_UNAVAILABLE if that is not possible. */
  async check(): Promise<void> {
    const name = `check/${crypto.randomUUID()}`;
    await this.put(name, Buffer.from(name));
    const isSame = Buffer.from((await this.get(name)) ?? "").toString() === name;
    await this.remove(name);
    if (!isSame) throw unavailable("The bucket does not keep what is written", "Look at the rules of the bucket.");
    if (await this.get(name)) {
      throw unavailable("The bucket keeps what is removed", "Allow s3:DeleteObject on its objects.");
    }
  }

  /** The name comes from the database, so others may have written it. */
  #keyOf(name: string): string {
    if (!namePattern.test(name)) throw new Error("the name of an object is not one that was given");
    return `${this.#address.prefix}${name}`;
  }

  /** Requests may be made twice. */
  async #asked<T>(request: (client: Bun.S3Client) => Promise<T>): Promise<T> {
    const waiting = this.#places.acquire(undefined);
    if (waiting) await waiting;
    try {
      // Otherwise, each of those that have waited would wait for an answer too.
      if (waiting && this.isAway) throw this.#problem;
      const answer = await this.#again(request);
      this.#awayUntil = Number.NEGATIVE_INFINITY;
      return answer;
    } catch (error) {
      this.#awayUntil = performance.now() + bucketAwayMs;
      this.#problem = error;
      throw error;
    } finally {
      this.#places.release();
    }
  }

  async #again<T>(request: (client: Bun.S3Client) => Promise<T>): Promise<T> {
    const deadline = performance.now() + bucketRetryMs;
    let mayRenew = this.#address.credentials === undefined;
    for (let pauseMs = 50; ; pauseMs *= 2) {
      try {
        return await inTime(this.#opened().then(request));
      } catch (error) {
        const isRenewed = mayRenew && credentialCodes.includes(codeOf(error));
        if (isRenewed) {
          mayRenew = false;
          this.#client = undefined;
        }
        const isOver = !isRenewed && (isFinal(error) || performance.now() + pauseMs > deadline);
        if (isOver) throw bucketError(error);
      }
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }

  #opened(): Promise<Bun.S3Client> {
    const { credentials } = this.#address;
    if (!this.#client || performance.now() > this.#client.until) {
      const opening = this.#open();
      const until = credentials ? Number.POSITIVE_INFINITY : performance.now() + credentialsKeptMs;
      this.#client = { opening, until };
      opening.catch(() => {
        this.#client = undefined;
      });
    }
    return this.#client.opening;
  }

  async #open(): Promise<Bun.S3Client> {
    const { name, endpoint, region, credentials } = this.#address;
    const { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials =
      credentials ?? (await awsCredentials(region, this.#env));
    // Bun takes options that are missing from the environment.
    const token = sessionToken ?? "";
    return new Bun.S3Client({
      bucket: name,
      endpoint,
      region,
      accessKeyId,
      secretAccessKey,
      sessionToken: token,
      retry: 0,
    });
  }
}

/** A service that is gone may never answer. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(unavailable(...away)), bucketAnswerMs);
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}

export function unavailable(message: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("BUCKET_UNAVAILABLE", message, { hint });
}

/** The error for content that is in the bucket, of a process that has none. */
export function bucketIsMissing(): ClaudikinsError {
  return unavailable(
    "The content is in the bucket of the team, and CLAUDIKINS_BUCKET is not set here",
    "Set CLAUDIKINS_BUCKET as the other replicas have it.",
  );
}

const away = [
  "The bucket cannot be reached",
  "Check the endpoint and the region in CLAUDIKINS_BUCKET, and whether the service runs. To try it: claudikins doctor",
] as const;

/** The codes of S3 for credentials that are wrong, or have ended. */
const credentialCodes = [
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "InvalidToken",
  "ExpiredToken",
  "TokenRefreshRequired",
];

const rights = ["AccessDenied", "AllAccessDisabled", "AccountProblem"];

const regions = ["AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException"];

const ofTls = /TLS|SSL|CERT|ALTNAME|UNABLE_TO_VERIFY/;

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Whether a further attempt would fail in the same way. */
function isFinal(error: unknown): boolean {
  const code = codeOf(error);
  const all = [...credentialCodes, ...rights, ...regions, "NoSuchBucket", "RequestTimeTooSkewed"];
  return all.includes(code) || error instanceof ServiceFailure || (error instanceof ClaudikinsError && code !== "");
}

/** Only known codes of the service are told: its text may be anything. */
function bucketError(error: unknown): ClaudikinsError {
  if (error instanceof ClaudikinsError) return error;
  if (error instanceof ServiceFailure)
    return unavailable(`There are no credentials for the bucket: ${error.message}`, error.hint);
  const code = codeOf(error);
  if (code === "NoSuchBucket") {
    return unavailable("The bucket that CLAUDIKINS_BUCKET names does not exist", "Create it, or correct its name.");
  }
  if (credentialCodes.includes(code)) {
    return unavailable(
      `The bucket refuses the credentials: ${code}`,
      "Check the key and the secret in CLAUDIKINS_BUCKET, or the credentials that this process has at AWS.",
    );
  }
  if (rights.includes(code)) {
    return unavailable(
      `The credentials have no right to use the bucket: ${code}`,
      "Allow s3:PutObject, s3:GetObject and s3:DeleteObject on its objects, and s3:ListBucket on the bucket.",
    );
  }
  if (regions.includes(code)) {
    return unavailable(`The bucket is in another region: ${code}`, "Correct the region in CLAUDIKINS_BUCKET.");
  }
  if (code === "RequestTimeTooSkewed") {
    return unavailable("The clock of this machine differs from that of the bucket", "Set the clock of this machine.");
  }
  if (ofTls.test(code.toUpperCase())) {
    return unavailable(
      "The bucket cannot be reached with TLS",
      "Check the certificate of the service. NODE_EXTRA_CA_CERTS names the file of your own certificate authority.",
    );
  }
  return unavailable(...away);
}
