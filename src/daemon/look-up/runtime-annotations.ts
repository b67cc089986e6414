import type { JsonText, PodUid } from "../../base/brand.ts";
import type { PodArgs } from "../../cni/cni-args.ts";
import { jsonKind, memberText, scanObject, valueOf } from "../../cni/json-text.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** The capability by which containerd and CRI-O send the pod's annotations. The generated conf declares it. */
const annotationsCapability = "io.kubernetes.cri.pod-annotations";

const configSource = "kubernetes.io/config.source";
/** Only these annotations are kept. */
const wanted = new Set([networksAnnotation, defaultNetworkAnnotation, configSource]);

export type Annotations = Readonly<Record<string, string>>;

/**
 * The pod's annotations as the runtime sent them with the call; undefined when it sent none. They are kubelet's own, so
 * they decide: there is no race with the watch, and a static pod has them at once.
 */
export function runtimeAnnotations(config: JsonText): Annotations | undefined {
  // Cheap first test: most runtimes send none, and every ADD comes here.
  if (!config.includes(annotationsCapability)) return undefined;
  const runtimeConfig = objectMember(config, "runtimeConfig");
  const annotations = runtimeConfig === undefined ? undefined : objectMember(runtimeConfig, annotationsCapability);
  if (annotations === undefined) return undefined;
  const members = scanObject(annotations).filter(({ key }) => wanted.has(key));
  return Object.fromEntries(
    members.flatMap((member) => {
      const value = valueOf(annotations, member);
      return jsonKind(value) === "string" ? [[member.key, String(JSON.parse(value))]] : [];
    }),
  );
}

/** The pod of a call, made from the call alone. */
export function podOfRuntime(
  args: Required<Pick<PodArgs, "namespace" | "name">> & PodArgs,
  annotations: Annotations,
): PodFacts {
  const source = annotations[configSource];
  return {
    namespace: args.namespace,
    name: args.name,
    uid: args.uid ?? ("" as PodUid), // unknown
    annotations,
    priority: undefined,
    isStatic: source !== undefined && source !== "api",
    isFromCall: true,
  };
}

/** Whether both ask for the same networks. */
export function sameSelection(left: Annotations, right: Annotations): boolean {
  return [networksAnnotation, defaultNetworkAnnotation].every((key) => left[key] === right[key]);
}

function objectMember(text: JsonText, key: string): JsonText | undefined {
  const value = jsonKind(text) === "object" ? memberText(text, key) : undefined;
  return value !== undefined && jsonKind(value) === "object" ? value : undefined;
}
