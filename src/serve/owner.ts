/** The keys of tokens and people. Sessions, tasks and executions are kept under the key of their owner. */

export function tokenOwner(id: string): string {
  return `token:${id}`;
}

export function personOwner(id: string): string {
  return `person:${id}`;
}

/** How the keys of an owner's clients begin. No remote address begins like this. */
export function clientsOf(owner: string): string {
  return `${owner} `;
}
