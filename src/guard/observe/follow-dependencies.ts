import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { Named } from "../../kube/watch/object-store.ts";
import type { ReflectorOptions } from "../../kube/watch/reflector-options.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import {
  ingressClassOf,
  ingressDependencies,
  webhookDependencies,
  type Dependency,
  type IngressClass,
  type ServiceLabel,
} from "../facts/depended-on.ts";

/** Follows a resource of the API server. */
export type Follow = <T extends Named>(
  resource: string,
  path: string,
  project: (value: unknown) => T | undefined,
  more?: Pick<ReflectorOptions<T>, "query" | "isCached">,
) => Reflector<T>;

interface KeptHook extends Named {
  readonly dependencies: readonly Dependency[];
}

interface KeptClass extends Named, IngressClass {}

const hooks = "/apis/admissionregistration.k8s.io/v1";

/**
 * Follows webhooks and ingress classes. Only a note for people depends on them, so without the right to read them the
 * guard works as before. Returns what they show.
 */
export function followDependencies(follow: Follow): (services: readonly ServiceLabel[]) => readonly Dependency[] {
  const all = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"].map((resource) =>
    follow<KeptHook>(resource, `${hooks}/${resource}`, keepHook),
  );
  const classes = follow<KeptClass>("ingressclasses", "/apis/networking.k8s.io/v1/ingressclasses", keepClass);
  return (services) => [
    ...all.flatMap(({ store }) => [...store.values()].flatMap(({ dependencies }) => dependencies)),
    ...[...classes.store.values()].flatMap((one) => ingressDependencies(one, services)),
  ];
}

function keepHook(value: unknown): KeptHook | undefined {
  const name = textOf(objectOf(objectOf(value)["metadata"])["name"]);
  return name === "" ? undefined : { namespace: "", name, dependencies: webhookDependencies(value) };
}

function keepClass(value: unknown): KeptClass | undefined {
  const found = ingressClassOf(value);
  return found.name === "" ? undefined : { namespace: "", ...found };
}
