import type { SharedTexts } from "../../base/shared-texts.ts";
import type { ClaimRef, ExtendedClaim, PodClaims } from "../../view/pod-claims.ts";
import { objectOf, textOf, type JsonObject } from "../client/json-fields.ts";

const none = Object.freeze({});

/** The claims of a pod, as a part of its facts. */
export function claimsOf(spec: JsonObject, status: JsonObject, texts: SharedTexts): { readonly claims?: PodClaims } {
  const refs = refsOf(spec, status, texts);
  const extended = extendedOf(objectOf(status["extendedResourceClaimStatus"]), texts);
  if (refs.length === 0 && extended === undefined) return none;
  return { claims: { refs, ...(extended === undefined ? {} : { extended }) } };
}

/** Those of the status first and in its order, as Multus reads them; then those that the spec names itself. */
function refsOf(spec: JsonObject, status: JsonObject, texts: SharedTexts): readonly ClaimRef[] {
  const inStatus = listOf(status["resourceClaimStatuses"]).map((one) => refOf(one, true, texts));
  const known = new Set(inStatus.map(({ name }) => name));
  const inSpec = listOf(spec["resourceClaims"]).map((one) => refOf(one, false, texts));
  // A claim of the status without a name needs no object.
  return [...inStatus, ...inSpec.filter(({ name }) => !known.has(name))].filter(({ claim }) => claim !== "");
}

function refOf(value: unknown, isInStatus: boolean, texts: SharedTexts): ClaimRef {
  const { name, resourceClaimName } = objectOf(value);
  return { name: texts.share(textOf(name)), claim: textOf(resourceClaimName), isInStatus };
}

function extendedOf(status: JsonObject, texts: SharedTexts): ExtendedClaim | undefined {
  const claim = textOf(status["resourceClaimName"]);
  if (claim === "") return undefined;
  const mappings = listOf(status["requestMappings"]).map((value) => {
    const { resourceName, requestName } = objectOf(value);
    return { resourceName: texts.share(textOf(resourceName)), request: texts.share(textOf(requestName)) };
  });
  return { claim, mappings };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
