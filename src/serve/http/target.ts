/** What a request asks for: its path and its query. */
import { HttpRefusal } from "./refusal.ts";

export interface Target {
  pathname: string;
  search: string;
}

/** Throws an HttpRefusal with status 400 for a target that is no path: CONNECT names a host, and `*` stands for a whole server. */
export function targetOf({ url }: Pick<Request, "url">): Target {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new HttpRefusal(400, "The request names no path of this server");
  }
  const { pathname, search } = new URL(url);
  return { pathname, search };
}
