/** The memory of an OIDC provider for tests. That of the package oidc-provider forgets the oldest of a thousand entries. */
import type { Adapter, AdapterPayload } from "oidc-provider";

/** For the option `adapter`: all models of one provider have the same memory. */
export function providerMemory(): (model: string) => Adapter {
  const entries = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    const where = async (isMeant: (entry: AdapterPayload) => boolean) =>
      entries.entries().find(([key, entry]) => key.startsWith(keyOf("")) && isMeant(entry))?.[1];
    return {
      upsert: async (id, payload) => void entries.set(keyOf(id), payload),
      find: async (id) => entries.get(keyOf(id)),
      findByUid: (uid) => where((entry) => entry.uid === uid),
      findByUserCode: (userCode) => where((entry) => entry.userCode === userCode),
      consume: async (id) => {
        const entry = entries.get(keyOf(id));
        if (entry) entry["consumed"] = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id) => void entries.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, entry] of entries) if (entry.grantId === grantId) entries.delete(key);
      },
    };
  };
}
