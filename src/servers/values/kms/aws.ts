/** AWS KMS. https://docs.aws.amazon.com/kms/latest/APIReference/ */
import { AwsClient } from "aws4fetch";
import { isObject, parsedJson } from "../../../base/json-object.ts";
import { isSafe } from "../../../base/loopback.ts";
import type { Environment } from "../../../config/environment.ts";
import { answerOf, fileOf, form, json, type Kms, KmsFailure, metadataOf, textOf } from "./request.ts";

const hint =
  "Check that the credentials of this process may use the key: kms:Encrypt to make a value, kms:Decrypt to read it.";
const noCredentials =
  'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine, the task or the pod a role. For a profile: eval "$(aws configure export-credentials --format env)"';

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export function awsKms(env: Environment): Kms {
  const call = async (action: "Encrypt" | "Decrypt", key: string, body: object) => {
    const region = regionOf(key, env);
    const { sessionToken, ...credentials } = await credentialsOf(region, env);
    const client = new AwsClient({
      ...credentials,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: "kms",
      region,
    });
    const url = env["AWS_ENDPOINT_URL_KMS"] ?? env["AWS_ENDPOINT_URL"] ?? `https://kms.${region}.${suffixOf(region)}`;
    const target = { "content-type": "application/x-amz-json-1.1", "x-amz-target": `TrentService.${action}` };
    const asked = json({ KeyId: key, ...body }, target);
    const { headers } = await client.sign(url, asked);
    return await answerOf(url, { ...asked, headers, hint });
  };
  return {
    async encrypt(key, value) {
      const answer = await call("Encrypt", key, { Plaintext: value.toString("base64") });
      return { key, text: textOf(answer, "CiphertextBlob", hint) };
    },
    async decrypt(key, text) {
      return Buffer.from(textOf(await call("Decrypt", key, { CiphertextBlob: text }), "Plaintext", hint), "base64");
    },
  };
}

/** The region in the key's ARN, or that of the environment. */
function regionOf(key: string, env: Environment): string {
  const named = /^arn:[\w-]+:kms:([\w-]+):/.exec(key)?.[1] ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  if (named !== undefined && /^[a-z0-9-]+$/.test(named)) return named;
  throw new KmsFailure("the region of the key is not known", "Set AWS_REGION, or name the key by its ARN.");
}

function suffixOf(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/** Those of the environment, of a web identity (EKS), of the container (ECS, EKS), or of the machine (EC2), in this order. */
async function credentialsOf(region: string, env: Environment): Promise<Credentials> {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env;
  if (id && secret) return { accessKeyId: id, secretAccessKey: secret, sessionToken: token || undefined };
  return (await ofWebIdentity(region, env)) ?? (await ofContainer(env)) ?? (await ofMachine(env));
}

async function ofWebIdentity(region: string, env: Environment): Promise<Credentials | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role } = env;
  if (!file || !role) return undefined;
  const url = env["AWS_ENDPOINT_URL_STS"] ?? env["AWS_ENDPOINT_URL"] ?? `https://sts.${region}.${suffixOf(region)}`;
  const asked = form({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: env["AWS_ROLE_SESSION_NAME"] ?? "claudikins",
    WebIdentityToken: (await fileOf(file, "AWS_WEB_IDENTITY_TOKEN_FILE")).trim(),
  });
  const { AssumeRoleWithWebIdentityResponse: response } = await answerOf(url, { ...asked, hint });
  const result = isObject(response) ? response["AssumeRoleWithWebIdentityResult"] : undefined;
  const found = isObject(result) ? credentialsIn(result["Credentials"], "SessionToken") : undefined;
  if (!found) throw new KmsFailure("AWS STS gave no credentials", hint);
  return found;
}

async function ofContainer(env: Environment): Promise<Credentials | undefined> {
  const {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: full,
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
  } = env;
  if (!full && !relative) return undefined;
  const url = relative ? `http://169.254.170.2/${relative.replace(/^\/+/, "")}` : full!;
  const at = URL.parse(url);
  // The addresses at which AWS has such services: elsewhere, nobody gets the token without TLS.
  if (!at || (!isSafe(at) && !/^169\.254\.170\.2(3)?$|^\[fd00:ec2::23\]$/.test(at.hostname)))
    throw new KmsFailure(
      "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither HTTPS nor an address of the machine",
      noCredentials,
    );
  const token = file
    ? (await fileOf(file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")).trim()
    : env["AWS_CONTAINER_AUTHORIZATION_TOKEN"];
  const answer = await answerOf(url, { headers: token ? { authorization: token } : {}, hint: noCredentials });
  return credentialsIn(answer, "Token");
}

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html */
async function ofMachine(env: Environment): Promise<Credentials> {
  const isOff = env["AWS_EC2_METADATA_DISABLED"] === "true";
  const base = env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254";
  const asked = { method: "PUT", headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" } };
  const token = isOff ? undefined : await metadataOf(`${base}/latest/api/token`, asked);
  if (token === undefined) throw new KmsFailure("there are no AWS credentials", noCredentials);
  const headers = { "x-aws-ec2-metadata-token": token };
  const roles = `${base}/latest/meta-data/iam/security-credentials/`;
  const role = (await metadataOf(roles, { headers }))?.split("\n")[0]?.trim();
  const text = role ? await metadataOf(`${roles}${encodeURIComponent(role)}`, { headers }) : undefined;
  const found = credentialsIn(parsedJson(text ?? ""), "Token");
  if (!found) throw new KmsFailure("the machine has no AWS role", noCredentials);
  return found;
}

/** The services name the token differently. */
function credentialsIn(value: unknown, token: "Token" | "SessionToken"): Credentials | undefined {
  if (!isObject(value)) return undefined;
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, [token]: sessionToken } = value;
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string") return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: typeof sessionToken === "string" ? sessionToken : undefined };
}
