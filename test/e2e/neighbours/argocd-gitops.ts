/**
 * The folder gitops of a release, synced by a real Argo CD through its ApplicationSet. Real too: etcd, kube-apiserver with
 * RBAC and an audit log, kube-controller-manager, git over HTTP, kustomize. Not real: kubelet and scheduler
 * (guard/stand-in-kubelet.ts).
 */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveGit } from "../../../src/guard/git/git-https.fixture.ts";
import { GitServer } from "../../../src/guard/git/git-server.fixture.ts";
import { objectOf, textOf } from "../../../src/kube/client/json-fields.ts";
import { ArgoCd, type ApplicationState } from "../beside/argo-cd.ts";
import { cdiOperator, cdiResource } from "../gitops/made-up-cdi.ts";
import { missingForKubeControllers, startKubeControllers } from "../guard/kube-controllers.ts";
import { StandInKubelet } from "../guard/stand-in-kubelet.ts";
import { needsServer } from "../needs-server.ts";
import { mergePatch, PolicyServer } from "../policy-server.ts";
import type { Program } from "../program.ts";
import { releaseFolder } from "../shipped/release-text.ts";
import { pause, until } from "../until.ts";

const { group, beforeAll, afterAll } = needsServer("argocd-gitops", missingForKubeControllers());

const longMs = 300_000;
const waveKey = "argocd.argoproj.io/sync-wave";
const excludedCdi = / +# .*apps\/cdi has.*\n +- path: apps\/cdi\n +exclude: true\n/u;

let folder: string;
let server: PolicyServer;
let manager: Program;
let kubelet: StandInKubelet;
let git: GitServer;
let web: Awaited<ReturnType<typeof serveGit>>;
let argo: ArgoCd;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-argo-"));
  server = await PolicyServer.start({ audit: true });
  manager = await startKubeControllers(server, folder);
  const labels = { "kubernetes.io/os": "linux" };
  kubelet = new StandInKubelet({ server, nodes: [{ name: "node1", labels, isApart: true }], cniDaemon: "" });
  await kubelet.start();
  server.must(["create", "namespace", "argocd"]);
  git = new GitServer();
  web = await serveGit(git);
  const files = Object.entries(releaseFolder("gitops"));
  git.commit(
    Object.fromEntries(files.map(([path, text]) => [path, text.replaceAll("https://git.example/infra.git", web.url)])),
  );
  argo = await ArgoCd.install(server, folder);
  await argo.start();
}, longMs);

afterAll(async () => {
  await argo.stop();
  await web[Symbol.asyncDispose]();
  git[Symbol.dispose]();
  await kubelet.stop();
  await manager.stop("SIGKILL");
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, longMs);

function untilApplication(name: string, what: string, isSo: (state: ApplicationState) => boolean): Promise<true> {
  const look = async (): Promise<true> => {
    const state = await argo.application(name);
    if (isSo(state)) return true;
    throw new Error(JSON.stringify(state));
  };
  return until(`${name} ${what}`, look, { timeoutMs: 180_000, everyMs: 500 });
}

const isDone = ({ sync, health, phase }: ApplicationState): boolean =>
  sync === "Synced" && health === "Healthy" && phase === "Succeeded";

/** What a person does who does not want to wait for its next look. */
function refreshSet(): void {
  const refresh = "argocd.argoproj.io/application-set-refresh=true";
  server.must(["-n", "argocd", "annotate", "--overwrite", "applicationset", "infra", refresh]);
}

/** The waves of the objects in the order in which Argo CD first wrote them. */
async function wavesInOrder(): Promise<readonly number[]> {
  const waves = new Map<string, number>();
  for (const { resource, namespace, name, body } of await argo.deeds()) {
    const wave = textOf(objectOf(objectOf(objectOf(body)["metadata"])["annotations"])[waveKey]);
    const key = `${resource} ${namespace}/${name}`;
    if (wave !== "" && !waves.has(key)) waves.set(key, Number(wave));
  }
  return [...waves.values()];
}

/** UIDs by name; one that was deleted and made again has another. */
function uids(...what: readonly string[]): string {
  const path = '{range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}';
  return server.must(["get", ...what, "-o", `jsonpath=${path}`]);
}

function network(name: string, config: string): string {
  return `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: ${name}, namespace: default }
spec: { config: '${config}' }
`;
}

group("deploy/gitops under Argo CD", () => {
  test(
    "two commands make an Application for each folder, and Levee is applied wave by wave",
    async () => {
      const settings = join(git.clone, "argocd/argocd-cm.yaml");
      server.must(["-n", "argocd", "patch", "configmap", "argocd-cm", "--patch-file", settings]);
      server.must(["apply", "-k", join(git.clone, "argocd")]);
      await until("the Applications are there", async () => {
        const names = (await argo.applications()).map(({ name }) => name).toSorted();
        return names.join(" ") === "infra-levee infra-monitoring" || undefined;
      });
      await untilApplication("infra-levee", "is synced and healthy", isDone);
      const waves = await wavesInOrder();
      expect(new Set(waves)).toEqual(new Set([-2, -1, 0]));
      expect(waves).toEqual(waves.toSorted((one, other) => one - other));
      const guards = [
        "-n",
        "levee-system",
        "get",
        "deployment",
        "levee-guard",
        "-o",
        "jsonpath={.status.readyReplicas}",
      ];
      expect(server.must(guards)).toBe("2");
    },
    longMs,
  );

  test(
    "a sync that comes before its types fails, and is tried again until they are there",
    async () => {
      await untilApplication(
        "infra-monitoring",
        "lacks its types",
        ({ sync, phase }) => sync !== "Synced" && phase !== "",
      );
      server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: monitoring }));
      await untilApplication(
        "infra-monitoring",
        "is synced",
        ({ sync, phase }) => sync === "Synced" && phase === "Succeeded",
      );
    },
    longMs,
  );

  test(
    "a network that no pod can use makes its Application Degraded",
    async () => {
      const good = network("good", '{"cniVersion": "0.3.1", "name": "good", "type": "bridge"}');
      git.commit({ "apps/networks/good.yaml": good });
      refreshSet();
      await untilApplication("infra-networks", "is healthy", isDone);
      git.commit({ "apps/networks/bad.yaml": network("bad", '{"cniVersion": "0.3.1", "name": "bad"}') });
      await untilApplication("infra-networks", "is Degraded", ({ health }) => health === "Degraded");
    },
    longMs,
  );

  test(
    "what comes after a network waits until the guard has said that it is ready",
    async () => {
      git.commit({ "apps/readiness/network.yaml": readinessAndWhatFollows });
      refreshSet();
      const isWaiting = ({ phase, message }: ApplicationState): boolean =>
        phase === "Running" && message.includes("waiting for healthy state of levee.dev/NetworkReadiness/vlan");
      await untilApplication("infra-readiness", "waits for the guard", isWaiting);
      const inVain = [
        { status: "True", forMs: -60_000 },
        { status: "False", forMs: 3_600_000 },
      ];
      for (const verdict of inVain) {
        await sayReady(verdict);
        await pause(8000); // Argo CD hears of it by its watch, and goes on at once where it may
        expect([verdict, isWaiting(await argo.application("infra-readiness"))]).toEqual([verdict, true]);
        expect(server.must(["-n", "default", "get", "configmap", "follows", "--ignore-not-found"])).toBe("");
      }
      await sayReady({ status: "True", forMs: 3_600_000 });
      await untilApplication("infra-readiness", "is synced and healthy", isDone);
      expect(server.must(["-n", "default", "get", "configmap", "follows", "-o", "name"]).trim()).toBe(
        "configmap/follows",
      );
    },
    longMs,
  );

  test(
    "vendored files get their waves by kustomize, and CDI is waited for",
    async () => {
      const set = "argocd/applicationset.yaml";
      git.commit({
        "apps/cdi/cdi-operator.yaml": cdiOperator,
        "apps/cdi/cdi-cr.yaml": cdiResource,
        [set]: git.ask("show", `main:${set}`).replace(excludedCdi, ""),
      });
      server.must(["apply", "-k", join(git.clone, "argocd")]);
      const isWaiting = ({ sync, health }: ApplicationState): boolean => sync === "Synced" && health === "Progressing";
      await untilApplication("infra-cdi", "waits for CDI", isWaiting);
      const path = "/apis/cdi.kubevirt.io/v1beta1/cdis/cdi/status";
      const body = { status: { conditions: [{ type: "Available", status: "True", message: "works" }] } };
      expect((await server.ask({ method: "PATCH", path, body, type: mergePatch })).code).toBe(200);
      await untilApplication("infra-cdi", "is synced and healthy", isDone);
    },
    longMs,
  );
});

group("what vanishes from git", () => {
  test(
    "a folder that vanishes from git deletes no Application and no object",
    async () => {
      const before = uids("-n", "default", "network-attachment-definitions");
      rmSync(join(git.clone, "apps/networks"), { recursive: true });
      git.commit({
        "apps/later/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: later, namespace: default }\n",
      });
      refreshSet();
      await untilApplication("infra-later", "was made of the same commit", isDone);
      await untilApplication("infra-networks", "has lost its folder", ({ sync }) => sync === "Unknown");
      expect(uids("-n", "default", "network-attachment-definitions")).toBe(before);
    },
    longMs,
  );

  test(
    "daemons that vanish wait for a confirmation, which ends with a person's word and not with a revert",
    async () => {
      const before = [uids("crd"), uids(...daemons)];
      rmSync(join(git.clone, "apps/levee/definitions.yaml"));
      rmSync(join(git.clone, "apps/levee/levee.yaml"));
      await untilConfirmationIsAsked(git.commitAll());
      expect([uids("crd"), uids(...daemons)]).toEqual(before);
      const reverted = revert();
      const isBack = ({ sync, revision }: ApplicationState): boolean => sync === "Synced" && revision === reverted;
      await untilApplication("infra-levee", "is as before in git", isBack);
      expect((await argo.application("infra-levee")).message).toMatch(/confirm/u);
      const end = JSON.stringify({ status: { operationState: { phase: "Terminating" } } });
      server.must(["-n", "argocd", "patch", "application", "infra-levee", "--type", "merge", "-p", end]);
      await untilApplication("infra-levee", "has ended its sync", ({ phase }) => phase === "Failed");
      expect([uids("crd"), uids(...daemons)]).toEqual(before);
    },
    longMs,
  );

  test(
    "once a person has confirmed, daemons go and definitions stay",
    async () => {
      const definitions = uids("crd");
      await untilConfirmationIsAsked(revert());
      const approved = `argocd.argoproj.io/deletion-approved=${new Date().toISOString()}`;
      server.must(["-n", "argocd", "annotate", "application", "infra-levee", approved]);
      await until("the daemons are gone", () => uids("daemonset", "-A") === "" || undefined);
      await untilApplication("infra-levee", "has ended its sync", ({ phase }) => phase === "Succeeded");
      expect(uids("crd")).toBe(definitions);
    },
    longMs,
  );
});

const daemons = ["-n", "levee-system", "daemonset,serviceaccount"];

/** Takes the last commit back; the new one. */
function revert(): string {
  git.run(git.clone, "revert", "--no-edit", "HEAD");
  git.run(git.clone, "push", "-q", "origin", "HEAD:refs/heads/main");
  return git.run(git.clone, "rev-parse", "HEAD");
}

function untilConfirmationIsAsked(commit: string): Promise<true> {
  const isAsked = ({ revision, message }: ApplicationState): boolean => revision === commit && /confirm/u.test(message);
  return untilApplication("infra-levee", "waits for a confirmation", isAsked);
}

const readinessAndWhatFollows = `apiVersion: levee.dev/v1alpha1
kind: NetworkReadiness
metadata: { name: vlan, namespace: default, annotations: { ${waveKey}: "1" } }
spec: { network: vlan }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: follows, namespace: default, annotations: { ${waveKey}: "2" } }
`;

/** What the guard writes: a verdict on the present version that holds for so long from now. */
async function sayReady({ status, forMs }: { readonly status: string; readonly forMs: number }): Promise<void> {
  const condition = { type: "Ready", status, reason: "Looked", message: "looked", lastTransitionTime: isoSecond(0) };
  const times = { observedAt: isoSecond(0), expiresAt: isoSecond(forMs) };
  const body = { status: { ...times, observedGeneration: 1, conditions: [condition] } };
  const path = "/apis/levee.dev/v1alpha1/namespaces/default/networkreadinesses/vlan/status";
  expect((await server.ask({ method: "PATCH", path, body, type: mergePatch })).code).toBe(200);
}

function isoSecond(fromNowMs: number): string {
  return `${new Date(Date.now() + fromNowMs).toISOString().slice(0, 19)}Z`;
}

/** The operator's definitions as far as Argo CD needs them; under its names and with nothing of its text. */
const monitoring = [
  ["PodMonitor", "podmonitors"],
  ["PrometheusRule", "prometheusrules"],
].map(([kind = "", plural = ""]) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.monitoring.coreos.com` },
  spec: {
    group: "monitoring.coreos.com",
    names: { kind, plural, singular: kind.toLowerCase() },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
}));
