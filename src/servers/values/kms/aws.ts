/** AWS KMS. https://docs.aws.amazon.com/kms/latest/APIReference/ */
import { AwsClient } from "aws4fetch";
import { awsCredentials, domainOfAws } from "../../../base/aws-credentials.ts";
import { answerOf, json, ServiceFailure, textOf } from "../../../base/service-request.ts";
import type { Environment } from "../../../config/environment.ts";
import type { Kms } from "./service.ts";

const hint =
  "Check that the credentials of this process may use the key: kms:Encrypt to make a value, kms:Decrypt to read it.";

export function awsKms(env: Environment): Kms {
  const call = async (action: "Encrypt" | "Decrypt", key: string, body: object) => {
    const region = regionOf(key, env);
    const { sessionToken, ...credentials } = await awsCredentials(region, env);
    const client = new AwsClient({
      ...credentials,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: "kms",
      region,
    });
    const url =
      env["AWS_ENDPOINT_URL_KMS"] ?? env["AWS_ENDPOINT_URL"] ?? `https://kms.${region}.${domainOfAws(region)}`;
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
  throw new ServiceFailure("the region of the key is not known", "Set AWS_REGION, or name the key by its ARN.");
}
