/**
 * `${kms:…}`: requests and credentials of four key management services. None of them can run here, so a stand-in answers as their documentation says. It
 * checks signatures and tokens itself.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in configs
import { afterAll, afterEach, describe, expect, spyOn, test } from "bun:test";
import { createHash, createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import { decrypted, encrypted } from "../../../src/servers/values/kms/kms.ts";
import { withReadValues } from "../../../src/servers/values/read-values.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { changed, startVault } from "../../support/vault.ts";

interface Seen {
  path: string;
  headers: Headers;
  body: string;
}

const seen: Seen[] = [];
let answers: Record<string, (request: Seen) => Response | Promise<Response>> = {};
const server = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const found = { path: pathname + search, headers: request.headers, body: await request.text() };
    seen.push(found);
    const answer = Object.entries(answers).find(([path]) => pathname.endsWith(path));
    return (await answer?.[1](found)) ?? new Response(null, { status: 404 });
  },
});
const base = `http://127.0.0.1:${server.port}`;
const folder = temporaryFolder();
afterAll(async () => {
  await server.stop(true);
  folder[Symbol.dispose]();
});
afterEach(() => {
  seen.length = 0;
  answers = {};
});

const fieldsOf = (reference: string) =>
  /^\$\{kms:(\w+) (\S+) (\S+)\}$/.exec(reference)!.slice(1) as ["aws", string, string];

const roundTrip = async (service: Parameters<typeof encrypted>[0], key: string, env: Record<string, string>) => {
  const reference = await encrypted(service, key, "a value of 32 bytes", env);
  const [name, opening, text] = fieldsOf(reference);
  expect(reference).not.toContain("a value");
  expect(await decrypted(name, opening, text, env)).toBe("a value of 32 bytes");
  expect(await withReadValues({ a: `x${reference}y` }, "It", { env })).toEqual({ a: "xa value of 32 bytesy" });
  return reference;
};

describe("AWS", () => {
  const key = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
  const own = { AWS_ENDPOINT_URL_KMS: base, AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "the secret key" };

  /** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
  const signatureOf = ({ headers, body }: Seen, secret: string) => {
    const [, date, region, names] = /Credential=[^/]+\/(\d+)\/([\w-]+)\/kms\/aws4_request, SignedHeaders=([^,]+)/.exec(
      headers.get("authorization")!,
    )!;
    const hash = (text: string) => createHash("sha256").update(text).digest("hex");
    const lines = names!.split(";").map((name) => `${name}:${headers.get(name)!.trim().replace(/ +/g, " ")}\n`);
    const canonical = ["POST", "/", "", lines.join(""), names, hash(body)].join("\n");
    const scope = `${date}/${region}/kms/aws4_request`;
    const text = ["AWS4-HMAC-SHA256", headers.get("x-amz-date"), scope, hash(canonical)].join("\n");
    const hmac = (by: string | Buffer, of: string) => createHmac("sha256", by).update(of).digest();
    const signing = [date!, region!, "kms", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
    return hmac(signing, text).toString("hex");
  };

  const serve = (secret: string) => {
    answers["/"] = (request) => {
      const isSigned = request.headers.get("authorization")!.endsWith(`Signature=${signatureOf(request, secret)}`);
      if (!isSigned)
        return Response.json(
          { __type: "InvalidSignatureException", message: "The signature does not match" },
          { status: 400 },
        );
      const { Plaintext, CiphertextBlob, KeyId } = JSON.parse(request.body);
      if (request.headers.get("x-amz-target") === "TrentService.Encrypt")
        return Response.json({ KeyId, CiphertextBlob: changed(Plaintext) });
      return Response.json({ KeyId, Plaintext: changed(CiphertextBlob) });
    };
  };

  test("encrypts and decrypts with credentials of the environment, in the region of the key", async () => {
    serve("the secret key");
    expect(await roundTrip("aws", key, own)).toStartWith(`\${kms:aws ${key} `);
    expect(seen[0]!.headers.get("authorization")).toContain("/eu-west-1/kms/");
    // The value is read once for the process.
    expect(seen).toHaveLength(3);
  });

  test("names the region by AWS_REGION, and says what is missing", async () => {
    serve("the secret key");
    await roundTrip("aws", "alias/claudikins", { ...own, AWS_REGION: "us-east-2" });
    expect(seen[0]!.headers.get("authorization")).toContain("/us-east-2/kms/");
    expect(encrypted("aws", "alias/claudikins", "x", own)).rejects.toMatchObject({
      hint: expect.stringContaining("AWS_REGION"),
    });
  });

  test("says why the service refused, without the value and the credentials", async () => {
    serve("another key");
    const error = await encrypted("aws", key, "a value", own).catch((each: Error) => each);
    expect(error).toMatchObject({
      message: `127.0.0.1:${server.port} answered 400: The signature does not match`,
      hint: expect.stringContaining("kms:Encrypt"),
    });
    expect(JSON.stringify(error)).not.toContain("the secret key");
  });

  test("gets credentials for a web identity, for a container, and for a machine", async () => {
    serve("of a role");
    const role = { AccessKeyId: "ASIA", SecretAccessKey: "of a role" };
    const token = folder.write("web-identity", "the identity\n");
    const result = { Credentials: { ...role, SessionToken: "session 1" } };
    answers = {
      "/sts": () => Response.json({ AssumeRoleWithWebIdentityResponse: { AssumeRoleWithWebIdentityResult: result } }),
      "/container": () => Response.json({ ...role, Token: "session 2" }),
      "/latest/api/token": () => new Response("metadata token"),
      "/security-credentials/": () => new Response("the role"),
      "/the%20role": () => Response.json({ ...role, Token: "session 3" }),
      ...answers,
    };
    const kms = { AWS_ENDPOINT_URL_KMS: base };
    const sessions: (string | null)[] = [];
    for (const env of [
      {
        ...kms,
        AWS_ENDPOINT_URL_STS: `${base}/sts`,
        AWS_WEB_IDENTITY_TOKEN_FILE: token,
        AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
      },
      { ...kms, AWS_CONTAINER_CREDENTIALS_FULL_URI: `${base}/container`, AWS_CONTAINER_AUTHORIZATION_TOKEN: "pod" },
      { ...kms, AWS_EC2_METADATA_SERVICE_ENDPOINT: base },
    ]) {
      await encrypted("aws", key, "x", env);
      sessions.push(seen.at(-1)!.headers.get("x-amz-security-token"));
    }
    expect(sessions).toEqual(["session 1", "session 2", "session 3"]);
    const sent = new URLSearchParams(seen.find(({ path }) => path === "/sts")!.body);
    expect([sent.get("WebIdentityToken"), sent.get("RoleArn")]).toEqual(["the identity", "arn:aws:iam::1:role/r"]);
    expect(seen.find(({ path }) => path === "/container")!.headers.get("authorization")).toBe("pod");
  });

  test("sends no token of a container to another machine without TLS, and says what to set without credentials", async () => {
    const elsewhere = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://192.0.2.1/",
      AWS_CONTAINER_AUTHORIZATION_TOKEN: "pod",
    };
    expect(encrypted("aws", key, "x", elsewhere)).rejects.toThrow("neither HTTPS nor an address of the machine");
    expect(encrypted("aws", key, "x", { AWS_EC2_METADATA_DISABLED: "true" })).rejects.toMatchObject({
      message: "there are no AWS credentials",
      hint: expect.stringContaining("AWS_ACCESS_KEY_ID"),
    });
  });
});

describe("Google", () => {
  const key = "projects/p/locations/global/keyRings/r/cryptoKeys/k";
  const endpoint = { CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS: `${base}/` };
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

  const serve = (by: KeyObject) => {
    answers = {
      [`${key}:encrypt`]: ({ body, headers }) =>
        headers.get("authorization") === "Bearer of google"
          ? Response.json({ ciphertext: changed(JSON.parse(body).plaintext) })
          : Response.json({ error: { code: 403, message: "Permission denied" } }, { status: 403 }),
      [`${key}:decrypt`]: ({ body }) => Response.json({ plaintext: changed(JSON.parse(body).ciphertext) }),
      "/token": async ({ body, headers }) => {
        const asked = new URLSearchParams(body);
        if (headers.get("metadata-flavor") === "Google") return Response.json({ access_token: "of google" });
        const verified = await jwtVerify(asked.get("assertion") ?? "", by, { audience: `${base}/token` }).catch(
          () => undefined,
        );
        if (verified?.payload["scope"] !== "https://www.googleapis.com/auth/cloudkms")
          return Response.json({ error: "invalid_grant", error_description: "Bad statement" }, { status: 400 });
        return Response.json({ access_token: "of google" });
      },
    };
  };

  test("signs in with the key of a service account", async () => {
    serve(publicKey);
    const account = { type: "service_account", client_email: "a@p.example", token_uri: `${base}/token` };
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    const file = folder.write("account.json", { ...account, private_key: pem });
    const env = { ...endpoint, GOOGLE_APPLICATION_CREDENTIALS: file };
    expect(await roundTrip("google", key, env)).toStartWith(`\${kms:google ${key} `);
    serve(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey);
    expect(encrypted("google", key, "x", env)).rejects.toThrow("answered 400: Bad statement");
    folder.write("account.json", { ...account, private_key: "not a key" });
    expect(encrypted("google", key, "x", env)).rejects.toThrow("private key of the service account cannot be read");
    folder.write("account.json", { type: "external_account" });
    expect(encrypted("google", key, "x", env)).rejects.toThrow('of the type "external_account" cannot be used');
  });

  test("uses the account of the machine, and refuses an incomplete name of a key", async () => {
    serve(publicKey);
    const env = { ...endpoint, HOME: folder.path, GCE_METADATA_HOST: `127.0.0.1:${server.port}` };
    await roundTrip("google", key, env);
    expect(encrypted("google", "../../secrets/x", "x", env)).rejects.toThrow("the name of the key is not complete");
  });
});

describe("Azure", () => {
  const key = "https://team.vault.azure.net/keys/claudikins";
  const env = {
    AZURE_TENANT_ID: "tenant",
    AZURE_CLIENT_ID: "client",
    AZURE_CLIENT_SECRET: "of the client",
    AZURE_AUTHORITY_HOST: `${base}/login`,
  };
  const real = globalThis.fetch;
  /** The hosts of Microsoft are answered by the stand-in. */
  const here = () =>
    spyOn(globalThis, "fetch").mockImplementation(((at: URL, init: RequestInit) =>
      real(
        new URL(at).hostname.endsWith("azure.net") ? `${base}${new URL(at).pathname}${new URL(at).search}` : at,
        init,
      )) as typeof fetch);

  test("encrypts with the version of the key that it names, and signs in as the application", async () => {
    using _ = here();
    answers = {
      "/tenant/oauth2/v2.0/token": ({ body }) =>
        Response.json(
          new URLSearchParams(body).get("client_secret") === "of the client" ? { access_token: "of azure" } : {},
        ),
      "/encrypt": ({ body }) =>
        Response.json({ kid: `${key}/v1`, value: changed(JSON.parse(body).value, "base64url") }),
      "/keys/claudikins/v1/decrypt": ({ body }) =>
        Response.json({ kid: `${key}/v1`, value: changed(JSON.parse(body).value, "base64url") }),
    };
    expect(await roundTrip("azure", key, env)).toStartWith(`\${kms:azure ${key}/v1 `);
    const [signIn, request] = seen;
    expect(new URLSearchParams(signIn!.body).get("scope")).toBe("https://vault.azure.net/.default");
    expect([request!.path, request!.headers.get("authorization"), JSON.parse(request!.body).alg]).toEqual([
      "/keys/claudikins/encrypt?api-version=7.4",
      "Bearer of azure",
      "RSA-OAEP-256",
    ]);
    expect(encrypted("azure", key, "x".repeat(200), env)).rejects.toThrow("at most 190 bytes");
  });

  test("sends its token only to Microsoft", async () => {
    for (const other of [
      "https://team.vault.azure.net.example.com/keys/k",
      "http://team.vault.azure.net/keys/k",
      "https://team.vault.azure.net/secrets/k",
      `${base}/keys/k`,
    ]) {
      expect(decrypted("azure", other, "AAAA", env)).rejects.toThrow("not one of Azure Key Vault");
    }
    expect(seen).toEqual([]);
  });

  test("uses the identity of the machine", async () => {
    using _ = here();
    answers = {
      "/identity": ({ headers, path }) =>
        Response.json(
          headers.get("x-identity-header") === "h" && path.includes("resource=https%3A%2F%2Fvault.azure.net")
            ? { access_token: "of the machine" }
            : {},
        ),
      "/encrypt": ({ headers, body }) =>
        Response.json(
          headers.get("authorization") === "Bearer of the machine"
            ? { kid: `${key}/v1`, value: changed(JSON.parse(body).value, "base64url") }
            : {},
        ),
    };
    expect(
      await encrypted("azure", key, "x", { IDENTITY_ENDPOINT: `${base}/identity`, IDENTITY_HEADER: "h" }),
    ).toContain("/v1 ");
  });
});

describe("Vault", () => {
  const vault = startVault("hvs.token");
  const address = `http://127.0.0.1:${vault.port}`;
  const env = { VAULT_ADDR: `${address}/`, VAULT_TOKEN: "hvs.token" };
  afterAll(() => vault[Symbol.asyncDispose]());

  test("encrypts with a key of transit, or of another mount in a namespace", async () => {
    expect(await roundTrip("vault", "team", env)).toStartWith("${kms:vault team vault:v1:");
    answers = { "/encrypt/team": () => Response.json({ data: { ciphertext: "vault:v1:AAAA" } }) };
    await encrypted("vault", "other/keys/team", "x", { ...env, VAULT_ADDR: base, VAULT_NAMESPACE: "n" });
    expect([seen[0]!.path, seen[0]!.headers.get("x-vault-namespace")]).toEqual(["/v1/other/keys/encrypt/team", "n"]);
  });

  test("uses the token of vault login, and says why it was refused", async () => {
    folder.write(".vault-token", "hvs.token\n");
    await roundTrip("vault", "team", { VAULT_ADDR: address, HOME: folder.path });
    expect(encrypted("vault", "team", "x", { ...env, VAULT_TOKEN: "another" })).rejects.toMatchObject({
      message: `127.0.0.1:${vault.port} answered 403: permission denied`,
      hint: expect.stringContaining("transit/encrypt/KEY"),
    });
    expect(encrypted("vault", "../sys/seal", "x", env)).rejects.toThrow("not usable");
    expect(encrypted("vault", "team", "x", { ...env, VAULT_ADDR: "http://127.0.0.1:1" })).rejects.toMatchObject({
      message: expect.stringContaining("127.0.0.1:1 cannot be reached"),
      hint: expect.stringContaining("Check the address"),
    });
    expect(encrypted("vault", "team", "x", {})).rejects.toThrow("the address of Vault is not known");
  });

  test("a text that was encrypted for another purpose is not used", async () => {
    const other = `vault:v1:${changed(Buffer.from("the password of payroll").toString("base64"))}`;
    expect(decrypted("vault", "team", other, env)).rejects.toThrow("encrypted for another purpose");
    const reading = withReadValues(`\${kms:vault team ${other}}`, "auth.sealingKey", { env });
    const error = await reading.catch((each: Error) => each);
    expect(error).toMatchObject({
      code: "NEEDS_SECRET",
      message:
        "auth.sealingKey needs a value that is encrypted with a key of vault: the text was encrypted for another purpose",
    });
  });
});
