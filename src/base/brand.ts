/**
 * Strings that must not be confused. Multus once gave a pod *name* to a function that wanted a
 * *namespace*; with brands the compiler refuses that call.
 */
declare const brand: unique symbol;
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

export type ContainerId = Brand<string, "ContainerId">;
export type IfName = Brand<string, "IfName">;
export type NetnsPath = Brand<string, "NetnsPath">;
export type Namespace = Brand<string, "Namespace">;
export type PodName = Brand<string, "PodName">;
export type PodUid = Brand<string, "PodUid">;
/** A plugin's `type`: a file name looked up in CNI_PATH, never a path. */
export type PluginType = Brand<string, "PluginType">;
/** What the user calls a network: `namespace/name` for a NetworkAttachmentDefinition, else the conf's own name. */
export type NetworkName = Brand<string, "NetworkName">;
/** JSON kept as the text it came in. Never parsed and printed again: that would change numbers and duplicate keys. */
export type JsonText = Brand<string, "JsonText">;
