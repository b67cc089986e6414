import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../json-values.ts";

/** A namespace whose pods others cannot do without, and by which object that shows. */
export interface Dependency {
  readonly namespace: string;
  readonly why: string;
}

const nameLabel = "app.kubernetes.io/name";
const helmNamespace = "meta.helm.sh/release-namespace";
/** Every CSI node plugin registers itself with the kubelet in this folder. */
const registrations = /\/plugins_registry\/?$/u;

/** Objects of a webhook that does not answer cannot be written, or only late. */
export function webhookDependencies(configuration: unknown): readonly Dependency[] {
  const name = nameOf(configuration);
  const services = objectsOf(objectOf(configuration)["webhooks"]).map(({ clientConfig }) =>
    textOf(objectOf(objectOf(clientConfig)["service"])["namespace"]),
  );
  return [...new Set(services)].filter((one) => one !== "").map((namespace) => ({ namespace, why: `webhook ${name}` }));
}

/** Without its node plugin no volume of a CSI driver is mounted. */
export function csiDependency(daemonSet: unknown): Dependency | undefined {
  const template = objectOf(objectOf(objectOf(daemonSet)["spec"])["template"]);
  const folders = objectsOf(objectOf(template["spec"])["volumes"]).map(({ hostPath }) =>
    textOf(objectOf(hostPath)["path"]),
  );
  if (!folders.some((folder) => registrations.test(folder))) return undefined;
  return { namespace: namespaceOf(daemonSet), why: `CSI driver of DaemonSet ${nameOf(daemonSet)}` };
}

export function loadBalancerDependency(service: unknown): Dependency | undefined {
  if (objectOf(objectOf(service)["spec"])["type"] !== "LoadBalancer") return undefined;
  return { namespace: namespaceOf(service), why: `Service ${nameOf(service)} of type LoadBalancer` };
}

/** An ingress class has no namespace: Helm wrote down its own, or its controller's Service has the class's name label. */
export function ingressDependencies(
  { name, appName, released }: IngressClass,
  services: readonly ServiceLabel[],
): readonly Dependency[] {
  const why = `ingress class ${name}`;
  if (released !== "") return [{ namespace: released, why }];
  const found = services.filter((service) => appName !== "" && service.appName === appName);
  return [...new Set(found.map(({ namespace }) => namespace))].map((namespace) => ({ namespace, why }));
}

export interface IngressClass {
  readonly name: string;
  readonly appName: string;
  /** The namespace of its Helm release; empty without one. */
  readonly released: string;
}

export function ingressClassOf(value: unknown): IngressClass {
  const { annotations, labels } = metadataOf(value);
  return {
    name: nameOf(value),
    appName: textOf(objectOf(labels)[nameLabel]),
    released: textOf(objectOf(annotations)[helmNamespace]),
  };
}

export interface ServiceLabel {
  readonly namespace: string;
  readonly appName: string;
}

export function serviceLabel(service: unknown): ServiceLabel {
  return { namespace: namespaceOf(service), appName: textOf(objectOf(metadataOf(service)["labels"])[nameLabel]) };
}

function metadataOf(value: unknown): JsonObject {
  return objectOf(objectOf(value)["metadata"]);
}

function nameOf(value: unknown): string {
  return textOf(metadataOf(value)["name"]);
}

function namespaceOf(value: unknown): string {
  return textOf(metadataOf(value)["namespace"]);
}
