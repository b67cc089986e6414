import { networkStatusAnnotation } from "../../base/annotations.ts";
import { isObject, objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimKernel } from "../node/sim-kernel.ts";
import { podKeyOf } from "../node/sim-pod.ts";
import type { SimSandbox } from "../node/sim-runtime.ts";

/** What the pod's annotation says of its networks, where that differs from what is attached; undefined where it agrees. */
export function untoldStatus(api: SimApi, kernel: SimKernel, { pod, netns }: SimSandbox): string | undefined {
  const key = podKeyOf(pod);
  const annotations = objectOf(objectOf(api.get("pods", key)?.["metadata"])["annotations"]);
  const told = toldLinks(textOf(annotations[networkStatusAnnotation]));
  const attached = [...(kernel.netns.get(netns)?.links ?? [])].map(([ifname, place]) => `${ifname} ${place}`);
  if (told.toSorted().join() === attached.toSorted().join()) return undefined;
  return `${key} is told to have ${told.join(", ") || "nothing"}, and has ${attached.join(", ") || "nothing"}`;
}

/** Each interface of the annotation as `net1 NETWORK/ADDRESS`. */
function toldLinks(annotation: string): readonly string[] {
  const entries: unknown = JSON.parse(annotation === "" ? "[]" : annotation);
  return (Array.isArray(entries) ? entries : []).filter(isObject).map(({ name, interface: ifname, ips }) => {
    // Without the namespace of its definition.
    const network = textOf(name).slice(textOf(name).indexOf("/") + 1);
    return `${textOf(ifname)} ${network}/${Array.isArray(ips) ? ips.join() : ""}`;
  });
}
