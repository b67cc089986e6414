/** deploy/gitops as a repository of its own on a real API server: every object in its wave, vendored files, hooks. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { syncWaves } from "../../scripts/deploy/gitops.ts";
import { serveFiles } from "../../src/cli/vendor/source-server.fixture.ts";
import { cdiOperator, cdiResource } from "./gitops/made-up-cdi.ts";
import { needsServer } from "./needs-server.ts";
import { PolicyServer, untilServed } from "./policy-server.ts";

const { group, beforeAll, afterAll } = needsServer("gitops");
const source = join(import.meta.dir, "../../deploy/gitops");
const levee = join(import.meta.dir, "../../src/main.ts");
const waveKey = "argocd.argoproj.io/sync-wave";

interface GitObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** A copy of deploy/gitops, as a person has it at the top of a repository. */
let folder: string;
/** The folder around it, with `levee` in it. */
let home: string;
let server: PolicyServer;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "levee-gitops-"));
  folder = join(home, "infra");
  cpSync(source, folder, { recursive: true });
  writeFileSync(join(home, "levee"), `#!/bin/sh\nexec ${process.execPath} ${levee} "$@"\n`, { mode: 0o755 });
  server = await PolicyServer.start();
}, 120_000);

afterAll(async () => {
  await server.stop();
  rmSync(home, { recursive: true });
});

/** Runs a program in the repository, with `levee` on its PATH. */
function run(program: string, ...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const person = { NAME: "A person", EMAIL: "person@example.org" };
  const env = {
    PATH: `${home}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    ...Object.fromEntries(
      Object.entries(person).flatMap(([key, value]) => [
        [`GIT_AUTHOR_${key}`, value],
        [`GIT_COMMITTER_${key}`, value],
      ]),
    ),
  };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
}

/** As `run`, for what must not fail. */
function must(program: string, ...args: readonly string[]): string {
  const { status, text } = run(program, ...args);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${text}`);
  return text;
}

function parsed(text: string, where: string): readonly GitObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    expect([where, document.errors]).toEqual([where, []]);
    const object = document.toJS() as GitObject | null; // our own manifests
    return object === null ? [] : [object];
  });
}

/** The objects of an application as Argo CD makes them: a kustomization, else all files. */
function objectsOf(app: string): readonly GitObject[] {
  const names = readdirSync(join(folder, app));
  if (names.includes("kustomization.yaml")) return parsed(must("kubectl", "kustomize", app), app);
  return names
    .filter((name) => name.endsWith(".yaml"))
    .flatMap((name) => parsed(readFileSync(join(folder, app, name), "utf8"), `${app}/${name}`));
}

function waveOf({ metadata }: GitObject): number {
  return Number(metadata.annotations?.[waveKey] ?? "0");
}

function nameOf({ apiVersion, kind, metadata }: GitObject): string {
  return `${apiVersion.replace(/\/?v\d\w*$/u, "")} ${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

function byNamespaceFirst(one: GitObject, other: GitObject): number {
  return Number(other.kind === "Namespace") - Number(one.kind === "Namespace");
}

/** Applies the objects wave by wave as Argo CD does, and gives what the server does not know the kinds of. */
async function applyInWaves(objects: readonly GitObject[]): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const wave of Object.values(syncWaves)) {
    // Within a wave Argo CD begins with namespaces.
    const now = objects.filter((object) => waveOf(object) === wave).toSorted(byNamespaceFirst);
    for (const object of now) {
      const args = ["apply", "--server-side", "--field-manager=argocd-controller", "--validate=strict", "-f", "-"];
      const end = server.kubectl(args, { input: JSON.stringify(object) });
      if (/no matches for kind/u.test(end.stderr)) unknown.push(object.kind);
      else expect([nameOf(object), end.status, end.stderr]).toEqual([nameOf(object), 0, ""]);
    }
    const definitions = now.filter(({ kind }) => kind === "CustomResourceDefinition");
    await untilServed(server, ...definitions.map(({ metadata }) => metadata.name));
  }
  return unknown;
}

group("deploy/gitops", () => {
  test("no two objects of all folders are one, and every one of ours has its wave", () => {
    const apps = ["apps/levee", "apps/monitoring", "apps/kubevirt-vms"];
    const all = [...apps, "argocd"].flatMap(objectsOf);
    const names = all.map(nameOf);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const object of apps.flatMap(objectsOf))
      expect([nameOf(object), Object.values(syncWaves) as number[]]).toEqual([
        nameOf(object),
        expect.arrayContaining([waveOf(object)]) as number[],
      ]);
  });

  test("every object goes in wave by wave, and the server knows all kinds but those of other projects", async () => {
    expect(await applyInWaves(objectsOf("apps/levee"))).toEqual([]);
    expect(await applyInWaves(objectsOf("apps/monitoring"))).toEqual(["PodMonitor", "PodMonitor", "PrometheusRule"]);
    expect(await applyInWaves(objectsOf("apps/kubevirt-vms"))).toEqual(["VirtualMachine"]);
    const kinds = "daemonset,deployment,network-attachment-definition,persistentvolumeclaim";
    expect(server.must(["get", kinds, "-A", "-o", "name"]).trim().split("\n")).toEqual([
      "daemonset.apps/levee",
      "daemonset.apps/levee-hand",
      "deployment.apps/levee-guard",
      "networkattachmentdefinition.k8s.cni.cncf.io/prod-vlan57",
      "persistentvolumeclaim/ci1-root",
    ]);
  }, 120_000);

  test("the patch of Argo CD's settings adds health checks and takes nothing away", () => {
    server.must(["create", "namespace", "argocd"]);
    server.must(["-n", "argocd", "create", "configmap", "argocd-cm", "--from-literal=url=https://argocd.example"]);
    server.must([
      "-n",
      "argocd",
      "patch",
      "configmap",
      "argocd-cm",
      "--patch-file",
      join(folder, "argocd/argocd-cm.yaml"),
    ]);
    const { data } = JSON.parse(server.must(["-n", "argocd", "get", "configmap", "argocd-cm", "-o", "json"])) as {
      data: Readonly<Record<string, string>>;
    };
    expect(Object.keys(data).toSorted()).toEqual([
      "resource.customizations.health.cdi.kubevirt.io_CDI",
      "resource.customizations.health.k8s.cni.cncf.io_NetworkAttachmentDefinition",
      "resource.customizations.health.levee.dev_Decision",
      "resource.customizations.health.levee.dev_NetworkReadiness",
      "resource.customizations.useOpenLibs.k8s.cni.cncf.io_NetworkAttachmentDefinition",
      "url",
    ]);
  });

  test("apps/cdi is filled by levee vendor, and kustomize gives the verbatim files their waves", async () => {
    await using upstream = await serveFiles("http", {
      "/v1.0.0/operator.yaml": cdiOperator,
      "/v1.0.0/cr.yaml": cdiResource,
    });
    expect(run("kubectl", "kustomize", "apps/cdi").text).toContain("cdi-operator.yaml");
    for (const [page, name] of [
      ["operator", "cdi-operator"],
      ["cr", "cdi-cr"],
    ])
      await leveeBeside("vendor", "add", `${upstream.url}/v1.0.0/${page}.yaml`, "--as", `apps/cdi/${name}.yaml`);
    expect(readFileSync(join(folder, "apps/cdi/cdi-operator.yaml"), "utf8")).toEndWith(cdiOperator);
    expect(must("levee", "vendor", "verify")).toContain("apps/cdi/cdi-cr.yaml");
    const objects = objectsOf("apps/cdi");
    expect(objects.map(({ kind, metadata }) => [kind, metadata.annotations?.[waveKey]]).toSorted()).toEqual([
      ["CDI", "1"],
      ["CustomResourceDefinition", "-2"],
      ["Deployment", undefined],
      ["Namespace", "-1"],
    ]);
    const definition = objects.find(({ kind }) => kind === "CustomResourceDefinition");
    expect(definition?.metadata.annotations).toMatchObject({
      "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
      "example.com/made-by": "its authors",
    });
    expect(await applyInWaves(objects)).toEqual([]);
    expect(server.must(["get", "cdis.cdi.kubevirt.io", "-o", "name"]).trim()).toBe("cdi.cdi.kubevirt.io/cdi");
  }, 120_000);

  test("its hooks refuse a commit of a changed vendored file, and one that drops nearly every file", () => {
    must("git", "init", "-q", "-b", "main");
    must("git", "config", "core.hooksPath", "hooks");
    must("git", "add", "-A");
    must("git", "commit", "-q", "-m", "Everything that runs here");
    const path = join(folder, "apps/cdi/cdi-operator.yaml");
    const verbatim = readFileSync(path, "utf8");
    writeFileSync(path, verbatim.replace("replicas: 1", "replicas: 2"));
    const changed = run("git", "commit", "-q", "-a", "-m", "Two are better");
    expect(changed.status).not.toBe(0);
    expect(changed.text).toContain("apps/cdi/cdi-operator.yaml has other bytes than its source");
    writeFileSync(path, verbatim);
    must("git", "rm", "-q", "-r", "--cached", "apps/levee", "apps/monitoring", "argocd");
    const dropped = run("git", "commit", "-q", "-m", "Tidy up");
    expect(dropped.status).not.toBe(0);
    expect(dropped.text).toContain("may be deleted without a declaration (mass-delete)");
  });
});

/** The server of files runs in this process, so the command must not block it. */
async function leveeBeside(...args: readonly string[]): Promise<void> {
  const child = Bun.spawn([join(home, "levee"), ...args], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const text = await new Response(child.stderr).text();
  expect([await child.exited, text]).toEqual([0, ""]);
}
