/** Keys of Azure Key Vault. https://learn.microsoft.com/rest/api/keyvault/keys */

import { isObject, parsedJson } from "../../../base/json-object.ts";
import { answerOf, fileOf, form, json, metadataOf, ServiceFailure, textOf } from "../../../base/service-request.ts";
import type { Environment } from "../../../config/environment.ts";
import type { Kms } from "./service.ts";

const hint = "Check that the identity may use the key: keys/encrypt to make a value, keys/decrypt to read it.";
const noCredentials =
  "Set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE, or give the machine a managed identity.";

const algorithm = "RSA-OAEP-256";
const apiVersion = "7.4";

/** Bytes that a key of 2,048 bits encrypts with this algorithm. */
const maxValueBytes = 190;

/** The hosts of Microsoft. Only they get the token. */
const vaultHost = /^[\w-]+\.(?:vault\.azure\.(?:net|cn)|vault\.usgovcloudapi\.net|managedhsm\.azure\.net)$/;

export function azureKms(env: Environment): Kms {
  const call = async (action: "encrypt" | "decrypt", key: string, value: string) => {
    const { url, scope } = placeOf(key);
    const authorization = `Bearer ${await tokenOf(scope, env)}`;
    const at = `${url}/${action}?api-version=${apiVersion}`;
    return await answerOf(at, { ...json({ alg: algorithm, value }, { authorization }), hint });
  };
  return {
    async encrypt(key, value) {
      if (value.length > maxValueBytes)
        throw new ServiceFailure(
          `a key of Azure encrypts at most ${maxValueBytes} bytes`,
          "Encrypt a key of 32 bytes, and seal the longer value with it.",
        );
      const answer = await call("encrypt", key, value.toString("base64url"));
      // The version of the key that opens the value again.
      return { key: textOf(answer, "kid", hint), text: textOf(answer, "value", hint) };
    },
    async decrypt(key, text) {
      return Buffer.from(textOf(await call("decrypt", key, text), "value", hint), "base64url");
    },
  };
}

function placeOf(key: string): { url: string; scope: string } {
  const { protocol, host, pathname } = URL.parse(key) ?? {};
  if (protocol !== "https:" || !vaultHost.test(host ?? "") || !/^\/keys\/[\w-]+(?:\/\w+)?$/.test(pathname ?? ""))
    throw new ServiceFailure(
      "the key is not one of Azure Key Vault",
      "Name it as https://VAULT.vault.azure.net/keys/KEY, with or without a version.",
    );
  return { url: `https://${host}${pathname}`, scope: `https://${host!.slice(host!.indexOf(".") + 1)}` };
}

/** An access token of the application, or of the identity of the machine. */
async function tokenOf(resource: string, env: Environment): Promise<string> {
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client, AZURE_CLIENT_SECRET: secret } = env;
  const file = env["AZURE_FEDERATED_TOKEN_FILE"];
  if (!tenant || !client || (!secret && !file)) return await tokenOfMachine(resource, env);
  const authority = (env["AZURE_AUTHORITY_HOST"] ?? "https://login.microsoftonline.com").replace(/\/$/, "");
  const proof: Record<string, string> = secret
    ? { client_secret: secret }
    : {
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: (await fileOf(file!, "AZURE_FEDERATED_TOKEN_FILE")).trim(),
      };
  const asked = form({ grant_type: "client_credentials", client_id: client, scope: `${resource}/.default`, ...proof });
  const at = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  return textOf(await answerOf(at, { ...asked, hint: noCredentials }), "access_token", noCredentials);
}

async function tokenOfMachine(resource: string, env: Environment): Promise<string> {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header, AZURE_CLIENT_ID: client } = env;
  const isService = endpoint && header;
  const at = new URL(isService ? endpoint : "http://169.254.169.254/metadata/identity/oauth2/token");
  at.searchParams.set("api-version", isService ? "2019-08-01" : "2018-02-01");
  at.searchParams.set("resource", resource);
  if (client) at.searchParams.set("client_id", client);
  const headers: Record<string, string> = isService ? { "x-identity-header": header } : { metadata: "true" };
  const answer = parsedJson((await metadataOf(at, { headers })) ?? "");
  const token = isObject(answer) ? answer["access_token"] : undefined;
  if (typeof token !== "string") throw new ServiceFailure("there are no Azure credentials", noCredentials);
  return token;
}
