import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { network } from "./lint-cases.fixture.ts";
import { scriptedCluster, type ClusterLists } from "./scripted-cluster.fixture.ts";

let folder: string;
let server: ScriptedServer | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-lint-"));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

function write(path: string, text: string): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

async function levee(argv: readonly string[], input = ""): Promise<{ status: number; out: string; err: string }> {
  const shell = { ...fakeShell({ argv: ["lint", ...argv] }), input: () => Promise.resolve(input) };
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

const good = network('{"cniVersion": "1.0.0", "type": "bridge"}');
const broken = network('{"cniVersion": "1.0.0", "type": "bridge",\n "vlna": 5}');
const doubtful = network('{"type": "bridge"}');

describe("levee lint on files", () => {
  test("names file, line, column, code and the right key, and fails", async () => {
    const path = write("a/lan.yaml", broken);
    write("a/.git/lan.yaml", broken);
    write("a/other.txt", broken);
    const { status, out, err } = await levee([join(folder, "a")]);
    expect(out).toBe(
      `${path}:7:6: error LVN0301 NetworkAttachmentDefinition prod/lan: bridge does not know the key "vlna"; did you mean "vlan"?\n1 error, 0 warnings, 0 notes in 1 network and 0 pods of 1 file; levee explain CODE explains each\n`,
    );
    expect(status).toBe(1);
    expect(err).toContain("lint-failed");
  });

  test("warnings fail only if they are asked to", async () => {
    const path = write("lan.yaml", doubtful);
    expect((await levee([path])).status).toBe(0);
    expect((await levee([path, "--fail-on", "warning"])).status).toBe(1);
    expect((await levee([write("good.yaml", good), "--fail-on", "warning"])).status).toBe(0);
  });

  test("bad YAML does not stop the other documents and files", async () => {
    write("1.yaml", `kind: NetworkAttachmentDefinition\nx: [\n---\n${broken}`);
    write("2.yaml", doubtful.replace("name: lan", "name: wan"));
    const { out } = await levee([folder]);
    expect(out.split("\n").map((line) => /LVN\d{4}/u.exec(line)?.[0] ?? "")).toEqual([
      "LVN0101",
      "LVN0301",
      "LVN0207",
      "",
      "",
    ]);
  });

  test("a file that is named twice is looked at once", async () => {
    const path = write("a/lan.yaml", broken);
    for (const paths of [
      [path, path],
      [join(folder, "a"), path],
      [join(folder, "a"), `${folder}/./a/`],
    ])
      expect((await levee(paths)).out).toContain("1 error, 0 warnings, 0 notes in 1 network and 0 pods of 1 file;");
  });

  test("reads standard input", async () => {
    const { status, out } = await levee(["-"], broken);
    expect([status, out.split(":", 3)]).toEqual([1, ["<stdin>", "7", "6"]]);
  });

  test("prints JSON, SARIF and workflow commands", async () => {
    const path = write("a, b.yaml", broken);
    const json = JSON.parse((await levee([path, "-o", "json"])).out) as {
      errors: number;
      findings: { place: unknown }[];
    };
    expect(json.errors).toBe(1);
    expect(json.findings[0]?.place).toEqual({ file: path, line: 7, column: 6, endLine: 7, endColumn: 12 });
    const sarif = JSON.parse((await levee([path, "-o", "sarif"])).out) as {
      version: string;
      runs: { results: unknown[] }[];
    };
    expect(sarif.version).toBe("2.1.0");
    expect(JSON.stringify(sarif.runs[0]?.results)).toContain('"startLine":7,"startColumn":6');
    const { out } = await levee([path, "-o", "github"]);
    expect(out).toContain("::error file=");
    expect(out).toContain("a%2C b.yaml,line=7,endLine=7,col=6,endColumn=12,title=levee lint LVN0301::");
  });

  test("a pipe or a device ends with 2 and is never read, as it may have no end", async () => {
    const pipe = join(folder, "pipe.yaml");
    spawnSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/zero"]) {
      const { status, err } = await levee([path]);
      expect(status).toBe(2);
      expect(err).toContain(`Cannot read ${path}: it is neither a file nor a folder`);
      expect(err).toContain(`levee lint - < ${path}`);
    }
    // In a folder it is no manifest.
    write("lan.yaml", broken);
    expect((await levee([folder])).out).toContain("of 1 file;");
  });

  test("wrong command lines end with 2", async () => {
    for (const argv of [
      [],
      [join(folder, "none")],
      ["-n", "a", folder],
      [folder, "--pod-cidr", "x"],
      [folder, "--fail-on", "x"],
      ["-k", folder],
      [folder, "-o", "short"],
    ])
      expect((await levee(argv)).status).toBe(2);
  });
});

describe("a network that is there twice", () => {
  test("of two files is named with the place of the first", async () => {
    const first = write("lan.yaml", good);
    const second = write("other.yaml", good);
    const { status, out } = await levee([folder]);
    expect(out).toStartWith(
      `${second}:3:18: warning LVN0104 NetworkAttachmentDefinition prod/lan: it is also in ${first}:3, and the one`,
    );
    expect([status, out.split("LVN0104").length]).toEqual([0, 2]);
  });

  test("of two folders may be of two clusters", async () => {
    write("one/lan.yaml", good);
    const second = write("two/lan.yaml", good);
    const { out } = await levee([folder]);
    expect(out).toContain(`${second}:3:18: note LVN0104 `);
  });

  test("is none where two kustomizations have one base", async () => {
    write("base/kustomization.yaml", "resources: [lan.yaml]\n");
    write("base/lan.yaml", good);
    const overlays = ["a", "b"].map((name) => dirname(write(`${name}/kustomization.yaml`, "resources: [../base]\n")));
    const { out } = await levee(overlays.flatMap((overlay) => ["-k", overlay]));
    expect(out).toContain("0 warnings, 0 notes in 2 networks");
  });
});

describe("levee lint -k", () => {
  test("follows resources, bases and components, and sets the namespace", async () => {
    write("prod/kustomization.yaml", "namespace: live\nresources: [../base, lan.yaml]\nnamePrefix: x-\n");
    write("prod/lan.yaml", broken);
    write(
      "base/kustomization.yml",
      "namespace: other\nbases: [../prod]\nresources: [net.yaml, none.yaml, 'https://example.com/a.yaml']\n",
    );
    write("base/net.yaml", doubtful.replace("name: lan", "name: net"));
    const { status, out } = await levee(["-k", join(folder, "prod")]);
    expect(status).toBe(1);
    expect(out).toContain(
      "LVN0103 " + join(folder, "base/kustomization.yml") + ': it names "none.yaml", which does not exist',
    );
    expect(out).toContain("note LVN0103");
    expect(out).toContain("it was looked at without its namePrefix");
    expect(out).toContain("LVN0207 NetworkAttachmentDefinition live/net");
    expect(out).toContain("LVN0301 NetworkAttachmentDefinition live/lan");
  });

  test("a finding about a kustomization points at its entry", async () => {
    const path = write(
      "kustomization.yaml",
      "namePrefix: x-\nresources:\n  - none.yaml\n  - https://example.com/a.yaml\n",
    );
    const placesOf = async (): Promise<readonly string[]> =>
      (await levee(["-k", folder])).out.split("\n").map((line) => /:\d+:\d+: \w+ \w+/u.exec(line)?.[0] ?? "");
    expect(await placesOf()).toEqual([":1:13: note LVN0103", ":3:5: error LVN0103", ":4:5: note LVN0103", "", ""]);
    writeFileSync(path, "resources:\n  - a.yaml\n  ]\n");
    expect(await placesOf()).toEqual([":3:3: error LVN0101", "", ""]);
  });

  test("a kustomization whose entries are all there has no finding about itself", async () => {
    write("prod/kustomization.yaml", "resources: [../base, lan.yaml]\ncomponents: []\n");
    write("prod/lan.yaml", good);
    write("base/kustomization.yaml", "resources: [net.yaml]\n");
    write("base/net.yaml", good.replace("name: lan", "name: net"));
    const near = await levee(["-k", join(folder, "prod")]);
    expect([near.status, near.out]).toEqual([0, expect.not.stringContaining("LVN0103") as string]);
    expect(near.out).toContain("in 2 networks");
    rmSync(join(folder, "base/net.yaml"));
    const missing = await levee(["-k", join(folder, "prod")]);
    expect([missing.status, missing.out]).toEqual([1, expect.stringContaining("error LVN0103") as string]);
  });

  test("a link to an endless device is a finding", async () => {
    const path = write("prod/kustomization.yaml", "resources: [zero.yaml, lan.yaml]\n");
    symlinkSync("/dev/zero", join(folder, "prod/zero.yaml"));
    write("prod/lan.yaml", broken);
    const { status, out } = await levee(["-k", dirname(path)]);
    expect(status).toBe(1);
    const zero = join(folder, "prod/zero.yaml");
    expect(out).toContain(`${zero}:1:1: error LVN0101 ${zero}: Cannot read ${zero} as it must be a regular file`);
    expect(out).toContain("LVN0301");
  });
});

describe("levee lint on a cluster", () => {
  async function cluster(lists: ClusterLists): Promise<readonly string[]> {
    const scripted = await scriptedCluster(folder, lists);
    server = scripted.server;
    return scripted.options;
  }

  const networks = "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions";
  const lan = {
    metadata: { name: "lan", namespace: "prod", annotations: { "k8s.v1.cni.cncf.io/resourceName": "a/b" } },
    spec: { config: '{"cniVersion": "1.0.0", "type": "bridge",\n "vlna": 5}' },
  };
  const slices = "/apis/resource.k8s.io/v1/resourceslices";
  const pod = (name: string, wants: string): unknown => ({
    metadata: { name, namespace: "prod", annotations: { "k8s.v1.cni.cncf.io/networks": wants } },
    status: { phase: "Running" },
  });

  test("looks at networks, pods and nodes of a namespace", async () => {
    const other = { metadata: { name: "x", namespace: "other" }, spec: { config: "{" } };
    const node = {
      metadata: { name: "n" },
      status: { capacity: { cpu: "1" }, addresses: [] },
      spec: { podCIDRs: ["10.42.0.0/24"] },
    };
    const options = await cluster({
      [networks]: [lan, other],
      "/api/v1/namespaces/prod/pods": [pod("a", "lan,none")],
      "/api/v1/nodes": [node],
      [slices]: [],
    });
    const { status, out } = await levee(["-n", "prod", ...options]);
    expect(status).toBe(1);
    expect(out).toContain("spec.config:2:2: error LVN0301 NetworkAttachmentDefinition prod/lan");
    expect(out).toContain('LVN0701 NetworkAttachmentDefinition prod/lan: no node offers "a/b"');
    expect(out).toContain("LVN0707 Pod prod/a: it asks for prod/none, which does not exist");
    expect(out).not.toContain("other/x");
    expect(out).toContain("not looked at: service ranges (not known to this API server)");
  });

  test("knows how many pods the largest node takes, and which nodes are tainted", async () => {
    const ranged = (name: string, ipam: string): string =>
      network(`{"cniVersion": "1.0.0", "type": "bridge", "isGateway": true, "ipam": ${ipam}}`, { name });
    const node = (name: string, pods: string, spec: object = {}): unknown => ({
      metadata: { name },
      status: { capacity: { pods: "250" }, allocatable: { pods } },
      spec,
    });
    const tainted = { taints: [{ key: "control", effect: "NoSchedule" }] };
    const soft = { taints: [{ key: "old", effect: "PreferNoSchedule" }] };
    const options = await cluster({
      [networks]: [],
      "/api/v1/nodes": [node("a", "110"), node("b", "240", tainted), node("c", "64", soft), node("d", "1k")],
    });
    const path = write(
      "net.yaml",
      [
        ranged("few", '{"type": "host-local", "subnet": "10.1.0.0/25"}'),
        ranged("many", '{"type": "host-local", "subnet": "10.2.0.0/24"}'),
        ranged("agents", '{"type": "whereabouts", "range": "10.3.0.0/30"}'),
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: prod}\nspec: {template: {metadata: {annotations: {k8s.v1.cni.cncf.io/networks: agents}}}}\n",
      ].join("---\n"),
    );
    const { status, out } = await levee([path, "--against-cluster", ...options]);
    expect(status).toBe(0);
    expect(out.split("\n").filter((line) => line.includes("LVN0505"))).toEqual([
      expect.stringContaining(
        "note LVN0505 NetworkAttachmentDefinition prod/few: node b takes 240 pods, and the range",
      ) as string,
      expect.stringContaining(
        "warning LVN0505 NetworkAttachmentDefinition prod/agents: 3 pods ask for it, and the range",
      ) as string,
    ]);
  });

  test("with files, names the pods that use a network which the files change", async () => {
    const options = await cluster({
      [networks]: [lan],
      "/api/v1/pods": [pod("a", "lan"), pod("b", "lan")],
      "/api/v1/nodes": 403,
    });
    const changed = write("lan.yaml", good);
    const { out } = await levee([changed, "--against-cluster", ...options]);
    expect(out).toContain(
      "LVN0703 NetworkAttachmentDefinition prod/lan: prod/a, prod/b use it and keep the old configuration until restarted",
    );
    const same = write("lan.yaml", network('{"type": "bridge", "cniVersion": "1.0.0",\n "vlna": 5}'));
    expect((await levee([same, "--against-cluster", ...options])).out).not.toContain("LVN0703");
  });

  test("a cluster that cannot be reached ends with 3", async () => {
    const options = await cluster({ [networks]: 401 });
    expect((await levee(["-A", ...options])).status).toBe(3);
  });
});
