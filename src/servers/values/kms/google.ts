/** Google Cloud KMS. https://cloud.google.com/kms/docs/reference/rest */
import { join } from "node:path";
import { isObject, parsedJson } from "../../../base/json-object.ts";
import { answerOf, fileOf, form, json, metadataOf, ServiceFailure, textOf } from "../../../base/service-request.ts";
import type { Environment } from "../../../config/environment.ts";
import { homeOf } from "../../../config/locations.ts";
import type { Kms } from "./service.ts";

const hint =
  "Check that the account may use the key: cloudkms.cryptoKeyVersions.useToEncrypt to make a value, useToDecrypt to read it.";
const noCredentials =
  "Set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account, run: gcloud auth application-default login, or give the machine a service account.";

const scope = "https://www.googleapis.com/auth/cloudkms";
const tokenAddress = "https://oauth2.googleapis.com/token";

/** Seconds for which the statement of a service account is valid. */
const statementSeconds = 300;

export function googleKms(env: Environment): Kms {
  const call = async (action: "encrypt" | "decrypt", key: string, body: object) => {
    if (!/^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+$/.test(key))
      throw new ServiceFailure(
        "the name of the key is not complete",
        "Name it as projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY.",
      );
    const base = env["CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS"] ?? "https://cloudkms.googleapis.com/";
    const authorization = `Bearer ${await tokenOf(env)}`;
    return await answerOf(`${base.replace(/\/$/, "")}/v1/${key}:${action}`, { ...json(body, { authorization }), hint });
  };
  return {
    async encrypt(key, value) {
      const answer = await call("encrypt", key, { plaintext: value.toString("base64") });
      return { key, text: textOf(answer, "ciphertext", hint) };
    },
    async decrypt(key, text) {
      return Buffer.from(textOf(await call("decrypt", key, { ciphertext: text }), "plaintext", hint), "base64");
    },
  };
}

/** An access token for the account of the credentials file, of `gcloud`, or of the machine, in this order. */
async function tokenOf(env: Environment): Promise<string> {
  const named = env["GOOGLE_APPLICATION_CREDENTIALS"];
  const usual = join(
    env["CLOUDSDK_CONFIG"] ?? join(homeOf(env), ".config", "gcloud"),
    "application_default_credentials.json",
  );
  const text = named
    ? await fileOf(named, "GOOGLE_APPLICATION_CREDENTIALS")
    : await fileOf(usual, "CLOUDSDK_CONFIG").catch(() => undefined);
  if (text !== undefined) return await tokenOfFile(parsedJson(text));
  const host = env["GCE_METADATA_HOST"] ?? "metadata.google.internal";
  const at = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`;
  const answer = parsedJson((await metadataOf(at, { headers: { "metadata-flavor": "Google" } })) ?? "");
  const token = isObject(answer) ? answer["access_token"] : undefined;
  if (typeof token !== "string") throw new ServiceFailure("there are no Google credentials", noCredentials);
  return token;
}

async function tokenOfFile(file: unknown): Promise<string> {
  const { type, ...fields } = isObject(file) ? file : {};
  const field = (name: string) => textOf(fields, name, noCredentials);
  if (type === "authorized_user") {
    const { client_id, client_secret, refresh_token } = {
      client_id: field("client_id"),
      client_secret: field("client_secret"),
      refresh_token: field("refresh_token"),
    };
    return await granted(tokenAddress, { grant_type: "refresh_token", client_id, client_secret, refresh_token });
  }
  if (type !== "service_account")
    throw new ServiceFailure(
      `Google credentials of the type ${JSON.stringify(type ?? null)} cannot be used`,
      noCredentials,
    );
  const { importPKCS8, SignJWT } = await import("jose");
  const address = typeof fields["token_uri"] === "string" ? fields["token_uri"] : tokenAddress;
  const key = await importPKCS8(field("private_key"), "RS256").catch(() => {
    throw new ServiceFailure("the private key of the service account cannot be read", noCredentials);
  });
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: "RS256", typ: "JWT" })
    .setIssuer(field("client_email"))
    .setAudience(address)
    .setIssuedAt()
    .setExpirationTime(`${statementSeconds}s`)
    .sign(key);
  return await granted(address, { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
}

async function granted(address: string, fields: Record<string, string>): Promise<string> {
  return textOf(await answerOf(address, { ...form(fields), hint: noCredentials }), "access_token", noCredentials);
}
