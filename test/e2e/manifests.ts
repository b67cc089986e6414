import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { Api, KubeObject } from "./api.ts";

const deployFolder = join(import.meta.dir, "../../deploy");

/** Where objects of a kind live; those of a namespace have `{namespace}` in their path. */
const paths: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ServiceAccount: "/api/v1/namespaces/{namespace}/serviceaccounts",
  ConfigMap: "/api/v1/namespaces/{namespace}/configmaps",
  Pod: "/api/v1/namespaces/{namespace}/pods",
  DaemonSet: "/apis/apps/v1/namespaces/{namespace}/daemonsets",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
  ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  CustomResourceDefinition: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  ValidatingAdmissionPolicy: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
  DeviceClass: "/apis/resource.k8s.io/v1/deviceclasses",
  ResourceSlice: "/apis/resource.k8s.io/v1/resourceslices",
  ResourceClaim: "/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims",
  ResourceClaimTemplate: "/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates",
  NetworkAttachmentDefinition: "/apis/k8s.cni.cncf.io/v1/namespaces/{namespace}/network-attachment-definitions",
};

/** The objects of a file below `deploy/`. */
export function manifest(path: string): readonly KubeObject[] {
  return objectsOf(join(deployFolder, path));
}

/** The objects of a YAML file. */
export function objectsOf(file: string): readonly KubeObject[] {
  return objectsIn(readFileSync(file, "utf8"));
}

/** The objects of a text of YAML. */
export function objectsIn(text: string): readonly KubeObject[] {
  const documents = parseAllDocuments(text, { merge: true });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => (document.contents === null ? [] : [document.toJS() as KubeObject]));
}

export function pathOf(kind: string, namespace: string, name = ""): string {
  const path = paths[kind];
  if (path === undefined) throw new Error(`The tests do not know where objects of kind ${kind} live`);
  return `${path.replace("{namespace}", namespace)}${name === "" ? "" : `/${name}`}`;
}

export async function applyAll(api: Api, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { name, namespace = "default" } = object.metadata;
    await api.apply(pathOf(object.kind ?? "", namespace, name), object);
  }
}
