/** A real server with the interface of S3 for tests: s3rver from npm. It keeps its objects while it is stopped. */
import S3rver from "s3rver";
import { bucketOf } from "../../src/config/bucket.ts";
import { Bucket } from "../../src/store/postgres/bucket.ts";
import { freePort } from "./free-port.ts";
import { temporaryFolder } from "./temporary.ts";

/** The only key of s3rver, and the secret of it. */
const key = "S3RVER";

export interface BucketFixture extends AsyncDisposable {
  port: number;
  /** The value of CLAUDIKINS_BUCKET. */
  address: string;
  /** The bucket, as one more process has it. */
  open(): Bucket;
  /** The names of all objects, sorted, without the prefix. */
  names(): Promise<string[]>;
  /** Removes an object, as somebody else would. */
  remove(name: string): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function bucketFixture(): Promise<BucketFixture> {
  const folder = temporaryFolder();
  const port = freePort();
  const address = `s3://${key}:${key}@team/kept?endpoint=http://127.0.0.1:${port}`;
  const client = new Bun.S3Client({
    accessKeyId: key,
    secretAccessKey: key,
    bucket: "team",
    endpoint: `http://127.0.0.1:${port}`,
  });
  let server: S3rver | undefined;
  const start = async () => {
    server = new S3rver({
      address: "127.0.0.1",
      port,
      silent: true,
      directory: folder.path,
      configureBuckets: [{ name: "team", configs: [] }],
    });
    await server.run();
  };
  const stop = async () => {
    await server?.close();
    server = undefined;
  };
  await start();
  return {
    port,
    address,
    open: () => new Bucket(bucketOf({ CLAUDIKINS_BUCKET: address })!, {}),
    names: async () => {
      const { contents = [] } = await client.list({ prefix: "kept/", maxKeys: 1_000 });
      return contents.map((each) => each.key.slice("kept/".length)).sort();
    },
    remove: (name) => client.delete(`kept/${name}`),
    stop,
    start,
    [Symbol.asyncDispose]: async () => {
      await stop();
      folder[Symbol.dispose]();
    },
  };
}
