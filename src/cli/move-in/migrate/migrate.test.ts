import { describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { KubeError, type KubeApi, type KubeRequest } from "../../../kube/client/api.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";
import { checkMigration } from "./check-migration.ts";
import type { Finding } from "./finding.ts";
import type { KubeObject } from "../../kube-object.ts";
import { readCluster } from "./read-cluster.ts";

const manifest = join(import.meta.dir, "fixtures/multus-v4.2.2.yaml");
const multus = parseAllDocuments(await readFile(manifest, "utf8")).map((each) => each.toJS() as KubeObject);

/** Findings about Multus' own manifest with something changed or added, without those that are fine. */
function findings(edit: { readonly change?: (text: string) => string; readonly more?: string }): readonly Finding[] {
  const text = JSON.stringify(multus);
  const objects = JSON.parse(edit.change?.(text) ?? text) as KubeObject[]; // it was printed from objects above
  const more = parseAllDocuments(edit.more ?? "").map((each) => each.toJS() as KubeObject | null);
  return checkMigration([...objects, ...more.filter((object) => object !== null)]).filter(
    ({ level }) => level !== "ok",
  );
}

/** Lays settings over Multus' daemon-config.json. */
function withSettings(settings: Readonly<Record<string, unknown>>): { change: (text: string) => string } {
  const inside = JSON.stringify(JSON.stringify(settings)).slice(2, -2);
  return { change: (text) => text.replace(/\\"chrootDir\\": \\"\/hostroot\\"/u, inside.replaceAll("$", "$$$$")) };
}

const networkOf = (name: string, config: unknown): string =>
  JSON.stringify({
    kind: "NetworkAttachmentDefinition",
    metadata: { namespace: "vms", name },
    spec: config === undefined ? {} : { config: typeof config === "string" ? config : JSON.stringify(config) },
  });

const podOf = (annotations: Readonly<Record<string, string>>, name = "ci1"): string =>
  JSON.stringify({ kind: "Pod", metadata: { namespace: "vms", name, annotations } });

const networks = "k8s.v1.cni.cncf.io/networks";
const bridge = networkOf("lan", { cniVersion: "0.3.1", type: "bridge", bridge: "br0" });

function more(...documents: readonly string[]): { more: string } {
  return { more: documents.join("\n---\n") };
}

describe("checkMigration", () => {
  test("finds nothing in the way of Multus' own manifest", () => {
    expect(findings({})).toEqual([
      {
        topic: "multus",
        level: "look",
        object: "DaemonSet kube-system/kube-multus-ds",
        what: "the version cannot be told from the image ghcr.io/k8snetworkplumbingwg/multus-cni:snapshot-thick; moving is tested from 4.2.2 and 4.3.0",
        remedy: "kubectl -n kube-system exec ds/kube-multus-ds -- /usr/src/multus-cni/bin/multus-daemon -version",
      },
      {
        topic: "multus",
        level: "look",
        object: "CustomResourceDefinition network-attachment-definitions.k8s.cni.cncf.io",
        what: expect.stringContaining("it is among these files"),
        remedy: "keep this document when you replace Multus' file by the release's multus-drop-in.yaml",
      },
    ]);
    expect(checkMigration([])).toMatchObject([{ level: "blocks", what: "no DaemonSet of Multus was found" }]);
  });

  test.each([
    ["a version in the tag", "snapshot-thick", "v4.2.2-thick", undefined],
    [
      "an untested version",
      "snapshot-thick",
      "v4.0.2-thick",
      "differs: version 4.0.2; moving is tested from 4.2.2 and 4.3.0",
    ],
    ["another name", '"kube-multus-ds"', '"multus"', "blocks: it is not kube-system/kube-multus-ds, so"],
    [
      "another selector",
      '"matchLabels":{"name":"multus"}',
      '"matchLabels":{"app":"multus"}',
      "blocks: its selector is",
    ],
    [
      "k3s' folders",
      '"path":"/opt/cni/bin"',
      '"path":"/var/lib/rancher/k3s/data/cni"',
      "blocks: it uses the host's /var/lib/rancher/k3s/data/cni, the drop-in /opt/cni/bin",
    ],
    ["the thin plugin", "multus-cni:snapshot-thick", "multus-cni:v4.2.2", undefined],
    ["no ConfigMap", '"kind":"ConfigMap"', '"kind":"Secret"', "blocks: it is missing, and DaemonSet"],
  ])("looks at the DaemonSet: %s", (_what, from, to, expected) => {
    const all = findings({ change: (text) => text.replaceAll(from, to) });
    const own = all.filter(({ level }) => level !== "look").map(line);
    if (expected === undefined) expect(own).toEqual([]);
    else expect(own).toEqual([expect.stringContaining(expected) as string]);
  });

  test("knows the thin plugin", () => {
    const thin = findings({
      change: (text) => text.replaceAll("snapshot-thick", "v4.2.2").replaceAll('multus-daemon"', 'thin_entrypoint"'),
    });
    expect(thin.filter(({ level }) => level !== "look").map(line)).toEqual([
      expect.stringContaining("blocks: it is the thin plugin") as string,
    ]);
  });

  test.each([
    [{ logFile: "/var/log/multus.log" }, "differs: logFile has no effect"],
    [{ forceCNIVersion: true }, "differs: forceCNIVersion has no effect"],
    [{ perNodeCertificate: { enabled: true } }, "differs: perNodeCertificate has no effect"],
    [{ readinessindicatorfile: "/host/etc/cni/net.d/10-calico.conflist" }, "differs: readinessindicatorfile: while"],
    [
      { readinessindicatorfile: "/run/flannel/subnet.env" },
      "blocks: readinessindicatorfile is /run/flannel/subnet.env, which the drop-in does not mount",
    ],
    [{ namespaceIsolaton: true }, 'differs: "namespaceIsolaton" is an unknown setting'],
    [{ metricsPort: "x" }, "blocks: metricsPort is"],
    [{ cniDir: "/var/lib/other" }, "blocks: cniDir is /var/lib/other, which the drop-in does not mount"],
    [{ daemonSocketDir: "/run/elsewhere" }, "blocks: the shims would look for the daemon in /run/elsewhere"],
  ])("looks at the settings: %j", (settings, expected) => {
    expect(findings(withSettings(settings)).map(line)).toContainEqual(expect.stringContaining(expected) as string);
  });

  test("looks at a conf of the user's own", () => {
    const found = findings({ change: (text) => text.replace('\\"auto\\"', '\\"/etc/own/x.conf\\"') });
    expect(found.map(line)).toContainEqual(
      expect.stringContaining("differs: multusConfigFile: /etc/own/x.conf is copied") as string,
    );
    expect(found.map(line)).toContainEqual(
      expect.stringContaining("blocks: multusConfigFile is /etc/own/x.conf, which") as string,
    );
  });
});

describe("checkMigration on what uses Multus, pods and virtual machines", () => {
  test("names who else talks to Multus", () => {
    const pod = (image: string, volume: string): string =>
      `{containers: [{image: ${image}}], volumes: [{hostPath: {path: ${volume}}}]}`;
    const workload = (name: string, spec: string): string =>
      `{kind: Deployment, metadata: {namespace: kube-system, name: ${name}}, spec: {template: {spec: ${spec}}}}`;
    const found = findings(
      more(
        workload("controller", pod("example.com/multus-dynamic-networks-controller:latest", "/run/multus/multus.sock")),
        workload("curious", pod("example.com/x", "/var/run/multus")),
        workload("approver", "{containers: [{image: example.com/multus-cni, command: [/cert-approver]}]}"),
        workload("web", pod("example.com/x", "/run/multusx")),
      ),
    ).filter(({ topic }) => topic === "other users of Multus");
    expect(found.map(({ level, object }) => `${level} ${object}`)).toEqual([
      "differs Deployment kube-system/controller",
      "differs Deployment kube-system/curious",
      "differs Deployment kube-system/approver",
    ]);
    expect(found[0]?.what).toContain("Levee makes these changes itself, once");
    expect(found[0]?.remedy).toContain('"multusSocketDir": "/host/run/multus"');
  });

  test.each([
    [networkOf("file", undefined), "differs: it has no configuration, so it is a file on each node"],
    [networkOf("broken", "{"), "differs: its configuration is refused"],
    [networkOf("empty", { name: "x", plugins: [] }), "differs: its configuration is refused"],
    [
      networkOf("ports", { type: "bridge", capabilities: { portMappings: true } }),
      "differs: the portMappings of the pod itself go to the default network only",
    ],
  ])("looks at networks: %s", (network, expected) => {
    expect(findings(more(network)).map(line)).toContainEqual(expect.stringContaining(expected) as string);
  });

  test.each([
    ["lan@a/b@c", "look: it is refused, as with Multus: parsePodNetworkAnnotation:"],
    ["[null]", "look: it is refused, as with Multus:"],
    ["nowhere", "look: the network vms/nowhere does not exist"],
    ["broken", "blocks: it asks for vms/broken, whose configuration is refused"],
    [
      '[{"name":"lan","bandwidth":{"ingressRate":1}}]',
      'blocks: it would be refused: Cannot attach vms/lan with "bandwidth"',
    ],
    ['[{"name":"lan","default-route":["10.0.0.1"]}]', "differs: default-route takes effect"],
  ])("looks at pods: %s", (annotation, expected) => {
    const found = findings(more(bridge, networkOf("broken", "{"), podOf({ [networks]: annotation })));
    expect(found.filter(({ topic }) => topic === "pods").map(line)).toEqual([
      expect.stringContaining(expected) as string,
    ]);
  });

  test("looks at pods with the cluster's own isolation", () => {
    const pod = podOf({ [networks]: "other/lan" });
    const text = JSON.stringify(multus).replace(/\\"chrootDir\\": \\"\/hostroot\\"/u, '\\"namespaceIsolation\\": true');
    const found = checkMigration([...(JSON.parse(text) as KubeObject[]), parse(pod) as KubeObject]);
    expect(found.map(line)).toContainEqual(expect.stringContaining("namespace isolation enabled") as string);
  });

  test("looks at the MAC addresses of virtual machines", () => {
    const machine = JSON.stringify({
      kind: "VirtualMachine",
      metadata: { namespace: "vms", name: "ci1" },
      spec: {
        template: {
          spec: {
            domain: { devices: { interfaces: [{ name: "prod", macAddress: "02:57:00:00:00:01" }] } },
            networks: [{ name: "prod", multus: { networkName: "vms/lan" } }],
          },
        },
      },
    });
    const found = findings(more(bridge, machine)).filter(({ topic }) => topic === "pods");
    expect(found.map(line)).toEqual([
      expect.stringContaining('differs: it asks for "mac", which no plugin of vms/lan declares') as string,
    ]);
  });

  test("looks at templates and virtual machines, and says the same of many objects once", () => {
    const machine = {
      kind: "VirtualMachine",
      metadata: { namespace: "vms", name: "ci1" },
      spec: {
        template: {
          spec: {
            networks: [
              { name: "default", pod: {} },
              { name: "x", multus: { networkName: "gone" } },
            ],
          },
        },
      },
    };
    const template = (name: string): string =>
      JSON.stringify({
        kind: "Deployment",
        metadata: { namespace: "vms", name },
        spec: { template: { metadata: { annotations: { [networks]: "gone" } } } },
      });
    const found = findings(more(JSON.stringify(machine), ...["a", "b", "c", "d"].map(template), podOf({ other: "x" })));
    expect(found.filter(({ topic }) => topic === "pods")).toMatchObject([
      { object: expect.stringMatching(/^VirtualMachine vms\/ci1, Deployment vms\/a, .*, .* and 2 more$|and 2 more$/u) },
    ]);
  });
});

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function leveeOf(image: string, status?: unknown): string {
  const container = {
    name: "kube-multus",
    image,
    command: ["/usr/local/bin/levee", "daemon", "--health-port", "9809"],
  };
  const volumes = [{ name: "socket", hostPath: { path: "/run/multus" } }];
  return JSON.stringify({
    kind: "DaemonSet",
    metadata: { namespace: "kube-system", name: "kube-multus-ds" },
    spec: { template: { spec: { containers: [container], volumes } } },
    status,
  });
}

describe("checkMigration of a cluster that is moved", () => {
  const hand = JSON.stringify({
    kind: "DaemonSet",
    metadata: { namespace: "kube-system", name: "levee-hand" },
    spec: {
      template: {
        spec: {
          containers: [{ image: "levee", command: ["/usr/local/bin/levee-shim", "--resident"] }],
          volumes: [{ hostPath: { path: "/run/multus" } }],
        },
      },
    },
  });
  const found = (...documents: readonly string[]): readonly string[] =>
    checkMigration(documents.map((text) => JSON.parse(text) as KubeObject)).map(line);

  test("says how far it is, and takes nothing of Levee for a user of Multus", () => {
    const status = { desiredNumberScheduled: 3, updatedNumberScheduled: 1 };
    expect(found(leveeOf("example.com/multus-move/levee", status), hand)).toEqual([
      "look: it is Levee already; 1 of 3 nodes are moved",
    ]);
    expect(found(leveeOf("levee", { ...status, updatedNumberScheduled: 3 }))).toEqual([
      "ok: it is Levee already; 3 of 3 nodes are moved",
    ]);
    expect(found(leveeOf("levee"))).toEqual(["ok: it is Levee already"]);
  });

  test("says that its image was never built", () => {
    expect(found(leveeOf(`levee@sha256:${"0".repeat(64)}`))).toContainEqual(
      expect.stringContaining("blocks: its image is the placeholder") as string,
    );
  });
});

describe("checkMigration of a Multus of others", () => {
  test("knows OpenShift's, and what puts RKE2's back", () => {
    const open = JSON.stringify({ kind: "DaemonSet", metadata: { namespace: "openshift-multus", name: "multus" } });
    expect(checkMigration([JSON.parse(open) as KubeObject]).map(line)).toEqual([
      expect.stringContaining("blocks: it is OpenShift's own Multus") as string,
    ]);
    const rke2 = findings({ change: (text) => text.replaceAll('"kube-multus-ds"', '"rke2-multus"') });
    expect(rke2.filter(({ level }) => level === "blocks")).toMatchObject([
      { remedy: expect.stringContaining("remove multus from cni: in RKE2's configuration, or RKE2 restores it") },
    ]);
  });

  const live = (metadata: Readonly<Record<string, unknown>>): readonly string[] =>
    checkMigration(
      multus.map((object) =>
        object["kind"] === "DaemonSet"
          ? { ...object, metadata: { ...(object["metadata"] as object), uid: "u", ...metadata } }
          : object,
      ),
    )
      .filter(({ level }) => level === "blocks" || level === "differs")
      .map(line);
  const owner = (manager: string, operation: string, rest: object = { fieldsV1: { "f:spec": {} } }): object => ({
    manager,
    operation,
    ...rest,
  });

  test("says when kubectl apply would leave Multus' fields in place", () => {
    expect(live({})).toEqual([expect.stringContaining("blocks: it was not made with kubectl apply") as string]);
    expect(live({ managedFields: [owner("kubectl-create", "Update")] })).toEqual([
      expect.stringContaining("blocks: it was not made with kubectl apply") as string,
    ]);
    expect(live({ managedFields: [owner("argocd-controller", "Apply")] })).toEqual([
      expect.stringContaining("differs: it was made by server-side apply of argocd-controller") as string,
    ]);
  });

  test("says who changed it beside kubectl apply, and takes the controller's status for nothing", () => {
    const annotations = { [lastApplied]: "{}" };
    const usual = [
      owner("kubectl-create", "Update", { fieldsV1: { "f:spec": { "f:selector": {} } } }),
      owner("kubectl-client-side-apply", "Update"),
      owner("kubectl-rollout", "Update"),
      owner("kube-controller-manager", "Update", { subresource: "status", fieldsV1: { "f:status": {} } }),
    ];
    expect(live({ annotations, managedFields: usual })).toEqual([]);
    expect(live({ annotations, managedFields: [...usual, owner("kubectl-patch", "Update")] })).toEqual([
      "differs: kubectl-patch changed it beside kubectl apply; what they set stays when the drop-in is applied",
    ]);
  });
});

describe("checkMigration of details", () => {
  test("does not choose between two ConfigMaps of one name in silence", () => {
    const second = multus.find(({ kind }) => kind === "ConfigMap");
    const changed = JSON.stringify({ ...second, data: { "daemon-config.json": "{}" } });
    expect(findings(more(JSON.stringify(second))).map(line)).not.toContainEqual(
      expect.stringContaining("2 times") as string,
    );
    expect(findings(more(changed)).map(line)).toContainEqual(
      "blocks: it exists 2 times with different settings; only the first was checked",
    );
  });

  test("names an annotation that is empty", () => {
    const found = findings(more(podOf({ "v1.multus-cni.io/default-network": "" }))).map(line);
    expect(found).toContainEqual(
      expect.stringContaining("its annotation v1.multus-cni.io/default-network is empty") as string,
    );
  });

  test("does not advise a capability where no plugin gives addresses", () => {
    const network = (ipam: unknown): string => networkOf("lan", { cniVersion: "0.3.1", type: "bridge", ipam });
    const pod = podOf({ [networks]: '[{"name":"lan","ips":["10.0.0.5/24"]}]' });
    const remedyOf = (ipam: unknown): string | undefined =>
      findings(more(network(ipam), pod)).find(({ what }) => what.startsWith('it asks for "ips"'))?.remedy;
    expect(remedyOf({})).toStartWith("no plugin of the network gives addresses");
    expect(remedyOf({ type: "host-local" })).toStartWith('add "capabilities"');
  });

  test("names the folder of a network that is a file", () => {
    expect(findings(more(networkOf("file", undefined))).map(({ remedy }) => remedy)).toContain(
      "make sure that /etc/cni/multus/net.d of every node has it",
    );
  });

  test("tells a wrong value from a wrong name, and lists what is so anyway as served", () => {
    const loud = (text: string): string => text.replace(/(logLevel\\": \\")[a-z]+/u, "$1loud");
    const found = findings({ change: (text) => loud(withSettings({ typo: 1 }).change(text)) });
    expect(found.find(({ what }) => what.startsWith("logLevel"))).toMatchObject({ remedy: "correct it" });
    expect(found.find(({ what }) => what.startsWith('"typo"'))).toMatchObject({
      what: '"typo" is an unknown setting and has no effect',
      remedy: "remove it, or correct its name",
    });
    const all = checkMigration(
      JSON.parse(withSettings({ logToStderr: true }).change(JSON.stringify(multus))) as KubeObject[],
    );
    expect(all.map(line)).toContainEqual(expect.stringMatching(/^ok: used as Multus does: .*logToStderr/u) as string);
  });
});

describe("levee migrate", () => {
  async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
    const shell = fakeShell({ argv });
    const status = await runCli(shell);
    return { status, out: shell.stdout.text, err: shell.stderr.text };
  }

  test("reports what blocks with exit status 1, and nothing with 0", async () => {
    // The one at hand here is as it is shipped, without an image.
    expect(await levee("migrate", "--check", "--drop-in", manifest, manifest)).toMatchObject({
      status: 0,
      err: "",
      out: expect.stringMatching(
        /^multus\n------\n\? .*\n {4}→ .*\n✓ (.|\n)*\nStatus: nothing blocks the move; 0 things differ, 2 to look at\n$/u,
      ),
    });
    const folder = await mkdtemp(join(tmpdir(), "levee-migrate-"));
    try {
      await writeFile(
        join(folder, "pod.yaml"),
        `${bridge}\n---\n${podOf({ [networks]: '[{"name":"lan","bandwidth":{}}]' })}`,
      );
      const end = await levee("migrate", "--check", "-o", "json", "--drop-in", manifest, manifest, folder);
      expect(end.status).toBe(1);
      expect(JSON.parse(end.out)).toMatchObject({
        findings: expect.arrayContaining([expect.objectContaining({ level: "blocks" })]),
      });
      expect(end.err).toContain("1 of the findings block the move (migration-blocked)");
      await writeFile(join(folder, "pod.yaml"), "a: [");
      expect(await levee("migrate", "--check", folder)).toMatchObject({ status: 2 });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("says when the file to be applied has no image yet", async () => {
    const folder = await mkdtemp(join(tmpdir(), "levee-migrate-"));
    const file = join(folder, "drop-in.yaml");
    try {
      await writeFile(file, leveeOf(`levee@sha256:${"0".repeat(64)}`));
      const end = await levee("migrate", "--check", "--drop-in", file, manifest);
      expect(end.status).toBe(1);
      expect(end.out).toContain(`✗ ${file}: its image is the placeholder of the repository`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each([
    ["an empty folder", undefined],
    ["a folder of other files", "notes.txt"],
    ["a file that is no manifest", "passwd.yaml"],
  ])("refuses %s instead of finding nothing in it", async (_what, name) => {
    const folder = await mkdtemp(join(tmpdir(), "levee-migrate-"));
    try {
      if (name !== undefined) await writeFile(join(folder, name), "nobody:x:65534:65534::/nonexistent:/bin/false\n");
      expect(await levee("migrate", "--check", "--drop-in", manifest, folder)).toMatchObject({
        status: 2,
        out: "",
        err: expect.stringContaining(`Cannot use ${folder}: it contains no Kubernetes objects in YAML or JSON`),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("is a wrong command line without --check, and with files that are not there", async () => {
    expect(await levee("migrate")).toMatchObject({
      status: 2,
      err: expect.stringContaining("try: levee migrate --check"),
    });
    expect(await levee("migrate", "--check", "/nowhere/x.yaml")).toMatchObject({ status: 2 });
  });
});

test("readCluster reads page by page, keeps pods that ask for networks, and takes a missing type for an empty list", async () => {
  const asked: string[] = [];
  const pages: Readonly<Record<string, unknown>> = {
    "/apis/apps/v1/daemonsets?limit=200": { items: multus.filter(({ kind }) => kind === "DaemonSet") },
    "/apis/apps/v1/deployments?limit=200": { items: [] },
    "/apis/apps/v1/statefulsets?limit=200": { items: null },
    "/api/v1/pods?limit=200": { metadata: { continue: "a/b" }, items: [{ metadata: { name: "dull" } }] },
    "/api/v1/pods?limit=200&continue=a%2Fb": {
      metadata: {},
      items: [{ metadata: { name: "web", annotations: { [networks]: "x" } } }],
    },
    "/api/v1/namespaces/kube-system/configmaps/multus-daemon-config": {
      metadata: { name: "multus-daemon-config", namespace: "kube-system" },
    },
  };
  const api: Pick<KubeApi, "call"> = {
    call: ({ path }: KubeRequest) => {
      asked.push(path);
      const page = pages[path];
      if (page === undefined) return Promise.reject(new KubeError("api-refused", "not found", { status: 404 }));
      return Promise.resolve(JSON.stringify(page));
    },
  };
  const objects = await readCluster(api as KubeApi, new AbortController().signal); // it only calls
  expect(objects.map(({ kind }) => kind)).toEqual(["DaemonSet", "Pod", "ConfigMap"]);
  expect(asked).toContain("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions?limit=200");
});

function line({ level, what }: Finding): string {
  return `${level}: ${what}`;
}
