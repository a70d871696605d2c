/** The transit engine of HashiCorp Vault and OpenBao. https://developer.hashicorp.com/vault/api-docs/secret/transit */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../../../base/json-object.ts";
import { answerOf, json, ServiceFailure, textOf } from "../../../base/service-request.ts";
import type { Environment } from "../../../config/environment.ts";
import { homeOf } from "../../../config/locations.ts";
import type { Kms } from "./service.ts";

const hint =
  "Check that the policy of the token allows: update on transit/encrypt/KEY to make a value, on transit/decrypt/KEY to read it.";
const noCredentials = "Set VAULT_ADDR, and VAULT_TOKEN or run: vault login";

export function vaultTransit(env: Environment): Kms {
  const call = async (action: "encrypt" | "decrypt", key: string, body: object) => {
    const address = env["VAULT_ADDR"];
    if (!address || !URL.canParse(address))
      throw new ServiceFailure("the address of Vault is not known", noCredentials);
    if (!/^(?:[\w-]+\/)*\w[\w.-]*$/.test(key))
      throw new ServiceFailure(
        "the name of the key is not usable",
        "Name it as KEY, or as MOUNT/KEY if the engine is not at transit.",
      );
    const token = env["VAULT_TOKEN"] || (await tokenOfLogin(env));
    if (!token) throw new ServiceFailure("there is no token for Vault", noCredentials);
    const [name, ...mount] = key.split("/").reverse() as [string, ...string[]];
    const at = `${address.replace(/\/$/, "")}/v1/${mount.reverse().join("/") || "transit"}/${action}/${name}`;
    const namespace = env["VAULT_NAMESPACE"];
    const headers = { "x-vault-token": token, ...(namespace ? { "x-vault-namespace": namespace } : {}) };
    const { data } = await answerOf(at, { ...json(body, headers), hint });
    return isObject(data) ? data : {};
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

/** `vault login` writes it. */
async function tokenOfLogin(env: Environment): Promise<string> {
  return (await readFile(join(homeOf(env), ".vault-token"), "utf8").catch(() => "")).trim();
}
