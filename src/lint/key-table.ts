/** The kind of a value, as Go reads it. */
type KeyKind = "string" | "integer" | "bool" | "object" | "list" | "any";

/** The keys of an object; a nested table for an object, in brackets for a list of them. */
export interface KeyTable {
  readonly [key: string]: KeyShape;
}
export type KeyShape = KeyKind | KeyTable | readonly [KeyShape];

export const dnsKeys: KeyTable = { nameservers: "list", domain: "string", search: "list", options: "list" };
