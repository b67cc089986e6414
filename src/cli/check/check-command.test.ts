import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScriptedServer, type Script } from "../../kube/client/scripted-server.fixture.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import { encodeFrame, textField } from "../../wire/frame.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { aNode, someChecks } from "./check-answers.fixture.ts";

let folder: string;
let server: Server | undefined;
let cluster: ScriptedServer | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-check-"));
});
afterEach(async () => {
  server?.close();
  await cluster?.close();
  [server, cluster] = [undefined, undefined];
  rmSync(folder, { recursive: true });
});

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const env = { LEVEE_SOCKET_DIR: folder, LEVEE_STATE_DIR: join(folder, "state"), LEVEE_SHIM: join(folder, "shim") };
  const shell = fakeShell({ argv: ["check", "node", ...argv], env });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

/** A daemon that answers from the table, and does not understand what is not in it. */
async function daemon(answers: Readonly<Record<string, unknown>>): Promise<void> {
  server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) {
        const { ask } = JSON.parse(textField(frame, "question") ?? "{}") as { ask: string };
        const answer = answers[ask];
        const error = { code: "decode-failed", message: "Cannot understand the question" };
        const reply = answer === undefined ? { error } : { answer };
        socket.write(encodeFrame("ANSWER", [["answer", JSON.stringify(reply)]]));
      }
    });
  });
  await new Promise<void>((resolve) => void server?.listen(join(folder, "levee.sock"), resolve));
}

async function apiServer(script: Script): Promise<string> {
  cluster = await ScriptedServer.listen(script);
  const path = join(folder, "kubeconfig");
  writeFileSync(
    path,
    `current-context: main
contexts: [{name: main, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "${cluster.url}"}}]
users: [{name: u, user: {token: t}}]
`,
  );
  return path;
}

describe("levee check node", () => {
  test("asks this node's daemon and ends well when nothing fails", async () => {
    await daemon({ node: aNode(), checks: someChecks() });
    const { status, out } = await levee();
    expect(status).toBe(0);
    expect(out).toStartWith("worker-1\n  daemon\n    √ daemon: answers");
    expect(out).toEndWith("\n√ 4 checks: 0 failed, 0 warnings\n");
  });

  test("prints JSON, and fails when a check fails", async () => {
    const checks = [{ name: "canary", state: "failed", detail: "no loopback", hint: "install it" }] as const;
    await daemon({ node: aNode(), checks: someChecks({ checks }) });
    const { status, out, err } = await levee("-o", "json");
    expect(status).toBe(1);
    const value = JSON.parse(out) as { isGood: boolean; nodes: { sections: { title: string }[] }[] };
    expect(value.isGood).toBe(false);
    expect(value.nodes[0]?.sections.map(({ title }) => title)).toEqual(["daemon", "hand"]);
    expect(err).toBe("Error: The node is not ready: see the lines marked × (check-failed)\n");
  });

  test("goes on with a daemon that does not know the question", async () => {
    await daemon({ node: aNode() });
    expect((await levee()).out).toContain("‼ checks: the daemon is too old");
  });

  test("says that no daemon answers, and what the disk holds", async () => {
    const { status, out } = await levee();
    expect(status).toBe(1);
    expect(out).toContain("× daemon: does not answer: Cannot ask the daemon on");
    expect(out).toContain(`‼ journal: there is none in ${join(folder, "state")}`);
    mkdirSync(join(folder, "state", "journal.log"), { recursive: true });
    expect((await levee()).out).toContain("× journal: ");
  });

  test("asks every node of the cluster through the API server, and says where a network is not ready", async () => {
    const lacking = { network: "prod/vlan57", state: "not-ready", reasons: ["missing host bridge br-prod"] } as const;
    const kubeconfig = await apiServer(({ url }, response) => {
      if (url.pathname === "/api/v1/nodes") {
        const isFirst = !url.searchParams.has("continue");
        const names = isFirst ? ["worker-2", "worker-1"] : ["worker-3"];
        const windows = { metadata: { name: "win", labels: { "kubernetes.io/os": "windows" } } };
        const items = [...names.map((name) => ({ metadata: { name } })), windows];
        response.end(JSON.stringify({ metadata: isFirst ? { continue: "more" } : {}, items }));
        return;
      }
      const node = /^\/api\/v1\/nodes\/http:(.+):9810\/proxy\/nodez$/u.exec(decodeURIComponent(url.pathname))?.[1];
      if (node === "worker-3") {
        response.writeHead(503).end("error trying to reach service: connection refused");
        return;
      }
      const networks = [node === "worker-2" ? lacking : { ...lacking, state: "ready" as const, reasons: [] }];
      response.end(JSON.stringify({ node: aNode(), checks: someChecks({ networks, networksTotal: 1 }) }));
    });
    const { status, out, err } = await levee("--all", "--kubeconfig", kubeconfig);
    expect(status).toBe(1);
    expect(out).toContain("worker-1\n  √ all is well\n\nworker-2\n  networks\n    × prod/vlan57: not ready");
    expect(out).toContain("worker-3\n  daemon\n    × daemon: does not answer: ");
    expect(out).toMatch(/NETWORK {7}worker-1 {3}worker-2 {4}worker-3\nprod\/vlan57 {3}ready {6}not-ready {3}-\n/u);
    expect(out).toContain("× prod/vlan57 on worker-2: missing host bridge br-prod\n");
    expect(err).toContain("2 of 3 nodes are not ready");
  });

  test("does not blame the daemon's port for a login that has ended", async () => {
    const kubeconfig = await apiServer((_request, response) => void response.writeHead(401).end("{}"));
    const { out } = await levee("worker-9", "--kubeconfig", kubeconfig);
    expect(out).toContain("hint: log in again");
    expect(out).not.toContain("metricsPort");
  });

  test("asks nodes by name and port, and tells what is no daemon of ours", async () => {
    const kubeconfig = await apiServer((_request, response) => void response.end("<html>"));
    const { out } = await levee("worker-9", "--metrics-port", "9999", "--kubeconfig", kubeconfig);
    expect(cluster?.paths()).toEqual(["/api/v1/nodes/http:worker-9:9999/proxy/nodez"]);
    expect(out).toContain("the program on that port is not Levee's daemon");
  });

  test.each([
    [["--all", "worker-1"], "Cannot use node names together with --all"],
    [["worker-1", "--metrics-port", "0"], "Cannot use --metrics-port"],
  ])("refuses %j", async (argv, message) => {
    const kubeconfig = await apiServer((_request, response) => void response.end("{}"));
    const { status, err } = await levee(...argv, "--kubeconfig", kubeconfig);
    expect(status).toBe(2);
    expect(err).toContain(message);
  });
});

describe("levee check network", () => {
  test("passes a network in doubt, and fails it with --fail-on warning", async () => {
    const reasons = ["host address 10.1.0.9 of br0 is in the network's range"];
    const networks = [{ network: "prod/lan", state: "ready", reasons }] as const;
    const kubeconfig = await apiServer(({ url }, response) => {
      const nodes = { metadata: {}, items: [{ metadata: { name: "worker-1" } }] };
      const said = { node: aNode(), checks: someChecks({ networks, networksTotal: 1 }) };
      response.end(JSON.stringify(url.pathname === "/api/v1/nodes" ? nodes : said));
    });
    const check = async (...more: readonly string[]): Promise<{ status: number; out: string; err: string }> => {
      const argv = ["check", "network", "prod/lan", "--all", "--kubeconfig", kubeconfig, ...more];
      const shell = fakeShell({ argv });
      return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
    };
    expect((await check()).status).toBe(0);
    expect((await check("--fail-on", "error")).status).toBe(0);
    const { status, out, err } = await check("--fail-on", "warning");
    expect(status).toBe(1);
    expect(out).toContain("→ exclude the host's address from the network's range");
    expect(err).toBe("Error: The network is not ready or is in doubt on 1 of 1 node (check-failed)\n");
    expect(JSON.parse((await check("--fail-on", "warning", "-o", "json")).out)).toMatchObject({ isGood: false });
    expect((await check("--fail-on", "never")).status).toBe(2);
    expect((await check("--wait")).status).toBe(2);
  });
});
