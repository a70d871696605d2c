/** What the payload of an answer to a call is. Numbers, since every text that crosses into the guest is copied. */
export const answerKind = { error: 0, text: 1, json: 2, blocks: 3 } as const;
