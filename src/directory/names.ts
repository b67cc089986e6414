import type { Namespace, PodName, PodUid } from "../base/brand.ts";

/** Names as Kubernetes allows them (RFC 1123). They end up in paths and in CNI_ARGS, so nothing else is accepted. */
const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;
const uidPattern = /^[A-Za-z0-9](?:[-A-Za-z0-9._]{0,126}[A-Za-z0-9])?$/u;
const nameLengthMax = 253;

export function isNamespace(text: string): text is Namespace {
  return label.test(text);
}

/** An object's name: labels joined by dots. */
export function isObjectName(text: string): boolean {
  return text.length <= nameLengthMax && text.split(".").every((part) => label.test(part));
}

export function isPodName(text: string): text is PodName {
  return isObjectName(text);
}

export function isPodUid(text: string): text is PodUid {
  return uidPattern.test(text);
}
