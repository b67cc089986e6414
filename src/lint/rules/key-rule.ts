import { isSameKey } from "../../cni/fold-key.ts";
import { memberOf, type JsonMember, type JsonNode, type ObjectNode } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import { shownValue } from "../shown-value.ts";
import { nearestKey } from "../nearest-key.ts";
import { ipamKeysOf } from "../ipam-keys.ts";
import type { KeyShape, KeyTable } from "../key-table.ts";
import { listKeys, pluginKeys, valueLists } from "../plugin-keys.ts";
import type { ReadNetwork, ReadPlugin } from "../read-network.ts";

/** Keys and values of the plugins that we know. */
export function keyRule(read: ReadNetwork): readonly LintFinding[] {
  const own = read.plugins.flatMap((plugin) => pluginFindings(read, plugin));
  if (!read.isList) return own;
  // A top without a list is LVN0205's, and says more there.
  const isList = memberOf(read.conf, "plugins") !== undefined;
  const top = isList ? objectFindings(read, read.conf, { table: listKeys, reader: "a list of plugins" }) : [];
  return [...top, ...own];
}

function pluginFindings(read: ReadNetwork, { type, node, ipam }: ReadPlugin): readonly LintFinding[] {
  const table = pluginKeys(type);
  const ipamTable = ipam === undefined ? undefined : ipamKeysOf(ipam.type);
  return [
    ...(table === undefined ? [] : objectFindings(read, node, { table, reader: type })),
    ...valueFindings(read, type, node),
    ...(ipam === undefined || ipamTable === undefined
      ? []
      : objectFindings(read, ipam.node, { table: ipamTable, reader: ipam.type })),
  ];
}

interface Reading {
  readonly table: KeyTable;
  /** The plugin that reads these keys. */
  readonly reader: string;
}

function objectFindings(read: ReadNetwork, node: ObjectNode, { table, reader }: Reading): readonly LintFinding[] {
  // A key that is there as well is not the one that was meant.
  const free = Object.keys(table).filter((key) => memberOf(node, key) === undefined);
  return node.members.slice(0, membersMax).flatMap((member) => {
    const known = Object.keys(table).find((key) => isSameKey(key, member.key));
    if (known === undefined) return isComment(member.key) ? [] : [unknownKey(read, member, { table, reader, free })];
    return shapeFindings(read, member, { shape: table[known] ?? "any", reader });
  });
}

/** A plugin has some twenty keys, and the first mistakes of thousands say enough. */
const membersMax = 200;

/** JSON has no comments, so people use keys that no plugin reads; `cni.dev/…` is the specification's own. */
function isComment(key: string): boolean {
  return /^(?:_|\/\/|#|\$|cni\.dev\/|comment$|description$)/iu.test(key);
}

function unknownKey(
  { network }: ReadNetwork,
  { key, keySpan, value }: JsonMember,
  reading: Reading & { readonly free: readonly string[] },
): LintFinding {
  const near = nearestKey(key, reading.free);
  const spot = { on: "config", span: keySpan } as const;
  if (near !== undefined && fits(value, reading.table[near] ?? "any"))
    return lintFinding("LVN0301", network, {
      message: `${reading.reader} does not know the key ${shownValue(key)}`,
      remedy: `did you mean ${shownValue(near)}?`,
      spot,
    });
  return lintFinding("LVN0302", network, {
    message: `${reading.reader} does not read the key ${shownValue(key)}, and ignores it`,
    spot,
  });
}

interface Shaping {
  readonly shape: KeyShape;
  readonly reader: string;
}

function shapeFindings(read: ReadNetwork, member: JsonMember, { shape, reader }: Shaping): readonly LintFinding[] {
  const { value } = member;
  if (value.kind === "null") return [];
  if (!fits(value, shape)) return [wrongKind(read, member, { shape, reader })];
  if (typeof shape === "string") return [];
  if (!isListShape(shape)) return value.kind === "object" ? objectFindings(read, value, { table: shape, reader }) : [];
  const [inner] = shape;
  if (value.kind !== "array") return [];
  return value.elements.flatMap((element) =>
    shapeFindings(read, { ...member, value: element }, { shape: inner, reader }),
  );
}

function isListShape(shape: KeyShape): shape is readonly [KeyShape] {
  return Array.isArray(shape);
}

function fits(value: JsonNode, shape: KeyShape): boolean {
  if (value.kind === "null") return true;
  switch (kindWanted(shape)) {
    case "any":
      return true;
    case "integer":
      return value.kind === "number" && /^-?[0-9]{1,19}$/u.test(value.text);
    case "list":
      return value.kind === "array";
    case "object":
      return value.kind === "object";
    case "string":
      return value.kind === "string";
    case "bool":
      return value.kind === "bool";
  }
}

function kindWanted(shape: KeyShape): "string" | "integer" | "bool" | "object" | "list" | "any" {
  if (typeof shape === "string") return shape;
  return isListShape(shape) ? "list" : "object";
}

const kindWords = {
  string: "a text in quotes",
  integer: "a whole number without quotes",
  bool: "true or false without quotes",
  object: "an object",
  list: "a list",
  any: "any value",
} as const;

function wrongKind({ network }: ReadNetwork, { key, value }: JsonMember, { shape, reader }: Shaping): LintFinding {
  const seen = "text" in value ? (value.kind === "string" ? shownValue(value.text) : value.text) : `a ${value.kind}`;
  return lintFinding("LVN0303", network, {
    message: `${reader} wants ${kindWords[kindWanted(shape)]} as ${shownValue(key)}: it is ${seen.slice(0, 100)}`,
    spot: { on: "config", span: value },
  });
}

function valueFindings({ network }: ReadNetwork, type: string, node: ObjectNode): readonly LintFinding[] {
  const lists = Object.hasOwn(valueLists, type) ? (valueLists[type] ?? {}) : {};
  return Object.entries(lists).flatMap(([key, allowed]) => {
    const value = memberOf(node, key)?.value;
    if (value?.kind !== "string" || allowed.includes(value.text)) return [];
    const words = allowed.filter((word) => word !== "").join(", ");
    const message = `${shownValue(key)} of ${type} must be one of ${words}: it is ${shownValue(value.text)}`;
    return [lintFinding("LVN0304", network, { message, spot: { on: "config", span: value } })];
  });
}
