import { configSourceAnnotation } from "../base/annotations.ts";
import type { Namespace } from "../base/brand.ts";
import { Fields, type Complain } from "./fields.ts";
import { isObjectName, isPodName, isPodUid } from "./names.ts";
import type { NetworkDefinition } from "../view/network-definition.ts";
import type { PodFacts } from "../view/pod-facts.ts";

/** The objects of one file, in their order there. */
export interface Manifest {
  readonly pods: readonly PodFacts[];
  readonly networks: readonly NetworkDefinition[];
}

export const emptyManifest: Manifest = { pods: [], networks: [] };

/** Collects the objects of a file, document by document. `complain` gets the problems of a document. */
export class ManifestBuilder {
  readonly #pods: PodFacts[] = [];
  readonly #networks: NetworkDefinition[] = [];

  add(document: unknown, complain: Complain): void {
    const fields = new Fields(document, complain);
    if (!fields.isObject) {
      complain([], "Cannot use a document as it must be an object with apiVersion and kind");
      return;
    }
    const kind = `${fields.text(["apiVersion"]) ?? ""} ${fields.text(["kind"]) ?? ""}`;
    if (kind === "v1 Pod") this.#addPod(fields);
    else if (kind === "k8s.cni.cncf.io/v1 NetworkAttachmentDefinition") this.#addNetwork(fields);
    else
      complain(
        ["kind"],
        `Cannot use a document as its kind must be v1 Pod or k8s.cni.cncf.io/v1 NetworkAttachmentDefinition: current value is ${JSON.stringify(kind.trim())}`,
      );
  }

  build(): Manifest {
    return Object.freeze({ pods: Object.freeze(this.#pods), networks: Object.freeze(this.#networks) });
  }

  #addPod(fields: Fields): void {
    const name = fields.name(["metadata", "name"]);
    const namespace = readNamespace(fields);
    const uid = fields.text(["metadata", "uid"]) ?? "";
    const annotations = fields.texts(["metadata", "annotations"]);
    const priority = fields.int32(["spec", "priority"]);
    const phase = fields.text(["status", "phase"]);
    if (uid !== "" && !isPodUid(uid)) {
      fields.complain(
        ["metadata", "uid"],
        `Cannot use a pod as metadata.uid must consist of letters, digits, '-', '_' and '.': current value is ${JSON.stringify(uid.slice(0, 80))}`,
      );
    } else if (name !== undefined && isPodName(name) && namespace !== undefined) {
      // An empty UID means that there is none: see PodFacts.
      this.#pods.push(
        Object.freeze({
          namespace,
          name,
          uid: uid as PodFacts["uid"],
          annotations,
          priority,
          isStatic: isStatic(annotations),
          ...(phase === undefined ? {} : { phase }),
        }),
      );
    }
  }

  #addNetwork(fields: Fields): void {
    const name = fields.name(["metadata", "name"]);
    const namespace = readNamespace(fields);
    const annotations = fields.texts(["metadata", "annotations"]);
    const config = fields.text(["spec", "config"]) ?? "";
    if (name === undefined || !isObjectName(name) || namespace === undefined) return;
    this.#networks.push(Object.freeze({ namespace, name, config: config === "" ? undefined : config, annotations }));
  }
}

function readNamespace(fields: Fields): Namespace | undefined {
  return fields.namespace(["metadata", "namespace"], "default");
}

/** Kubelet notes in each pod where it comes from: `api`, or the source of a static pod. */
function isStatic(annotations: Readonly<Record<string, string>>): boolean {
  const source = annotations[configSourceAnnotation];
  return source !== undefined && source !== "api";
}
