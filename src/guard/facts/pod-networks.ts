import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { networksNamedBy } from "../../lint/pod-wish.ts";
import type { ClusterPod } from "./cluster-pod.ts";

interface PodParts {
  readonly namespace: string;
  readonly annotations: JsonObject;
  readonly spec: JsonObject;
}

/** Enough for a dozen networks. Whoever may create pods must not fill the guard's memory with names. */
const charsMax = 512;
const none: Pick<ClusterPod, "networks"> = Object.freeze({});

/** The networks that a pod names, as one text that pods of one template share. In the host's network a pod gets none. */
export function podNetworks({ namespace, annotations, spec }: PodParts, texts: SharedTexts): typeof none {
  const own: Record<string, string> = {};
  for (const key of [networksAnnotation, defaultNetworkAnnotation]) {
    const text = textOf(annotations[key]);
    if (text !== "") own[key] = text;
  }
  if (Object.keys(own).length === 0 || spec["hostNetwork"] === true) return none;
  let networks = "";
  for (const name of networksNamedBy({ namespace, annotations: own })) {
    const longer = networks === "" ? name : `${networks} ${name}`;
    if (longer.length <= charsMax) networks = longer;
  }
  return networks === "" ? none : { networks: texts.share(networks) };
}
