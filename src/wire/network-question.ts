/** What the guard asks a daemon about networks: GET /networkz?NAMESPACE/NAME&NAMESPACE/NAME, and the answer. */

export interface NetworkWord {
  readonly network: string;
  /** absent: the daemon knows no such network. */
  readonly state: "ready" | "not-ready" | "unknown" | "absent";
  readonly reasons: readonly string[];
  /** Of the definition that was judged; see `definitionMark`. */
  readonly mark: string;
}

/** A request has at most 8 KiB, and a name at most 317 characters. */
export const networksPerQuestion = 24;

export function networksQuestion(networks: readonly string[]): string {
  return `/networkz?${networks.join("&")}`;
}

const networkForm = /^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{0,252}$/u;

/** The networks that a query names; others are left out. */
export function networksAsked(query: ReadonlySet<string>): readonly string[] {
  return [...query].filter((name) => networkForm.test(name)).slice(0, networksPerQuestion);
}

const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;

/** A short text that differs where two versions of a definition differ: its configuration, and what it says of its uplink. */
export function definitionMark(config: string | undefined, annotations: readonly (string | undefined)[]): string {
  const text = JSON.stringify([config ?? "", ...annotations.map((value) => value ?? null)]);
  let hash = fnvOffset;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), fnvPrime);
  return (hash >>> 0).toString(16);
}
