import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { parseDaemonConfig, type DaemonConfig } from "../../src/config/daemon-config.ts";
import { hostSocketDir } from "../../src/config/shim-conf.ts";
import { builtHelm } from "../../test/peers/helm.ts";
import { applyOperations } from "./json-patch.ts";
import { renderFolder } from "./kustomization.ts";
import { imageOf, renderedFiles } from "./rendered.ts";
import { readUnmarked } from "./unreleased.ts";

const root = resolve(import.meta.dir, "../..");
const kubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
const helm = builtHelm();
if (!kubectl) console.warn("deploy: not compared with kubectl kustomize, which is not installed");
if (helm === undefined)
  console.warn("deploy: the chart is not compared with the manifest, helm is not built (npm run e2e builds it)");

/** Any Kubernetes object; the tests look into it by path. */
interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: unknown };
  readonly [field: string]: unknown;
}

function read(path: string): string | undefined {
  const full = join(root, path);
  return existsSync(full) ? readFileSync(full, "utf8") : undefined;
}

function objectsOf(text: string): readonly KubeObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null) // our own manifests
    .filter((object) => object !== null);
}

function byName(objects: readonly KubeObject[]): Readonly<Record<string, KubeObject>> {
  return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}

/** The objects of a folder as a release has them, but for the image. */
function rendered(folder: string): Readonly<Record<string, KubeObject>> {
  return byName(renderFolder(folder, readUnmarked(read)).map((object) => object.toJS() as KubeObject)); // our own manifests
}

test("renderedFiles are the files of the repository", () => {
  for (const [path, text] of renderedFiles(read)) expect(`${path}\n${read(path)}`).toBe(`${path}\n${text}`);
});

/** Each installation, and the overlay that removes it. */
const ways = [
  ["base", "overlays/uninstall"],
  ["overlays/multus-drop-in", "overlays/multus-drop-in-uninstall"],
  ["overlays/k3s", "overlays/k3s-uninstall"],
  ["overlays/openshift", "overlays/openshift-uninstall"],
] as const;

test.skipIf(!kubectl).each(["crd", "alerts", "policies", "guard", ...ways.flat()])(
  "renderFolder makes of deploy/%s what kubectl kustomize makes of it",
  (folder) => {
    const { stdout, stderr } = spawnSync("kubectl", ["kustomize", join(root, "deploy", folder)], { encoding: "utf8" });
    expect(stderr).toBe("");
    const ours = renderFolder(`deploy/${folder}`, read).map((object) => object.toJS() as KubeObject); // our own manifests
    expect(byName(ours)).toEqual(byName(objectsOf(stdout)));
  },
);

test.each(ways)("deploy/%s: on a new node the daemon looks for plugins in the mounted folder", (folder) => {
  const objects = Object.values(rendered(`deploy/${folder}`));
  const config = settingsOf(objects.find(({ kind }) => kind === "ConfigMap"));
  const daemon = podSpec(objects.find(({ kind, metadata }) => kind === "DaemonSet" && metadata.name !== "levee-hand"));
  expect(daemon.volumes.find(({ name }) => name === "cni-bin")?.hostPath?.path).toBe(config.binDir);
});

test.each(ways)(
  "deploy/%s: deploy/%s removes it from the same folders, a tenth of the nodes at a time",
  (folder, away) => {
    const [installed, removed] = [rendered(`deploy/${folder}`), rendered(`deploy/${away}`)];
    expect(Object.keys(removed)).toEqual(Object.keys(installed));
    const changed = Object.keys(removed).filter((name) => !Bun.deepEquals(removed[name], installed[name]));
    expect(changed).toEqual([folder.endsWith("multus-drop-in") ? "DaemonSet/kube-multus-ds" : "DaemonSet/levee"]);
    const [name = ""] = changed;
    const daemon = podSpec(removed[name]);
    expect(daemon.volumes).toEqual(podSpec(installed[name]).volumes);
    expect(removed[name]).toMatchObject({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: "10%" } } } });
    const [first] = daemon.initContainers ?? [];
    expect(first?.command.slice(0, 2)).toEqual(["/usr/local/bin/levee", "uninstall"]);
    const mounts = new Map(first?.volumeMounts.map((each) => [each.name, each.mountPath]));
    expect(first?.command.slice(2)).toEqual([
      ...["--conf-dir", mounts.get("cni-conf") ?? "?"],
      ...["--bin-dir", mounts.get("cni-bin") ?? "?"],
    ]);
    expect(Object.keys(daemon.containers[0] ?? {}).filter((key) => key.endsWith("Probe"))).toEqual([]);
  },
);

test.skipIf(!kubectl)("the way back is Multus' own manifest with Levee's conf taken away first", async () => {
  const folder = await mkdtemp(join(tmpdir(), "levee-back-"));
  try {
    const path = "src/cli/move-in/migrate/fixtures/multus-v4.2.2.yaml";
    await writeFile(join(folder, "multus.yaml"), read(path) ?? "");
    const component = relative(folder, join(root, "deploy/components/back-to-multus"));
    await writeFile(join(folder, "kustomization.yaml"), `resources: [multus.yaml]\ncomponents: [${component}]\n`);
    const { stdout, stderr } = spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
    expect(stderr).toBe("");
    const back = byName(objectsOf(stdout));
    const [first, ...others] = podSpec(back["DaemonSet/kube-multus-ds"]).initContainers ?? [];
    expect(first).toMatchObject({ name: "levee-uninstall", image: expect.stringMatching(/^levee@sha256:/u) as string });
    const multus = byName(objectsOf(read(path) ?? ""));
    const volumes = podSpec(multus["DaemonSet/kube-multus-ds"]).volumes.map(({ name }) => name);
    for (const mount of first?.volumeMounts ?? []) expect(volumes).toContain(mount.name);
    expect(podSpec(back["DaemonSet/kube-multus-ds"])).toEqual({
      ...podSpec(multus["DaemonSet/kube-multus-ds"]),
      initContainers: [first, ...others] as Container[],
    });
    expect(others).toEqual(podSpec(multus["DaemonSet/kube-multus-ds"]).initContainers as Container[]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("renderFolder refuses features that it does not share with kubectl", () => {
  const files: Record<string, string> = { "a/kustomization.yaml": "namePrefix: x-\nresources: []\n" };
  expect(() => renderFolder("a", (path) => files[path])).toThrow("namePrefix is not supported here");
  files["a/kustomization.yaml"] = "resources: [b.yaml]\n";
  expect(() => renderFolder("a", (path) => files[path])).toThrow("there is no a/b.yaml");
  files["a/b.yaml"] = "kind: A\nmetadata: {name: a}\nspec: {x: 1}\n";
  const patch = (operation: string): string => `resources: [b.yaml]\npatches: [{patch: '[${operation}]'}]\n`;
  files["a/kustomization.yaml"] = patch("{op: test, path: /spec/x, value: 2}");
  expect(() => renderFolder("a", (path) => files[path])).toThrow("/spec/x is 1, not 2");
  files["a/kustomization.yaml"] = patch("{op: replace, path: /spec/y, value: 2}");
  expect(() => renderFolder("a", (path) => files[path])).toThrow("there is no such field");
  const [object] = renderFolder("a", (path) => (path.endsWith("n.yaml") ? "resources: [b.yaml]" : files[path]));
  expect(() => object && applyOperations(object, [{ op: "move" as "add", path: "/spec/x" }])).toThrow("move");
});

const digest = `sha256:${"1".repeat(64)}`;

function template(...values: readonly string[]): { readonly status: number | null; text: string; stderr: string } {
  const args = ["template", "levee", join(root, "deploy/helm/levee"), "-n", "levee-system", "--kube-version=1.34.5"];
  const all = [...args, `--set=image.digest=${digest}`, ...values];
  const { status, stdout, stderr } = spawnSync(helm ?? "", all, { encoding: "utf8" });
  return { status, text: stdout.replaceAll(digest, imageOf(read).digest), stderr };
}

/** Helm prints the chart's settings in its own order. */
function comparable(objects: Readonly<Record<string, KubeObject>>): unknown {
  const { "Namespace/levee-system": _namespace, ...others } = objects;
  const config = others["ConfigMap/levee-daemon-config"] as { data?: Record<string, string> } | undefined; // ours
  const text = config?.data?.["daemon-config.json"] ?? "{}";
  return { ...others, "ConfigMap/levee-daemon-config": JSON.parse(text) as unknown };
}

const k3s = [
  "--set=paths.cniBin=/var/lib/rancher/k3s/data/cni",
  "--set=paths.cniConf=/var/lib/rancher/k3s/agent/etc/cni/net.d",
];
const openshift = [
  "--set=paths.cniBin=/var/lib/cni/bin",
  "--set=paths.cniConf=/etc/kubernetes/cni/net.d",
  "--set=openshift=true",
];

describe.skipIf(helm === undefined)("the chart", () => {
  test.each([
    ["deploy/base", []],
    ["deploy/overlays/k3s", k3s],
    ["deploy/overlays/openshift", openshift],
    ["deploy/overlays/uninstall", ["--set=uninstall=true"]],
    ["deploy/overlays/k3s-uninstall", [...k3s, "--set=uninstall=true"]],
  ])("makes the objects of %s", (folder, values) => {
    const made = template(...values);
    expect(made.stderr).toBe("");
    expect(comparable(byName(objectsOf(made.text)))).toEqual(comparable(rendered(folder)));
  });

  test("adds the objects of deploy/guard when the guard is enabled", () => {
    const made = template("--set=guard.enabled=true");
    expect(made.stderr).toBe("");
    const all = { ...rendered("deploy/base"), ...rendered("deploy/guard") };
    expect(comparable(byName(objectsOf(made.text)))).toEqual(comparable(all));
    const more = template(
      ...["--set=guard.enabled=true", "--set=hand.enabled=false", "--set=image.pullSecrets={theirs}"],
      ...["--set=kubernetesApi.host=10.0.0.1", "--set=guard.replicas=1"],
    );
    expect(more.text).toContain("  replicas: 1\n");
    expect(more.text.match(/imagePullSecrets:\n +- name: theirs\n/gu)).toHaveLength(2);
    expect(more.text.match(/value: "10\.0\.0\.1"\n/gu)).toHaveLength(2);
    const elsewhere = template("--set=guard.enabled=true", "-n=other");
    expect(elsewhere.stderr).toContain("guard.enabled: the guard's policies name its account");
  });

  test("gives the guard its own image, its repositories and their Secrets, each once", () => {
    const repositories = [
      { url: "https://git.example/a.git", branches: ["main"], paths: ["apps/a", "apps/b"], secret: "first.secret" },
      { url: "git@git.example:b.git", aliases: ["https://git.example/b"], secret: "first.secret", pushDirect: true },
    ];
    const image = [
      "--set=guard.image.repository=example.com/levee-guard",
      `--set=guard.image.digest=sha256:${"2".repeat(64)}`,
    ];
    const values = ["--set=guard.enabled=true", `--set-json=guard.git.repositories=${JSON.stringify(repositories)}`];
    const made = template(...values, ...image);
    expect(made.stderr).toBe("");
    const guard = podSpec(byName(objectsOf(made.text))["Deployment/levee-guard"]);
    expect(guard.containers[0]).toMatchObject({
      image: `example.com/levee-guard@sha256:${"2".repeat(64)}`,
      args: [
        "--gate-door=label",
        "--git-repository=https://git.example/a.git,branch=main,path=apps/a,path=apps/b,credentials=/etc/levee-git/first.secret",
        "--git-repository=git@git.example:b.git,alias=https://git.example/b,credentials=/etc/levee-git/first.secret,push=direct",
      ],
    });
    expect(guard.containers[0]?.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
      "/var/cache/levee-guard",
      "/etc/levee-git/levee-guard-git",
      "/etc/levee-git/first.secret",
    ]);
    expect(template(...values).stderr).toContain("guard.git.repositories: the daemon's image has no git");
  });
});

describe.skipIf(helm === undefined)("the chart with other values", () => {
  test("gives the guard its Alertmanagers unchanged, and the volumes with their files", () => {
    const alertmanager =
      "https://am.example:9094,token=/etc/levee-alertmanager/token,ca=/etc/levee-alertmanager/ca.crt,server-name=am.example";
    const volume = { name: "alertmanager", secret: { secretName: "levee-guard-alerts", optional: true } };
    const mount = { name: "alertmanager", mountPath: "/etc/levee-alertmanager", readOnly: true };
    const made = template(
      "--set=guard.enabled=true",
      `--set-json=guard.alertmanagers=${JSON.stringify([alertmanager, "http://alertmanager.example:9093"])}`,
      `--set-json=guard.extraVolumes=${JSON.stringify([volume])}`,
      `--set-json=guard.extraVolumeMounts=${JSON.stringify([mount])}`,
    );
    expect(made.stderr).toBe("");
    const guard = podSpec(byName(objectsOf(made.text))["Deployment/levee-guard"]);
    const args = [
      "--gate-door=label",
      `--alertmanager=${alertmanager}`,
      "--alertmanager=http://alertmanager.example:9093",
    ];
    expect(guard.containers[0]).toMatchObject({ args });
    expect(guard.containers[0]?.volumeMounts.at(-1)).toEqual(mount);
    expect(guard.volumes.at(-1)).toEqual(volume);
    expect(guard.volumes.map(({ name }) => name)).toEqual(["git", "git-credentials-0", "alertmanager"]);
  });

  test.each([
    ['--set-json=daemon.extraVolumeMounts=[{"name":"a","mountPath":"etc"}]', "/daemon/extraVolumeMounts/0/mountPath"],
    ['--set-json=guard.alertmanagers=["http://a.example,token=/x"]', "/guard/alertmanagers/0"],
    ['--set-json=guard.alertmanagers=["https://a.example,token=x"]', "/guard/alertmanagers/0"],
    ['--set-json=guard.alertmanagers=["https://a.example,key=/x"]', "/guard/alertmanagers/0"],
    ['--set-json=guard.extraVolumeMounts=[{"name":"a","mountPath":"etc"}]', "/guard/extraVolumeMounts/0/mountPath"],
    ['--set-json=guard.git.repositories=[{"url":"a,push=direct"}]', "/guard/git/repositories/0/url"],
    ["--set=guard.image.digest=latest", "/guard/image/digest"],
    ["--set=guard.replicas=0", "/guard/replicas"],
    ["--set=image.digest=latest", "/image/digest"],
    ["--set=image.repository=example.com:5000/levee:v1", "/image/repository"],
    [`--set=image.digest=sha256:${"0".repeat(64)}`, "image.digest: this is the chart of the repository"],
    ["--set=updateStrategy.type=Recreate", "/updateStrategy/type"],
    ["--set=updateStrategy.maxUnavailable=0", "/updateStrategy/maxUnavailable"],
    ["--set=updateStrategy.maxUnavailable=110%", "/updateStrategy/maxUnavailable"],
    ["--set=updateStrategy.maxSurge=1", "maxSurge"],
    ["--set=config.socketDir=/host/run/x", "config.socketDir: set paths.socket"],
    ['--set-json=config.criticalPods=["Traefik"]', "/config/criticalPods/0"],
    ['--set-json=config.criticalPods=["app=pg"]', "/config/criticalPods/0"],
    ["--set=healthPort=9810", "healthPort: 9810 is config.metricsPort as well"],
    ["--set=config.healthPort=1", "config.healthPort: set healthPort beside config"],
    ["--set=kubernetesApi.host=https://example.com", "kubernetesApi.host: https://example.com is more than"],
    ["--set=kubernetesApi.host=api:6443", "kubernetesApi.host: api:6443 is more than"],
    ["--set=daemon.resources.limits.memory=lots", "/daemon/resources/limits/memory"],
    ["--set=hand.resources.limits.memory=96Mi", "hand.delegateMemoryBytes: 100663296 is not below"],
    ["--kube-version=1.28.0", "admissionPolicy.enabled: Kubernetes v1.28.0"],
    ["--set=paths.cniBin=opt", "/paths/cniBin"],
    ["--set=hand.enable=false", "enable"],
  ])("refuses %s", (value, where) => {
    const made = template(value);
    expect(made.status).not.toBe(0);
    expect(made.stderr).toContain(where);
  });

  test("serves an older Kubernetes without the admission policy, and an API server's address of any kind", () => {
    const old = ["--kube-version=1.28.0", "--set=admissionPolicy.enabled=false", "--set=kubernetesApi.host=fd00::1"];
    expect(template(...old, "--set=hand.resources.limits.memory=1.5Gi")).toMatchObject({ status: 0, stderr: "" });
  });

  test.each([
    [[], { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } }],
    [["--set=updateStrategy.maxUnavailable=1"], { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } }],
    [["--set=updateStrategy.maxUnavailable=25%"], { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%" } }],
    [["--set=updateStrategy.type=OnDelete"], { type: "OnDelete" }],
  ])("lets a site choose how fast nodes change: %j", (values, updateStrategy) => {
    const made = template(...values);
    expect(made.stderr).toBe("");
    const objects = byName(objectsOf(made.text));
    for (const name of ["DaemonSet/levee", "DaemonSet/levee-hand"])
      expect((objects[name] as unknown as { spec: object }).spec).toMatchObject({ updateStrategy });
  });

  test("uses the image with git only for a guard with repositories", () => {
    const image = [`--set=guard.image.digest=sha256:${"2".repeat(64)}`, "--set=guard.image.repository=example.com/g"];
    const made = template("--set=guard.enabled=true", ...image);
    expect(made.stderr).toBe("");
    const guard = podSpec(byName(objectsOf(made.text))["Deployment/levee-guard"]);
    expect(guard.containers[0]).toMatchObject({ image: `levee@${imageOf(read).digest}` });
  });

  test("changes folders, ports and the API server's address everywhere at once", () => {
    const made = template(
      ...["--set=paths.socket=/run/other", "--set=paths.state=/var/lib/other", "--set=healthPort=1234"],
      ...["--set=kubernetesApi.host=10.0.0.1", "--set=hand.enabled=false", "--set=admissionPolicy.enabled=false"],
    );
    expect(made.status).toBe(0);
    expect(made.text).not.toMatch(/run\/levee|lib\/levee|9809|levee-hand\n.*kind: DaemonSet|ValidatingAdmission/u);
    const config = /daemon-config.json: \|\n((?: {4}.*\n)+)/u.exec(made.text)?.[1] ?? "";
    expect(parseDaemonConfig(config, "chart")).toMatchObject({
      socketDir: "/host/run/other",
      stateDir: "/var/lib/other",
      metricsPort: 9810,
    });
    expect(made.text).toContain("KUBERNETES_SERVICE_HOST");
  });
});

describe.each([
  ["deploy/base", "DaemonSet/levee", "ConfigMap/levee-daemon-config"],
  ["deploy/overlays/multus-drop-in", "DaemonSet/kube-multus-ds", "ConfigMap/multus-daemon-config"],
])("%s", (folder, daemonName, configName) => {
  const objects = rendered(folder);
  const daemon = podSpec(objects[daemonName]);
  const hand = podSpec(objects["DaemonSet/levee-hand"]);

  test("the daemon's pod has no privilege", () => {
    expect(daemon.hostPID ?? false).toBe(false);
    for (const container of [...daemon.containers, ...(daemon.initContainers ?? [])]) {
      expect(container.securityContext).toEqual({
        privileged: false,
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources.limits).toEqual({ memory: "96Mi" });
    }
    expect(daemon.securityContext).toEqual({
      runAsUser: 0,
      runAsGroup: 0,
      seccompProfile: { type: "RuntimeDefault" },
      seLinuxOptions: { type: "spc_t" },
    });
    expect(daemon.volumes.map((volume) => volume.hostPath?.path)).not.toContain("/");
  });

  test("daemon and hand meet at the socket that the settings name", () => {
    const config = settingsOf(objects[configName]);
    const host = hostSocketDir(config).replace(/\/$/u, "");
    expect(mountsOf(daemon).get("socket")).toBe(config.socketDir.replace(/\/$/u, ""));
    expect(daemon.volumes).toContainEqual({ name: "socket", hostPath: { path: host, type: "DirectoryOrCreate" } });
    expect(hand.containers[0]?.command.join(" ")).toContain(`--socket-dir ${host} `);
    for (const needed of [config.stateDir, config.cniDir, config.confDir, config.cniConfigDir])
      expect([...mountsOf(daemon).values()]).toContain(needed);
  });

  test("both have all three probes, and the hand's ask where it listens", () => {
    for (const kind of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
      expect(daemon.containers[0]?.[kind]?.httpGet).toBeDefined();
      const [program, option, socket = "?"] = hand.containers[0]?.[kind]?.exec?.command ?? [];
      expect([program, option]).toEqual(["/usr/local/bin/levee-shim", "--probe"]);
      expect(hand.containers[0]?.command.join(" ")).toContain(`--probe-socket ${socket}`);
      expect(mountsOf(hand).get("probe")).toBe(dirname(socket));
    }
    expect(hand.volumes.find(({ name }) => name === "probe")).toHaveProperty("emptyDir");
  });

  test("both are critical, run everywhere, and a tenth of them is replaced at a time", () => {
    for (const spec of [daemon, hand]) {
      expect(spec).toMatchObject({ priorityClassName: "system-node-critical", terminationGracePeriodSeconds: 30 });
      expect(spec.tolerations).toEqual([{ operator: "Exists" }]);
    }
    for (const name of [daemonName, "DaemonSet/levee-hand"])
      expect(objects[name]).toMatchObject({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: "10%" } } } });
  });
});

const leveeLabels = { "app.kubernetes.io/name": "levee", "app.kubernetes.io/component": "daemon" };

test("the drop-in has the names, labels and selector of Multus' manifest", () => {
  const multus = byName(objectsOf(read("src/cli/move-in/migrate/fixtures/multus-v4.2.2.yaml") ?? ""));
  const ours = rendered("deploy/overlays/multus-drop-in");
  for (const [name, theirs] of Object.entries(multus)) {
    if (theirs.kind === "CustomResourceDefinition") continue;
    const own = name === "DaemonSet/kube-multus-ds" ? leveeLabels : {};
    const labels = { ...(theirs.metadata.labels as object | undefined), ...own }; // Multus' own manifest
    expect({ labels: {}, ...ours[name]?.metadata }).toEqual({ ...theirs.metadata, labels });
  }
  // Applying `deploy/install.yaml` too must not overwrite them.
  const base = rendered("deploy/base");
  const shared = Object.keys(base).filter((name) => name in ours);
  expect(shared.toSorted()).toEqual(["DaemonSet/levee-hand", "ServiceAccount/levee", "ServiceAccount/levee-hand"]);
  for (const name of shared) expect(ours[name]?.metadata.namespace).toBe("kube-system");
  const selector = { spec: { selector: { matchLabels: { name: "multus" } } } };
  expect(multus["DaemonSet/kube-multus-ds"]).toMatchObject(selector);
  expect(ours["DaemonSet/kube-multus-ds"]).toMatchObject(selector);
  expect(ours["ConfigMap/multus-daemon-config"]).toEqual(multus["ConfigMap/multus-daemon-config"]);
});

interface Container {
  readonly command: readonly string[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly securityContext: unknown;
  readonly resources: { readonly limits: unknown };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Probe {
  readonly httpGet?: unknown;
  readonly exec?: { readonly command: readonly string[] };
}

interface PodSpec {
  readonly hostPID?: boolean;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext: unknown;
  readonly tolerations: unknown;
  readonly volumes: readonly {
    readonly name: string;
    readonly hostPath?: { readonly path: string; readonly type: string };
  }[];
}

function podSpec(object: KubeObject | undefined): PodSpec {
  const { spec } = object as unknown as { spec: { template: { spec: PodSpec } } }; // our own DaemonSets
  return spec.template.spec;
}

function mountsOf(spec: PodSpec): ReadonlyMap<string, string> {
  return new Map(
    spec.containers.flatMap(({ volumeMounts }) => volumeMounts.map((each) => [each.name, each.mountPath])),
  );
}

function settingsOf(object: KubeObject | undefined): DaemonConfig {
  const data = object?.["data"] as Readonly<Record<string, string>>; // our own ConfigMaps
  return parseDaemonConfig(data["daemon-config.json"] ?? "", "ConfigMap");
}

describe.skipIf(helm === undefined)("the chart with volumes of the daemon", () => {
  test("gives the daemon the volumes with its collector's files", () => {
    const volume = { name: "traces", secret: { secretName: "levee-traces", optional: true } };
    const mount = { name: "traces", mountPath: "/etc/levee-traces", readOnly: true };
    const made = template(
      `--set-json=daemon.extraVolumes=${JSON.stringify([volume])}`,
      `--set-json=daemon.extraVolumeMounts=${JSON.stringify([mount])}`,
    );
    expect(made.stderr).toBe("");
    const daemon = podSpec(byName(objectsOf(made.text))["DaemonSet/levee"]);
    expect(daemon.containers[0]?.volumeMounts.at(-1)).toEqual(mount);
    expect(daemon.volumes.at(-1)).toEqual(volume);
  });
});

describe.skipIf(helm === undefined)("the chart with networkData of claims", () => {
  const files = ["access", "policy"].map((name) => `deploy/components/claim-network-data/${name}.yaml`);
  const component = byName(files.flatMap((file) => objectsOf(read(file) ?? "")));

  test("has the role and the policy of the component, and neither by default", () => {
    const { text } = template("--set=config.claimNetworkData=true");
    expect(byName(objectsOf(text))).toMatchObject(component);
    const usual = byName(objectsOf(template().text));
    expect(Object.keys(component).filter((name) => name in usual)).toEqual([]);
  });
});
