/** The credentials that a process has at AWS. */
import { isObject, parsedJson } from "./json-object.ts";
import { isSafe } from "./loopback.ts";
import { answerOf, fileOf, form, metadataOf, ServiceFailure } from "./service-request.ts";

const hint = "Check the role of this process: AWS_ROLE_ARN, and the token in AWS_WEB_IDENTITY_TOKEN_FILE.";
const noCredentials =
  'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine, the task or the pod a role. For a profile: eval "$(aws configure export-credentials --format env)"';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The domain of the services of a region. */
export function domainOfAws(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/**
 * Those of the environment, of a web identity (EKS), of the container (ECS, EKS), or of the machine (EC2), in this order. Throws
 * ServiceFailure.
 */
export async function awsCredentials(region: string, env: Environment): Promise<AwsCredentials> {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env;
  if (id && secret) return { accessKeyId: id, secretAccessKey: secret, sessionToken: token || undefined };
  return (await ofWebIdentity(region, env)) ?? (await ofContainer(env)) ?? (await ofMachine(env));
}

async function ofWebIdentity(region: string, env: Environment): Promise<AwsCredentials | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role } = env;
  if (!file || !role) return undefined;
  const url = env["AWS_ENDPOINT_URL_STS"] ?? env["AWS_ENDPOINT_URL"] ?? `https://sts.${region}.${domainOfAws(region)}`;
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
  if (!found) throw new ServiceFailure("AWS STS gave no credentials", hint);
  return found;
}

async function ofContainer(env: Environment): Promise<AwsCredentials | undefined> {
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
    throw new ServiceFailure(
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
async function ofMachine(env: Environment): Promise<AwsCredentials> {
  const isOff = env["AWS_EC2_METADATA_DISABLED"] === "true";
  const base = env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254";
  const asked = { method: "PUT", headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" } };
  const token = isOff ? undefined : await metadataOf(`${base}/latest/api/token`, asked);
  if (token === undefined) throw new ServiceFailure("there are no AWS credentials", noCredentials);
  const headers = { "x-aws-ec2-metadata-token": token };
  const roles = `${base}/latest/meta-data/iam/security-credentials/`;
  const role = (await metadataOf(roles, { headers }))?.split("\n")[0]?.trim();
  const text = role ? await metadataOf(`${roles}${encodeURIComponent(role)}`, { headers }) : undefined;
  const found = credentialsIn(parsedJson(text ?? ""), "Token");
  if (!found) throw new ServiceFailure("the machine has no AWS role", noCredentials);
  return found;
}

/** The services name the token differently. */
function credentialsIn(value: unknown, token: "Token" | "SessionToken"): AwsCredentials | undefined {
  if (!isObject(value)) return undefined;
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, [token]: sessionToken } = value;
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string") return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: typeof sessionToken === "string" ? sessionToken : undefined };
}
