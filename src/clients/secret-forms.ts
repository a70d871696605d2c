/** How a secret may stand in a text: as it is, escaped or encoded. */

/** Shorter encoded parts would be found in texts that have nothing to do with the secret. */
const shortestEncoded = 8;

/** Every form once, the secret itself first. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret.toWellFormed());
  const hex = bytes.toString("hex");
  const inAddress = encodeURIComponent(secret.toWellFormed());
  const everyByte = hex.replace(/../g, "%$&");
  const encoded = [
    hex,
    hex.toUpperCase(),
    everyByte,
    everyByte.toUpperCase(),
    ...base64Forms(bytes),
    codeUnits(secret),
  ];
  return [
    ...new Set([
      secret,
      JSON.stringify(secret).slice(1, -1),
      // As it stands in a line of a log.
      secret.replace(/\p{Cc}+/gu, " "),
      inAddress,
      inAddress.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
      inAddress.replaceAll("%20", "+"),
      ...encoded.filter((form) => form.length >= shortestEncoded),
    ]),
  ];
}

/** In base64 and base64url, alone and with anything before and after it: what stands before shifts all characters. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replaceAll("=", "");
    // The first and the last character may have bits of what stands beside the secret.
    const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    const own = text.slice([0, 2, 3][shift], end);
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** As `\u0061`, which some serializers write for every character. */
function codeUnits(secret: string): string {
  return secret.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
