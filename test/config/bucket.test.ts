/** The address of a team's bucket in the environment. */
import { expect, test } from "bun:test";
import { bucketOf } from "../../src/config/bucket.ts";
import { temporaryFolder } from "../support/temporary.ts";

const of = (address: string, env: Record<string, string> = {}) => bucketOf({ ...env, CLAUDIKINS_BUCKET: address });

test("a bucket is in AWS, with the region of the address or of the environment, and a prefix", () => {
  expect(of("s3://team?region=eu-central-1")).toEqual({
    name: "team",
    prefix: "",
    endpoint: "https://s3.eu-central-1.amazonaws.com",
    region: "eu-central-1",
    credentials: undefined,
  });
  expect(of("s3://our.team/claudikins/one/", { AWS_REGION: "cn-north-1" })).toMatchObject({
    name: "our.team",
    prefix: "claudikins/one/",
    endpoint: "https://s3.cn-north-1.amazonaws.com.cn",
  });
  expect(of("s3://team/claudikins", { AWS_DEFAULT_REGION: "us-east-2" })).toMatchObject({ prefix: "claudikins/" });
  expect(bucketOf({})).toBeUndefined();
});

test("a bucket is at another service, with a key whose secret may be as AWS makes them", () => {
  const service = "endpoint=https://s3.example.com/base/";
  expect(of(`s3://KEY:a/b+c=d%40e@team/kept?${service}`)).toEqual({
    name: "team",
    prefix: "kept/",
    endpoint: "https://s3.example.com/base",
    region: "us-east-1",
    credentials: { accessKeyId: "KEY", secretAccessKey: "a/b+c=d@e" },
  });
  expect(
    of("s3://team", { AWS_ENDPOINT_URL_S3: "https://one.example.com", AWS_ENDPOINT_URL: "https://other" }),
  ).toMatchObject({
    endpoint: "https://one.example.com",
  });
});

test("a bucket is reached without TLS on this machine, and elsewhere only if the address says so", () => {
  expect(of("s3://team?endpoint=http://127.0.0.1:9000")?.endpoint).toBe("http://127.0.0.1:9000");
  const plain = "s3://KEY:a-secret@team?endpoint=http://minio:9000";
  expect(thrownBy(() => of(plain))).toMatchObject({
    code: "CONFIG_INVALID",
    message: "The endpoint of CLAUDIKINS_BUCKET has no TLS",
    hint: expect.stringContaining("&allowHttp=true"),
  });
  expect(of(`${plain}&allowHttp=true`)?.endpoint).toBe("http://minio:9000");
});

test("an address is refused by an error without its secret if it is unusable, also from a file", () => {
  using folder = temporaryFolder();
  const address = "s3://KEY:a-secret@team?region=eu-central-1";
  expect(bucketOf({ CLAUDIKINS_BUCKET_FILE: folder.write("address", `${address}\n`) })).toEqual(of(address));
  const cases: [Record<string, string>, string, string][] = [
    [{ CLAUDIKINS_BUCKET: "https://KEY:a-secret@team" }, "CONFIG_INVALID", "no address of a bucket"],
    [{ CLAUDIKINS_BUCKET: "s3://KEY:a-secret@t?region=eu" }, "CONFIG_INVALID", "no address of a bucket"],
    [{ CLAUDIKINS_BUCKET: "s3://KEY:a-secret@team" }, "CONFIG_INVALID", "The region of CLAUDIKINS_BUCKET is not known"],
    [{ CLAUDIKINS_BUCKET: "s3://KEY:a-secret@team?region=a b" }, "CONFIG_INVALID", "is not usable"],
    [{ CLAUDIKINS_BUCKET: "s3://KEY:a-secret@team/../other?region=eu" }, "CONFIG_INVALID", "The prefix"],
    [
      { CLAUDIKINS_BUCKET: `${address}&a-secret=1` },
      "CONFIG_INVALID",
      "another parameter than region, endpoint, allowHttp",
    ],
    [{ CLAUDIKINS_BUCKET: "s3://team?endpoint=https://KEY:a-secret@host" }, "CONFIG_INVALID", "begins with https://"],
    [{ CLAUDIKINS_BUCKET: "s3://team?endpoint=ftp://a-secret" }, "CONFIG_INVALID", "begins with https://"],
    [
      { CLAUDIKINS_BUCKET: address, CLAUDIKINS_BUCKET_FILE: folder.write("other", address) },
      "CONFIG_INVALID",
      "both set",
    ],
    [{ CLAUDIKINS_BUCKET_FILE: folder.write("empty", "") }, "CONFIG_INVALID", "is empty"],
    [{ CLAUDIKINS_BUCKET_FILE: `${folder.path}/missing` }, "FILE_NOT_FOUND", "ENOENT"],
  ];
  for (const [env, code, message] of cases) {
    const thrown = thrownBy(() => bucketOf(env));
    expect(thrown).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(Bun.inspect(thrown)).not.toContain("a-secret");
  }
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
