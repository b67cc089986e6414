import type { JsonText } from "../base/brand.ts";
import type { RouteEdit } from "./chain.ts";
import { defaultDestination, isDefaultDestination, parseCidr, parseIp } from "./ip.ts";
import {
  appendElements,
  arrayElements,
  exactMember,
  jsonKind,
  jsonValue,
  memberText,
  removeMember,
  setMember,
} from "./json-text.ts";

/**
 * A plugin's result with its default routes edited, as text. CHECK, DEL and Multus' cache must see the routes that are
 * in the namespace. Everything else stays as the plugin printed it.
 */
export function withRouteEdit(result: JsonText, edit: RouteEdit): JsonText {
  if (!edit.dropV4 && !edit.dropV6 && edit.gateways.length === 0) return result;
  const v4 = editRoutes(objectAt(result, "ip4"), edit, 4);
  const v6 = editRoutes(objectAt(result, "ip6"), edit, 6);
  if (v4 === undefined && v6 === undefined) return editRoutes(result, edit) ?? result;
  // 0.1.0 and 0.2.0 keep the routes below their family.
  const first = v4 === undefined ? result : put(result, "ip4", v4);
  return v6 === undefined ? first : put(first, "ip6", v6);
}

/** The object with its `routes` edited, of one family only if `only` is given. */
function editRoutes(holder: JsonText | undefined, edit: RouteEdit, only?: 4 | 6): JsonText | undefined {
  if (holder === undefined) return undefined;
  const list = memberText(holder, "routes");
  const routes = list !== undefined && jsonKind(list) === "array" ? arrayElements(list) : [];
  const kept = routes.filter((route) => !isDropped(route, edit));
  const added = edit.gateways.flatMap((gateway) => {
    const ip = parseIp(gateway);
    if (ip === undefined || (only !== undefined && ip.family !== only)) return [];
    return [jsonValue({ dst: defaultDestination(ip.family), gw: ip.text })];
  });
  if (added.length === 0 && kept.length === routes.length) return holder;
  return put(holder, "routes", appendElements(jsonValue([]), [...kept, ...added]));
}

function isDropped(route: JsonText, edit: RouteEdit): boolean {
  const dst: unknown = jsonKind(route) === "object" ? JSON.parse(memberText(route, "dst") ?? "null") : undefined;
  const destination = typeof dst === "string" ? parseCidr(dst) : undefined;
  if (destination === undefined || !isDefaultDestination(destination)) return false;
  const { family } = destination.ip;
  // A gateway replaces the existing default route. Records of Multus have no other sign of that.
  return (
    (family === 4 ? edit.dropV4 : edit.dropV6) || edit.gateways.some((gateway) => parseIp(gateway)?.family === family)
  );
}

/** Sets the member in place of the one that the plugin wrote, which may be in other letters (`"Routes"`). */
function put(text: JsonText, key: string, value: JsonText): JsonText {
  return setMember(exactMember(text, key) === undefined ? removeMember(text, key) : text, key, value);
}

function objectAt(text: JsonText, key: string): JsonText | undefined {
  const value = memberText(text, key);
  return value !== undefined && jsonKind(value) === "object" ? value : undefined;
}
