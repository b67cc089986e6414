/** `levee migrate --check` on a real API server: what kubectl and the server themselves leave on Multus' DaemonSet. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needsServer } from "./needs-server.ts";
import { adminToken, PolicyServer } from "./policy-server.ts";
import { releaseText } from "./shipped/release-text.ts";

const root = join(import.meta.dir, "../..");
const multus = join(root, "src/cli/move-in/migrate/fixtures/multus-v4.2.2.yaml");
const daemonSet = ["-n", "kube-system", "daemonset/kube-multus-ds"];
const { group } = needsServer("migrate-check");

group("levee migrate --check", () => {
  test("tells how Multus came into the cluster, what was changed since, and that it is moved", async () => {
    const folder = await mkdtemp(join(tmpdir(), "levee-migrate-check-"));
    const server = await PolicyServer.start();
    try {
      const check = checkWith(await writeKubeconfig(folder, server));

      server.must(["create", "-f", multus]);
      expect(check()).toContain("✗ DaemonSet kube-system/kube-multus-ds: it was not made with kubectl apply");
      server.must(["apply", "set-last-applied", "--create-annotation", "-f", multus]);
      expect(check()).not.toContain("kubectl apply");

      server.must(["apply", "-f", multus]);
      server.must(["rollout", "restart", ...daemonSet]);
      expect(check()).not.toContain("kubectl apply");
      const patch = '[{"op":"add","path":"/spec/template/spec/containers/0/args","value":["-x"]}]';
      server.must(["patch", ...daemonSet, "--type=json", "-p", patch]);
      expect(check()).toContain(
        "! DaemonSet kube-system/kube-multus-ds: kubectl-patch changed it beside kubectl apply",
      );

      server.must(["delete", ...daemonSet]);
      server.must(["apply", "--server-side", "--field-manager=gitops", "--force-conflicts", "-f", multus]);
      expect(check()).toContain("it was made by server-side apply of gitops");

      server.must(["delete", ...daemonSet]);
      server.must(["apply", "-f", "-"], releaseText("multus-drop-in.yaml").replaceAll("1".repeat(64), "0".repeat(64)));
      const moved = check();
      expect(moved).toContain("✓ DaemonSet kube-system/kube-multus-ds: it is Levee already");
      expect(moved).toContain("its image is the placeholder of the repository");
      expect(moved).not.toContain("other users of Multus");
    } finally {
      await server.stop();
      await rm(folder, { recursive: true });
    }
  }, 300_000);
});

/** What the command prints, errors included. */
function checkWith(kubeconfig: string): () => string {
  const args = ["migrate", "--check", "--kubeconfig", kubeconfig, "--drop-in", multus];
  return () => {
    const { stdout, stderr } = spawnSync(join(root, "dist/levee"), args, { encoding: "utf8" });
    return stdout + stderr;
  };
}

async function writeKubeconfig(folder: string, server: PolicyServer): Promise<string> {
  const path = join(folder, "kubeconfig");
  const config = {
    "current-context": "main",
    "contexts": [{ name: "main", context: { cluster: "c", user: "u" } }],
    "clusters": [{ name: "c", cluster: { "server": server.url, "certificate-authority": server.caFile } }],
    "users": [{ name: "u", user: { token: adminToken } }],
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
