/** Limits what a session keeps of its `initialize` request: a client could send megabytes. */
import type { ClientCapabilities, InitializeRequest, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";

/** Maximum bytes of a body outside a session, which can only be `initialize`. */
export const maxInitializeBytes = 65_536;

const maxNameLength = 256;

/** Drops everything that claudikins does not use. */
export function lean({ jsonrpc, id, params }: JSONRPCRequest & InitializeRequest): JSONRPCRequest & InitializeRequest {
  const { protocolVersion, capabilities, clientInfo } = params;
  const short = (text: string) => text.slice(0, maxNameLength);
  const { name, version } = clientInfo;
  return {
    jsonrpc,
    id,
    method: "initialize",
    params: {
      protocolVersion: short(protocolVersion),
      capabilities: knownOf(capabilities),
      clientInfo: { name: short(name), version: short(version) },
    },
  };
}

function knownOf({ sampling, elicitation, roots }: ClientCapabilities): ClientCapabilities {
  const { form, url } = elicitation ?? {};
  return {
    ...(sampling ? { sampling: { ...present(sampling, "context"), ...present(sampling, "tools") } } : {}),
    ...(elicitation
      ? {
          elicitation: {
            ...(form ? { form: form.applyDefaults === true ? { applyDefaults: true } : {} } : {}),
            ...(url ? { url: {} } : {}),
          },
        }
      : {}),
    ...(roots ? { roots: roots.listChanged === true ? { listChanged: true } : {} } : {}),
  };
}

function present(capability: object, name: string): object {
  return name in capability ? { [name]: {} } : {};
}
