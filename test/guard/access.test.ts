/** The guard's role, read from the manifest. test/e2e/guard-*.test.ts tries what it permits. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

const objects = parseAllDocuments(readFileSync(join(import.meta.dir, "../../deploy/guard/access.yaml"), "utf8")).map(
  (document) => document.toJS() as KubeObject, // our own manifest
);
const bound = objects.filter(({ subjects }) => subjects?.some(({ name }) => name === "levee-guard"));

/** Every right the guard has, one per line: verb, group and resource, and where. */
const rights = bound.flatMap(({ roleRef, metadata }) =>
  objects
    .filter((object) => object.kind === roleRef?.kind && object.metadata.name === roleRef.name)
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups, resources, verbs, resourceNames = [] }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) =>
          resources.map((resource) =>
            [verb, `${group}/${resource}`, metadata.namespace ?? "everywhere", ...resourceNames].join(" "),
          ),
        ),
      ),
    ),
);

test("the guard writes this and nothing else", () => {
  const writes = rights.filter((right) => !/^(?:get|list|watch) /u.test(right));
  expect(writes.toSorted()).toEqual([
    "create /configmaps levee-system",
    "create /events everywhere",
    "create /events levee-system",
    "create /resourcequotas everywhere",
    "create coordination.k8s.io/leases levee-system",
    "create levee.dev/decisions levee-system",
    "create levee.dev/rebootgates everywhere",
    "delete /pods everywhere",
    "delete levee.dev/rebootgates everywhere",
    "patch /configmaps levee-system levee-guard",
    "patch /events levee-system",
    "patch /namespaces everywhere",
    "patch /pods kube-system",
    "patch /pods levee-system",
    "patch /resourcequotas everywhere",
    "patch apps/daemonsets everywhere",
    "patch apps/deployments everywhere",
    "patch apps/replicasets everywhere",
    "patch apps/statefulsets everywhere",
    "patch batch/cronjobs everywhere",
    "patch batch/jobs everywhere",
    "patch coordination.k8s.io/leases levee-system levee-guard",
    "patch levee.dev/decisions levee-system",
    "patch levee.dev/decisions/status levee-system",
    "patch levee.dev/networkreadinesses/status everywhere",
    "patch levee.dev/rebootgates everywhere",
    "update /configmaps levee-system levee-guard",
    "update coordination.k8s.io/leases levee-system levee-guard",
    "update levee.dev/decisions/status levee-system",
    "update levee.dev/rebootgates everywhere",
  ]);
});

test("the guard cannot approve, change policies, become another or give rights away", () => {
  const never = [
    /^(?!get|list|watch)\S+ levee\.dev\/decisionapprovals/u,
    /^(?!get|list|watch)\S+ admissionregistration/u,
    /^(?:approve|impersonate|escalate|bind|deletecollection|\*) /u,
    /serviceaccounts|secrets|rbac\.authorization|certificates|\*/u,
    /pods\/|nodes\/|\/proxy/u,
  ];
  expect(rights.length).toBeGreaterThan(20);
  for (const pattern of never) expect(rights.filter((right) => pattern.test(right))).toEqual([]);
});

test("the role of approvers has no binding, and the role that acts has its own", () => {
  expect(objects.find(({ metadata }) => metadata.name === "levee-approver")?.rules?.[0]?.verbs).toContain("approve");
  const bindings = objects.filter(({ roleRef }) => roleRef !== undefined);
  expect(bindings.map(({ kind, roleRef }) => `${kind} ${roleRef?.name}`)).toEqual([
    "ClusterRoleBinding levee-guard",
    "ClusterRoleBinding levee-guard-acts",
    "RoleBinding levee-guard",
    "RoleBinding levee-guard-gate",
  ]);
});

test("two guards run on two nodes without the pod network, and hold no privilege", () => {
  const path = join(import.meta.dir, "../../deploy/guard/deployment.yaml");
  const { spec } = parse(readFileSync(path, "utf8")) as Deployment; // our own manifest
  expect(spec.replicas).toBe(2);
  const { containers, ...pod } = spec.template.spec;
  expect(pod).toMatchObject({
    serviceAccountName: "levee-guard",
    priorityClassName: "system-cluster-critical",
    hostNetwork: true,
    dnsPolicy: "Default",
    securityContext: { runAsNonRoot: true },
  });
  expect(pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]).toMatchObject({
    topologyKey: "kubernetes.io/hostname",
    labelSelector: spec.selector,
  });
  expect(containers).toHaveLength(1);
  expect(containers[0]).toMatchObject({
    resources: { limits: { memory: "256Mi" } },
    securityContext: { privileged: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
  });
});

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly selector: object;
    readonly template: {
      readonly spec: {
        readonly containers: readonly object[];
        readonly affinity: {
          readonly podAntiAffinity: { readonly requiredDuringSchedulingIgnoredDuringExecution: readonly object[] };
        };
      };
    };
  };
}
