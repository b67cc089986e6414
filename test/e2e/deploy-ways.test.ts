/**
 * The ways in and out of the shipped manifests on a real API server: what `kubectl` and Helm leave in the objects that are
 * there, and that `levee check` and `levee status` find the daemons of each.
 */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { builtHelm } from "../peers/helm.ts";
import { PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { releaseText } from "./shipped/release-text.ts";

const deploy = join(import.meta.dir, "../../deploy");
const program = join(import.meta.dir, "../../src/main.ts");
const multus = join(import.meta.dir, "../../src/cli/move-in/migrate/fixtures/multus-v4.2.2.yaml");
const { group, beforeAll, afterAll } = needsServer("deploy-ways");
const helm = builtHelm();
if (helm === undefined) console.warn("deploy-ways: the chart is not tried, helm is not built (npm run e2e builds it)");

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly resources: { readonly limits?: Readonly<Record<string, string>> };
}

interface PodSpec {
  readonly hostPID?: boolean;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}

let server: PolicyServer;
let login: string;

function daemonOf(namespace: string, name: string): PodSpec {
  const found = server.must(["get", "daemonset", name, "-n", namespace, "-o", "json"]);
  return (JSON.parse(found) as { spec: { template: { spec: PodSpec } } }).spec.template.spec; // what the API server prints
}

/** An ingress controller, a webhook and the node plugin of a CSI driver, as far as their objects show them. */
const depended = `
{apiVersion: v1, kind: Namespace, metadata: {name: edge}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: storage}}
---
apiVersion: v1
kind: Service
metadata: {name: edge, namespace: edge, labels: {app.kubernetes.io/name: edge-proxy}}
spec: {type: LoadBalancer, ports: [{port: 80}], selector: {app: edge}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: edge, labels: {app.kubernetes.io/name: edge-proxy}}
spec: {controller: example.com/edge}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
  - name: a.hooks.example
    clientConfig: {service: {namespace: hooks, name: hook}}
    sideEffects: None
    admissionReviewVersions: [v1]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: csi, namespace: storage}
spec:
  selector: {matchLabels: {app: csi}}
  template:
    metadata: {labels: {app: csi}}
    spec:
      containers: [{name: driver, image: example.com/csi}]
      volumes: [{name: registration, hostPath: {path: /var/lib/kubelet/plugins_registry}}]
`;

/** Everything that a way in may leave behind, but for what the API server makes itself and the type of networks. */
function left(): readonly string[] {
  const kinds = "daemonset,serviceaccount,configmap,rolebinding";
  const wide = "clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding";
  const names = server
    .must(["get", `${kinds},${wide}`, "-A", "-o", "name"])
    .trim()
    .split("\n");
  return names.filter((name) => /levee|multus/u.test(name));
}

/** There is no controller here that would do it. */
function finishNamespace(): void {
  const { status, stdout } = server.kubectl(["get", "namespace", "levee-system", "-o", "json"]);
  if (status !== 0) return;
  const namespace = JSON.parse(stdout) as object; // what the API server prints
  const body = JSON.stringify({ ...namespace, spec: { finalizers: [] } });
  server.must(["replace", "--raw", "/api/v1/namespaces/levee-system/finalize", "-f", "-"], body);
}

beforeAll(async () => {
  server = await PolicyServer.start();
  login = await server.kubeconfig();
}, 120_000);

afterAll(() => server.stop());

const manager = ["--server-side", "--field-manager=argocd-controller"];
/** The drop-in comes on standard input. */
const dropIn = ["-f", "-"];
const dropInText = releaseText("multus-drop-in.yaml");
const annotate = ["apply", "set-last-applied", "--create-annotation", "-f", multus];
test.each([
  ["kubectl create, told to kubectl first", ["create"], [annotate, ["apply", ...dropIn]]],
  ["a server-side apply, told to kubectl first", ["apply", ...manager], [annotate, ["apply", ...dropIn]]],
  ["a server-side apply, by the same manager", ["apply", ...manager], [["apply", ...manager, ...dropIn]]],
])(
  "the drop-in leaves nothing of a Multus that was made by %s",
  (_how, made, steps) => {
    server.must([...made, "-f", multus]);
    const patch = [{ op: "add", path: "/spec/template/spec/containers/0/args", value: ["-x"] }];
    const target = ["daemonset/kube-multus-ds", "-n", "kube-system"];
    server.must(["patch", ...target, "--type=json", "-p", JSON.stringify(patch)]);
    for (const step of steps)
      server.must(step.includes("--server-side") ? [...step, "--force-conflicts"] : step, dropInText);
    const ours = daemonOf("kube-system", "kube-multus-ds");
    server.must(["delete", ...target]);
    server.must(["apply", ...dropIn], dropInText);
    expect(ours).toEqual(daemonOf("kube-system", "kube-multus-ds"));
    expect(ours.initContainers?.map(({ name }) => name)).toEqual(["install"]);
    server.must(["delete", ...dropIn], dropInText);
    server.must(["delete", "-f", multus, "--ignore-not-found"]);
    expect(left()).toEqual([]);
  },
  60_000,
);

group("ways to deploy", () => {
  test.each([
    ["install.yaml", "uninstall.yaml", "/etc/cni/net.d"],
    ["k3s.yaml", "k3s-uninstall.yaml", "/var/lib/rancher/k3s/agent/etc/cni/net.d"],
    ["openshift.yaml", "openshift-uninstall.yaml", "/etc/kubernetes/cni/net.d"],
    ["multus-drop-in.yaml", "multus-drop-in-uninstall.yaml", "/etc/cni/net.d"],
  ])(
    "%s of a release is taken away by %s",
    (installed, away, confDir) => {
      const [namespace, name] = away.startsWith("multus")
        ? ["kube-system", "kube-multus-ds"]
        : ["levee-system", "levee"];
      server.must(["apply", "-f", "-"], releaseText(installed));
      expectSeen({ [`${namespace}/${name}`]: "Levee's daemon", [`${namespace}/levee-hand`]: "Levee's hand" });
      server.must(["apply", "-f", "-"], releaseText(away));
      const daemon = daemonOf(namespace, name);
      expectUninstalls(daemon, confDir);
      server.must(["delete", "daemonset", name, "-n", namespace]);
      server.must(["apply", "-f", "-"], releaseText(away));
      expect(daemon).toEqual(daemonOf(namespace, name));
      server.must(["delete", "--wait=false", "-f", "-"], releaseText(away));
      finishNamespace();
      expect(left()).toEqual([]);
    },
    60_000,
  );

  // This is the schema check of our manifests: all of them are applied in these tests.
  test("the API server refuses a field that it does not know, and a value of another type", () => {
    const install = releaseText("install.yaml");
    for (const [planted, complaint] of [
      [install.replace("hostNetwork: true", "hostNetwrok: true"), 'unknown field "spec.template.spec.hostNetwrok"'],
      [install.replace("hostNetwork: true", "hostNetwork: often"), "cannot unmarshal string"],
    ] as const) {
      const { status, stderr } = server.kubectl(["apply", "--dry-run=server", "-f", "-"], { input: planted });
      expect({ isRefused: status !== 0, stderr }).toEqual({
        isRefused: true,
        stderr: expect.stringContaining(complaint),
      });
    }
  });

  test("install.yaml beside the drop-in does not take its rights", () => {
    server.must(["apply", "-f", "-"], dropInText);
    server.must(["apply", "-f", "-"], releaseText("install.yaml"));
    const can = (namespace: string): string =>
      server.must(["auth", "can-i", "list", "pods", "-A", `--as=system:serviceaccount:${namespace}:levee`]).trim();
    expect([can("kube-system"), can("levee-system")]).toEqual(["yes", "yes"]);
    server.must(["delete", "--wait=false", "-f", "-"], releaseText("install.yaml"));
    finishNamespace();
    expect(can("kube-system")).toBe("yes");
    const policies = server.must([
      "get",
      "validatingadmissionpolicybinding",
      "-o",
      "jsonpath={.items[*].spec.policyName}",
    ]);
    expect(policies).toBe("levee-drop-in-network-warnings levee-drop-in-writes-network-status-only");
    server.must(["delete", "-f", "-"], dropInText);
    expect(left()).toEqual([]);
  }, 60_000);

  test.skipIf(helm === undefined)(
    "the chart goes in, takes its conf off the nodes, and leaves networks alone",
    async () => {
      server.must(["apply", "-f", join(deploy, "crd/network-attachment-definition.yaml")]);
      const run = runHelm("levee-system");
      const chart = join(deploy, "helm/levee");
      const confDir = "/etc/kubernetes/cni/net.d";
      const values = [`--set=image.digest=sha256:${"1".repeat(64)}`, `--set=paths.cniConf=${confDir}`];
      run("install", "levee", chart, "--create-namespace", ...values);
      server.must(["get", "daemonset/levee", "daemonset/levee-hand", "-n", "levee-system"]);
      run("upgrade", "levee", chart, "--reuse-values", "--set=uninstall=true");
      const daemon = daemonOf("levee-system", "levee");
      expectUninstalls(daemon, confDir);
      run("uninstall", "levee");
      run("install", "levee", chart, ...values, "--set=uninstall=true");
      expect(daemon).toEqual(daemonOf("levee-system", "levee"));
      run("uninstall", "levee");
      expect(left()).toEqual([]);
      server.must(["get", "crd", "network-attachment-definitions.k8s.cni.cncf.io"]);
    },
    120_000,
  );
});

group("levee check of a way in", () => {
  test("proposes what others depend on, until the settings name it", () => {
    server.must(["apply", "-f", "-"], releaseText("install.yaml"));
    server.must(["apply", "-f", "-"], depended);
    expect(checked("LVE0405")).toMatchObject({
      result: "warning",
      error: '3 namespaces may wait behind all others: "criticalPods": ["edge","hooks","storage"]',
      evidence: {
        edge: "ingress class edge, Service edge of type LoadBalancer",
        hooks: "webhook hooks",
        storage: "CSI driver of DaemonSet csi",
      },
    });
    const settings = JSON.stringify({ criticalPods: ["edge", "hooks/app=hook", "storage"] });
    const patch = JSON.stringify({ data: { "daemon-config.json": settings } });
    server.must(["patch", "configmap/levee-daemon-config", "-n", "levee-system", "--type=merge", "-p", patch]);
    expect(checked("LVE0405")).toMatchObject({ result: "success", evidence: {} });
    server.must(["delete", "--wait=false", "-f", "-"], depended);
    server.must(["delete", "--wait=false", "-f", "-"], releaseText("install.yaml"));
    finishNamespace();
    expect(left()).toEqual([]);
  }, 60_000);

  test.skipIf(helm === undefined)(
    "finds the chart under another release name, in another namespace",
    () => {
      const run = runHelm("networking");
      const digest = `--set=image.digest=sha256:${"1".repeat(64)}`;
      run("install", "net", join(deploy, "helm/levee"), "--create-namespace", digest);
      expectSeen({ "networking/levee": "Levee's daemon", "networking/levee-hand": "Levee's hand" });
      run("uninstall", "net");
      expect(left()).toEqual([]);
    },
    120_000,
  );
});

/** Asks `levee check` and `levee status` which daemons they find. No controller here makes pods of them. */
function expectSeen(parts: Readonly<Record<string, string>>): void {
  const told = Object.entries(parts).map(([name, part]) => [name, `${part}, 0 of 0 ready`] as const);
  expect(checked("LVE0401")?.evidence).toEqual(Object.fromEntries(told));
  const { daemons } = asked<{ daemons: { namespace: string; name: string; is: string }[] }>("status");
  expect(Object.fromEntries(daemons.map(({ namespace, name, is }) => [`${namespace}/${name}`, is]))).toEqual(parts);
}

interface Checked {
  readonly code: string;
  readonly result: string;
  readonly error?: string;
  readonly evidence: object;
}

function checked(code: string): Checked | undefined {
  const { categories } = asked<{ categories: { checks: readonly Checked[] }[] }>("check");
  return categories.flatMap(({ checks }) => checks).find((check) => check.code === code);
}

function asked<T>(command: string): T {
  const args = [program, command, "-o", "json", "--kubeconfig", login];
  const env = { PATH: process.env["PATH"] ?? "" };
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8", env }).stdout) as T; // what the command prints
}

/** In the folder where the conf is, one node after the other, and ready as soon as it is done. */
function expectUninstalls(daemon: PodSpec, confDir: string): void {
  expect(daemon.initContainers?.map(({ command }) => command[1])).toEqual(["uninstall"]);
  expect(daemon.volumes.find(({ name }) => name === "cni-conf")?.hostPath?.path).toBe(confDir);
  expect(daemon.containers.flatMap((each) => Object.keys(each)).filter((key) => key.endsWith("Probe"))).toEqual([]);
}

function runHelm(namespace: string): (...args: readonly string[]) => void {
  return (...args) => {
    const all = [...args, "-n", namespace, "--kubeconfig", login];
    const { status, stderr } = spawnSync(helm ?? "", all, { encoding: "utf8" });
    if (status !== 0) throw new Error(`helm ${args.join(" ")} failed: ${stderr}`);
  };
}
