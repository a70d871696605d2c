/** The parts of the machine that every box has: programs and libraries of the system, and settings without secrets. */
import { existsSync } from "node:fs";

/** Programs and libraries, also of Nix and Guix. */
const programs = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/nix/store",
  "/run/current-system",
  "/gnu/store",
];

const settings = [
  ...[
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "timezone",
    "locale.conf",
    "mime.types",
  ],
  ...["passwd", "group", "nsswitch.conf", "protocols", "services", "fonts", "os-release"],
  // The certificates, without private keys.
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/tls/cert.pem"],
  ...["pki/tls/openssl.cnf", "pki/ca-trust", "crypto-policies"],
].map((name) => `/etc/${name}`);

/** What a program needs to find other machines. */
const names = ["hosts", "host.conf", "resolv.conf", "gai.conf"].map((name) => `/etc/${name}`);

export function systemPaths(network: boolean): string[] {
  return [...programs, ...settings, ...(network ? names : [])].filter((path) => existsSync(path));
}

/** Variables with the path of a file of certificates. */
export const certificateVariables = [
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "DENO_CERT", "CURL_CA_BUNDLE"],
  ...["REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"],
];
