/** The bucket of a team: objects, errors that say what to do, time limits, and credentials. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { AwsV4Signer } from "aws4fetch";
import { bucketOf } from "../../../src/config/bucket.ts";
import { Bucket } from "../../../src/store/postgres/bucket.ts";
import { type BucketFixture, bucketFixture } from "../../support/bucket.ts";
import { freePort } from "../../support/free-port.ts";

setDefaultTimeout(60_000);

const name = () => `images/${crypto.randomUUID()}`;

function bucketAt(address: string, env: Record<string, string> = {}): Bucket {
  const all = { ...env, CLAUDIKINS_BUCKET: address };
  return new Bucket(bucketOf(all)!, all);
}

/** The error of work that fails, without the secrets that addresses of this file have. */
async function failure(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(Bun.inspect(error)).not.toMatch(/S3RVER|a-secret|127\.0\.0\.1/);
  return error;
}

describe("a bucket", () => {
  let fixture: BucketFixture;
  beforeAll(async () => {
    fixture = await bucketFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  test("has objects as they were written, parts of them, and nothing under other names", async () => {
    const bucket = fixture.open();
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const one = name();
    await bucket.put(one, bytes);
    expect(await fixture.open().get(one)).toEqual(bytes);
    expect(await bucket.get(one, { begin: 100, end: 200 })).toEqual(bytes.subarray(100, 200));
    expect(await bucket.get(name())).toBeUndefined();
    expect(await fixture.names()).toEqual([one]);
    await bucket.remove(one);
    await bucket.remove(one);
    expect(await bucket.get(one)).toBeUndefined();
    await bucket.check();
    expect(await fixture.names()).toEqual([]);
  });

  test("is not left by a name from the database that was not given by us", async () => {
    const bucket = fixture.open();
    for (const each of ["../other/x", "images/../../other", "/x", "images/", "images/%2e%2e/x"]) {
      expect(await failure(bucket.get(each))).toMatchObject({
        message: "the name of an object is not one that was given",
      });
    }
  });

  test("says what is wrong with its name and its key", async () => {
    const cases: [string, string][] = [
      [fixture.address.replace("@team", "@nobody"), "The bucket that CLAUDIKINS_BUCKET names does not exist"],
      [fixture.address.replace("//S3RVER:", "//WRONG:"), "The bucket refuses the credentials: InvalidAccessKeyId"],
      [fixture.address.replace("http:", "https:"), "The bucket cannot be reached with TLS"],
    ];
    for (const [address, message] of cases) {
      const bucket = bucketAt(address);
      expect(await failure(bucket.put(name(), Buffer.from("x")))).toMatchObject({
        code: "BUCKET_UNAVAILABLE",
        message,
      });
      expect(bucket.isAway).toBe(true);
    }
    expect(fixture.open().isAway).toBe(false);
  });

  test("is asked again for a while, and used as soon as it is back", async () => {
    const bucket = fixture.open();
    await fixture.stop();
    const writing = bucket.put("images/00", Buffer.from("x"));
    await Bun.sleep(1_000);
    await fixture.start();
    await writing;
    expect(await fixture.names()).toEqual(["images/00"]);
    await bucket.remove("images/00");
    expect(await fixture.names()).toEqual([]);
  });

  test("is given up after ten seconds if it never answers, also for requests that wait for their turn", async () => {
    const port = freePort();
    const silent = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
    const bucket = bucketAt(`s3://KEY:a-secret@team?endpoint=http://127.0.0.1:${port}`);
    const begunAt = performance.now();
    const all = await Promise.all(Array.from({ length: 40 }, () => failure(bucket.get(name()))));
    expect(performance.now() - begunAt).toBeLessThan(15_000);
    for (const each of all) {
      expect(each).toMatchObject({ code: "BUCKET_UNAVAILABLE", message: "The bucket cannot be reached" });
    }
    silent.stop(true);
  });
});

describe("credentials", () => {
  /** A service that notes the requests, whose answers are the given ones and then 200. */
  function service(refusals: string[] = []) {
    const seen: { path: string; authorization: string; token: string | null }[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: freePort(),
      fetch: ({ url, headers }) => {
        const path = new URL(url).pathname;
        if (path === "/credentials") {
          const turn = seen.filter((each) => each.path === path).length + 1;
          seen.push({ path, authorization: headers.get("authorization") ?? "", token: null });
          return Response.json({ AccessKeyId: `ASIA${turn}`, SecretAccessKey: "a-secret", Token: `session ${turn}` });
        }
        const token = headers.get("x-amz-security-token");
        seen.push({ path, authorization: headers.get("authorization") ?? "", token });
        const code = refusals.shift();
        if (code === undefined) return new Response("x");
        return new Response(`<Error><Code>${code}</Code><Message>no</Message></Error>`, {
          status: 403,
          headers: { "content-type": "application/xml" },
        });
      },
    });
    return { seen, server, base: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
  }

  test("are those of the address, and nothing of the environment is mixed in", async () => {
    await using aws = service();
    const env = { AWS_ACCESS_KEY_ID: "OTHER", AWS_SECRET_ACCESS_KEY: "a-secret", AWS_SESSION_TOKEN: "other" };
    await bucketAt(`s3://KEY:a-secret@team?region=eu-west-1&endpoint=${aws.base}`, env).get("images/00");
    expect(aws.seen).toEqual([
      { path: "/team/images/00", authorization: expect.stringContaining("Credential=KEY/"), token: null },
    ]);
    expect(aws.seen[0]!.authorization).toContain("/eu-west-1/s3/");
  });

  test("sign each request as AWS asks for, which s3rver does not check", async () => {
    const requests: { method: string; url: string; headers: Headers }[] = [];
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: freePort(),
      fetch: ({ method, url, headers }) => {
        requests.push({ method, url, headers: new Headers(headers) });
        return new Response("x");
      },
    });
    const bucket = bucketAt(
      `s3://KEY:a-se/cret@team/one/(kept)*?region=eu-west-1&endpoint=http://127.0.0.1:${server.port}/base`,
    );
    await bucket.put("images/00", Buffer.from("x"));
    await bucket.get("images/00", { begin: 0, end: 1 });
    await bucket.remove("images/00");
    expect(requests.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE"]);
    for (const { method, url, headers } of requests) {
      const signer = new AwsV4Signer({
        method,
        url,
        headers: { "x-amz-content-sha256": headers.get("x-amz-content-sha256")! },
        accessKeyId: "KEY",
        secretAccessKey: "a-se/cret",
        service: "s3",
        region: "eu-west-1",
        datetime: headers.get("x-amz-date")!,
      });
      expect(headers.get("authorization")!.split("Signature=")[1]).toBe(await signer.signature());
    }
  });

  test("are those of the role of a pod, which is asked again when they have ended", async () => {
    await using aws = service();
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${aws.base}/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: "of the pod",
    };
    const bucket = bucketAt(`s3://team?region=eu-west-1&endpoint=${aws.base}`, env);
    await bucket.get("images/00");
    await bucket.get("images/01");
    expect(aws.seen.map(({ path, token }) => [path, token])).toEqual([
      ["/credentials", null],
      ["/team/images/00", "session 1"],
      ["/team/images/01", "session 1"],
    ]);
    await using other = service(["ExpiredToken"]);
    const renewing = bucketAt(`s3://team?region=eu-west-1&endpoint=${other.base}`, {
      ...env,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${other.base}/credentials`,
    });
    await renewing.get("images/02");
    expect(other.seen.map(({ token }) => token)).toEqual([null, "session 1", null, "session 2"]);
  });

  test("are told to be refused, and so are missing rights and another region", async () => {
    await using aws = service(["SignatureDoesNotMatch", "AccessDenied", "PermanentRedirect"]);
    const bucket = bucketAt(`s3://KEY:a-secret@team?endpoint=${aws.base}`);
    expect(await failure(bucket.get("images/00"))).toMatchObject({
      message: "The bucket refuses the credentials: SignatureDoesNotMatch",
    });
    expect(await failure(bucket.get("images/00"))).toMatchObject({
      message: "The credentials have no right to use the bucket: AccessDenied",
      hint: expect.stringContaining("s3:ListBucket"),
    });
    expect(await failure(bucket.get("images/00"))).toMatchObject({
      message: "The bucket is in another region: PermanentRedirect",
    });
    expect(aws.seen).toHaveLength(3);
  });

  test("are told to be missing", async () => {
    const bucket = bucketAt("s3://team?region=eu-west-1", { AWS_EC2_METADATA_DISABLED: "true" });
    expect(await failure(bucket.get("images/00"))).toMatchObject({
      code: "BUCKET_UNAVAILABLE",
      message: "There are no credentials for the bucket: there are no AWS credentials",
      hint: expect.stringContaining("AWS_ACCESS_KEY_ID"),
    });
  });
});
