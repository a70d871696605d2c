/**
 * Values that a key management service has encrypted, for `${kms:SERVICE KEY TEXT}`. The service keeps the key: only the encrypted text is in the
 * config.
 */
import { ServiceFailure } from "../../../base/service-request.ts";
import type { Environment } from "../../../config/environment.ts";
import type { KmsName } from "../../../config/secrets/references.ts";
import type { Kms } from "./service.ts";

/** Begins what is encrypted, so that a config cannot use a text that somebody has encrypted with the same key for another purpose. */
const beginning = "claudikins:";

/** The reference for the config. Throws ServiceFailure. */
export async function encrypted(service: KmsName, key: string, value: string, env: Environment): Promise<string> {
  const kms = await serviceOf(service, env);
  const { key: opening, text } = await kms.encrypt(key, Buffer.from(beginning + value));
  return `\${kms:${service} ${opening} ${text}}`;
}

/** Throws ServiceFailure. */
export async function decrypted(service: KmsName, key: string, text: string, env: Environment): Promise<string> {
  const value = (await (await serviceOf(service, env)).decrypt(key, text)).toString();
  if (value.startsWith(beginning)) return value.slice(beginning.length);
  throw new ServiceFailure("the text was encrypted for another purpose", "Make it with: claudikins secrets encrypt");
}

async function serviceOf(service: KmsName, env: Environment): Promise<Kms> {
  switch (service) {
    case "aws":
      return (await import("./aws.ts")).awsKms(env);
    case "google":
      return (await import("./google.ts")).googleKms(env);
    case "azure":
      return (await import("./azure.ts")).azureKms(env);
    case "vault":
      return (await import("./vault.ts")).vaultTransit(env);
  }
}
