import { expect, test } from "bun:test";
import {
  csiDependency,
  ingressClassOf,
  ingressDependencies,
  loadBalancerDependency,
  serviceLabel,
  webhookDependencies,
} from "./depended-on.ts";

function daemonSet(path: string): object {
  const volumes = [{ name: "a", hostPath: { path } }, { name: "b" }];
  return {
    metadata: { namespace: "longhorn-system", name: "longhorn-csi-plugin" },
    spec: { template: { spec: { volumes } } },
  };
}

test("webhookDependencies names each Service's namespace once, and no webhook that is an URL", () => {
  const service = { clientConfig: { service: { namespace: "cert-manager", name: "w" } } };
  const webhooks = [service, service, { clientConfig: { url: "https://example.com" } }];
  expect(webhookDependencies({ metadata: { name: "cm" }, webhooks })).toEqual([
    { namespace: "cert-manager", why: "webhook cm" },
  ]);
  expect(webhookDependencies({})).toEqual([]);
});

test("csiDependency knows a node plugin by the folder in which the kubelet finds it", () => {
  for (const path of ["/var/lib/kubelet/plugins_registry", "/var/lib/k0s/kubelet/plugins_registry/"])
    expect(csiDependency(daemonSet(path))).toEqual({
      namespace: "longhorn-system",
      why: "CSI driver of DaemonSet longhorn-csi-plugin",
    });
  for (const path of ["/var/lib/kubelet/plugins", "/var/log"]) expect(csiDependency(daemonSet(path))).toBeUndefined();
});

test("loadBalancerDependency is for Services of type LoadBalancer only", () => {
  const service = (type: string): object => ({ metadata: { namespace: "traefik", name: "web" }, spec: { type } });
  expect(loadBalancerDependency(service("LoadBalancer"))?.namespace).toBe("traefik");
  expect(loadBalancerDependency(service("ClusterIP"))).toBeUndefined();
});

test("ingressDependencies finds the controller by Helm's note, or by a Service with the same name label", () => {
  const labels = { "app.kubernetes.io/name": "ingress-nginx" };
  const services = [
    serviceLabel({ metadata: { namespace: "edge", labels } }),
    serviceLabel({ metadata: { namespace: "shop", labels: {} } }),
  ];
  const found = (metadata: object): object => ingressDependencies(ingressClassOf({ metadata }), services);
  const annotations = { "meta.helm.sh/release-namespace": "traefik" };
  expect(found({ name: "t", annotations, labels })).toEqual([{ namespace: "traefik", why: "ingress class t" }]);
  expect(found({ name: "n", labels })).toEqual([{ namespace: "edge", why: "ingress class n" }]);
  expect(found({ name: "bare" })).toEqual([]);
});
