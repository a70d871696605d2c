/** The part of s3rver that tests use: a server with the interface of S3, which keeps objects as files. */
declare module "s3rver" {
  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: never[] }[];
    });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
