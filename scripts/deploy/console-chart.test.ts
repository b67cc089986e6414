import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import { builtHelm } from "../../test/peers/helm.ts";

const helm = builtHelm();
const chart = join(resolve(import.meta.dirname, "../.."), "deploy/helm/levee");

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly ingress?: unknown;
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}

function rendered(...values: readonly string[]): { readonly objects: readonly Rendered[]; readonly stderr: string } {
  const args = ["template", "levee", chart, "-n", "levee-system", "--kube-version=1.34.5"];
  const fixed = [`--set=image.digest=sha256:${"1".repeat(64)}`];
  const { stdout, stderr } = spawnSync(helm ?? "", [...args, ...fixed, ...values], { encoding: "utf8" });
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Rendered | null); // Helm's own output
  return { objects: objects.flatMap((object) => object ?? []), stderr };
}

function ofConsole({ objects }: { readonly objects: readonly Rendered[] }): readonly Rendered[] {
  return objects.filter(({ metadata }) => metadata.name.startsWith("levee-console"));
}

describe.skipIf(helm === undefined)("the chart's console", () => {
  test("is off unless it is asked for", () => {
    expect(ofConsole(rendered("--set=guard.enabled=true"))).toEqual([]);
  });

  test("answers on loopback, and its NetworkPolicy lets nobody in", () => {
    const made = ofConsole(rendered("--set=guard.enabled=true", "--set=console.enabled=true"));
    const one = (kind: string): Rendered | undefined => made.find((object) => object.kind === kind);
    expect(made.map(({ kind }) => kind).toSorted()).toEqual([
      "ClusterRoleBinding",
      "ClusterRoleBinding",
      "Deployment",
      "NetworkPolicy",
      "ServiceAccount",
    ]);
    expect(one("NetworkPolicy")?.spec.ingress).toBeUndefined();
    const args = ["--namespace=levee-system", "--listen=127.0.0.1"];
    expect(one("Deployment")?.spec.template.spec.containers[0]?.args).toEqual(args);
  });

  test("lets in whom the values name, by the names they give", () => {
    const peers = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }];
    const made = ofConsole(
      rendered(
        ...["--set=guard.enabled=true", "--set=console.enabled=true", "--set=console.listen=0.0.0.0"],
        ...["--set=console.hosts={levee.example}", "--set=console.tokenHeader=X-Forwarded-Access-Token"],
        `--set-json=console.ingressFrom=${JSON.stringify(peers)}`,
      ),
    );
    const policy = made.find(({ kind }) => kind === "NetworkPolicy");
    expect(policy?.spec.ingress).toEqual([{ from: peers, ports: [{ port: 9812 }] }]);
    const deployment = made.find(({ kind }) => kind === "Deployment");
    expect(deployment?.spec.template.spec.containers[0]?.args.slice(1)).toEqual([
      "--listen=0.0.0.0",
      "--host=levee.example",
      "--token-header=X-Forwarded-Access-Token",
    ]);
  });

  test("needs the guard's roles", () => {
    expect(rendered("--set=guard.enabled=false", "--set=console.enabled=true").stderr).toContain("needs guard.enabled");
  });
});
