/** `levee check` and `levee status` on a real API server: what is well, what is not, and who may not look. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { isRefusable } from "../../src/cli/cluster/refusable-pod.ts";
import { makePod, podBody, startGuardServer, untilAnswer, type ShortPod } from "./guard/guard-server.ts";
import { mergePatch, personTokens, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";

const { group, beforeAll, afterAll } = needsServer("guard-check");

const program = join(import.meta.dir, "../../src/main.ts");

interface Report {
  readonly success: boolean;
  readonly categories: readonly { readonly name: string; readonly checks: readonly Check[] }[];
}

interface Check {
  readonly code: string;
  readonly result: "success" | "warning" | "error";
  readonly detail?: string;
  readonly error?: string;
  readonly evidence: Readonly<Record<string, string>>;
}

let server: PolicyServer;
let login: string;

beforeAll(async () => {
  server = await startGuardServer();
  login = await server.kubeconfig();
  for (const node of ["n1", "n2"]) {
    server.must(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: node } }));
    await patchStatus(`/api/v1/nodes/${node}`, { conditions: [{ type: "Ready", status: "True" }] });
  }
  server.must(["create", "namespace", "fc-desktop"]);
  server.must(["apply", "-f", "-"], JSON.stringify(multus()));
  await patchStatus(daemonSetPath, {
    desiredNumberScheduled: 2,
    numberReady: 2,
    currentNumberScheduled: 2,
    numberMisscheduled: 0,
  });
}, 180_000);

afterAll(async () => {
  await server.stop();
});

async function patchStatus(path: string, status: object): Promise<void> {
  const answer = await server.ask({ method: "PATCH", path: `${path}/status`, type: mergePatch, body: { status } });
  if (answer.code !== 200) throw new Error(answer.text);
}

function levee(...argv: readonly string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv, "--kubeconfig", login], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  return { status, out: stdout, err: stderr };
}

function checks(): ReadonlyMap<string, Check> {
  const { out } = levee("check", "-o", "json");
  const report = JSON.parse(out) as Report;
  return new Map(report.categories.flatMap((category) => category.checks.map((check) => [check.code, check])));
}

async function makeKilledDaemon(): Promise<void> {
  const uid = server.must([
    "-n",
    "kube-system",
    "get",
    "daemonset",
    "kube-multus-ds",
    "-o",
    "jsonpath={.metadata.uid}",
  ]);
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "kube-multus-ds", uid, controller: true };
  const finishedAt = new Date(Date.now() - 30_000).toISOString();
  const last = { terminated: { reason: "OOMKilled", exitCode: 137, finishedAt, startedAt: finishedAt } };
  const container = {
    name: "main",
    ready: false,
    restartCount: 276,
    image: "x",
    imageID: "x",
    state: {},
    lastState: last,
  };
  await makePod(
    server,
    { name: "kube-multus-ds-a", namespace: "kube-system", node: "n1", owners: [owner] },
    { phase: "Running", containerStatuses: [container] },
  );
}

group("levee check", () => {
  test("with everything as shipped the definitions and policies are √, and what is missing is told", () => {
    const found = checks();
    for (const code of [
      "LVE0101",
      "LVE0102",
      "LVE0103",
      "LVE0201",
      "LVE0202",
      "LVE0203",
      "LVE0304",
      "LVE0305",
      "LVE0306",
    ])
      expect(`${code} ${found.get(code)?.result}`).toBe(`${code} success`);
    expect(found.get("LVE0306")?.detail).toBe("group sre");
    // The Deployment exists, but no controller makes its pods, so no guard leads.
    expect(found.get("LVE0301")).toMatchObject({ result: "error", error: "0 of 2 replicas available" });
    expect(found.get("LVE0302")).toMatchObject({ result: "error" });
    expect(found.get("LVE0401")).toMatchObject({
      result: "success",
      evidence: { "kube-system/kube-multus-ds": "Multus, 2 of 2 ready" },
    });
  });

  test("a policy that was changed, one that is gone and a definition without its rules are ×", async () => {
    const policy = "validatingadmissionpolicy/levee-guard-changes-memory-only";
    server.must(["patch", policy, "--type=merge", "-p", '{"spec":{"failurePolicy":"Ignore"}}']);
    server.must(["delete", "validatingadmissionpolicybinding", "levee-pods-need-a-controller-owner-deny"]);
    const root = "/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations";
    const remove = JSON.stringify([{ op: "remove", path: root }]);
    server.must(["patch", "crd", "decisions.levee.dev", "--type=json", "-p", remove]);
    const found = checks();
    expect(found.get("LVE0202")?.evidence).toEqual({
      "ValidatingAdmissionPolicy levee-guard-changes-memory-only": "is not as shipped",
    });
    expect(found.get("LVE0203")?.evidence).toEqual({
      "ValidatingAdmissionPolicyBinding levee-pods-need-a-controller-owner-deny": "is not installed",
    });
    expect(found.get("LVE0201")?.evidence).toEqual({ "decisions.levee.dev": "is not as shipped" });
    const deploy = join(import.meta.dir, "../../deploy");
    server.must(["apply", "-k", join(deploy, "crd")]);
    server.must(["apply", "-k", join(deploy, "policies")]);
    for (const code of ["LVE0201", "LVE0202", "LVE0203"]) expect(checks().get(code)?.result).toBe("success");
  });

  test("a backlog, an avalanche and a killed daemon are named by namespace, client and node; status has them on a screen", async () => {
    const old = new Date(Date.now() - 600_000).toISOString();
    const status = {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: old }],
    };
    for (let index = 0; index < 25; index += 1)
      await makePod(server, { name: `rd-${index}`, namespace: "fc-desktop", node: "n1" }, status);
    await makePod(server, {
      name: "said-why",
      namespace: "fc-desktop",
      annotations: { "levee.dev/ownerless-reason": "x" },
    });
    await makeKilledDaemon();
    const found = checks();
    expect(found.get("LVE0601")).toMatchObject({ result: "warning" });
    expect(found.get("LVE0603")).toMatchObject({ result: "error", error: "1 avalanche" });
    expect(Object.values(found.get("LVE0603")?.evidence ?? {}).join("\n")).toMatch(/^25 pods on 1 node, client says/u);
    expect(found.get("LVE0602")?.evidence["fc-desktop"]).toStartWith("25 pods: 25 of a client that says ");
    expect(found.get("LVE0604")?.evidence["fc-desktop"]).toStartWith("25 pods: ");
    expect(found.get("LVE0604")?.detail).toContain("which a pod does not show");
    expect(found.get("LVE0403")?.evidence).toEqual({
      "kube-system/kube-multus-ds-a on n1": expect.stringMatching(/^killed \d+s ago, 276 restarts$/u),
    });
    const screen = levee("status");
    expect(screen.status).toBe(1);
    expect(screen.out).toContain("fc-desktop: an avalanche of 25 ownerless pods on 1 node");
    expect(screen.out).toContain("n1: its CNI daemon was killed for memory, 25 pods not starting");
    expect(screen.out).toContain("no guard leads");
    expect(screen.out.split("\n").length).toBeLessThan(40);
    const json = JSON.parse(levee("status", "-o", "json").out) as { backlog: object; failed: object };
    expect(json.backlog).toEqual({ "fc-desktop": 25 });
    expect(json.failed).toHaveProperty("LVE0603");
  });
});

group("levee check and its exit codes", () => {
  test("what Deny would refuse is what the policy refuses", async () => {
    const user = "system:serviceaccount:deny-here:operator";
    server.must(["create", "namespace", "deny-here"]);
    server.must(["label", "namespace", "deny-here", "levee.dev/ownerless-pods=deny"]);
    server.must([
      "-n",
      "deny-here",
      "create",
      "rolebinding",
      "operator",
      "--clusterrole=cluster-admin",
      `--user=${user}`,
    ]);
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "5" };
    const cases: readonly Omit<ShortPod, "name">[] = [
      {},
      { owners: [owner] },
      { owners: [{ ...owner, controller: true }] },
      { annotations: { "levee.dev/ownerless-reason": "a debugger" } },
      { annotations: { "levee.dev/ownerless-reason": "" } },
      { annotations: { "helm.sh/hook": "test" } },
    ];
    const path = "/api/v1/namespaces/deny-here/pods?dryRun=All";
    // The label counts once the policy's binding has seen it.
    const plain = { method: "POST", path, body: podBody({ name: "p", namespace: "deny-here" }), as: { user } } as const;
    await untilAnswer(server, plain, ({ code }) => code === 422);
    for (const one of cases) {
      const body = podBody({ ...one, name: "p", namespace: "deny-here" });
      const { code } = await server.ask({ ...plain, body });
      expect(`${JSON.stringify(one)} ${code === 422}`).toBe(`${JSON.stringify(one)} ${isRefusable(body)}`);
    }
  });

  test("the table ends as linkerd's does, -o short has only what asks for something, and no colour without a terminal", () => {
    const table = levee("check");
    expect(table.status).toBe(1);
    expect(table.out).toStartWith("kubernetes-api\n--------------\n√ the API server answers: v1.34.5\n");
    expect(table.out).toMatch(/\nStatus check results are ×   \d+ passed, \d+ warnings?, \d+ failed\n$/u);
    expect(table.out).not.toContain("\u001b");
    const short = levee("check", "-o", "short").out.trim().split("\n");
    for (const line of short.slice(0, -1)) expect(line).toMatch(/^[‼×] .* LVE\d{4}$/u);
  });

  test("--wait ends as soon as it is well, and when its time is over", () => {
    const began = performance.now();
    const { status } = levee("check", "--wait", "--timeout", "1s");
    expect(status).toBe(1);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(levee("check", "--fail-on", "never").status).toBe(2);
  });

  test("a user without rights and a server that cannot be reached: 3", async () => {
    const admin = login;
    login = await server.kubeconfig(personTokens.bob);
    expect(levee("check").status).toBe(3);
    expect(levee("status").status).toBe(3);
    login = await server.kubeconfig("no-such-token");
    expect(levee("check").status).toBe(3);
    const away = `${admin}.away`;
    await Bun.write(away, (await Bun.file(admin).text()).replaceAll(server.url, "https://127.0.0.1:1"));
    login = away;
    expect(levee("check")).toMatchObject({
      status: 3,
      out: expect.stringContaining("× the API server answers: Cannot"),
    });
    expect(levee("status").status).toBe(3);
    login = admin;
  });
});

const daemonSetPath = "/apis/apps/v1/namespaces/kube-system/daemonsets/kube-multus-ds";

function multus(): object {
  const labels = { name: "multus" };
  const limits = { memory: "50Mi" };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "kube-multus-ds", namespace: "kube-system" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "kube-multus", image: "example.com/none", resources: { limits } }] },
      },
    },
  };
}
