import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, refuse, ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { fullDecision } from "../../../test/guard/full-decision.ts";
import { fakeShell, type FakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-console-test-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Without a home, a kubeconfig and a daemon. */
function shellOf(...argv: readonly string[]): FakeShell {
  return fakeShell({
    argv: ["--socket-dir", join(folder, "none"), "console", "--no-open", ...argv],
    env: { HOME: folder },
  });
}

async function failure(...argv: readonly string[]): Promise<{ status: number; err: string }> {
  const shell = shellOf(...argv);
  return { status: await runCli(shell), err: shell.stderr.text };
}

function kubeconfig(server: string, name = "kubeconfig"): string {
  const path = join(folder, name);
  const config = {
    "current-context": "lab",
    "contexts": [{ name: "lab", context: { cluster: "lab", user: "me" } }],
    "clusters": [{ name: "lab", cluster: { server } }],
    "users": [{ name: "me", user: { token: "t" } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** An API server with one Decision and nothing else; watches stay open. */
function apiServer(): Promise<ScriptedServer> {
  return ScriptedServer.listen(({ url, method }, response) => {
    if (url.pathname === "/version") return answer(response, { gitVersion: "v1.34.5" });
    if (method === "POST" && url.pathname.endsWith("selfsubjectreviews"))
      return answer(response, { status: { userInfo: { username: "alice" } } });
    if (method === "POST") return answer(response, { status: { allowed: false, reason: "no role" } });
    if (url.searchParams.has("sendInitialEvents")) return refuse(response, 422, "Invalid");
    if (url.searchParams.get("watch") !== null) return response.writeHead(200).flushHeaders();
    const items = url.pathname.endsWith("/decisions")
      ? [{ ...fullDecision("q"), apiVersion: "levee.dev/v1alpha1" }]
      : [];
    answer(response, { metadata: { resourceVersion: "1" }, items });
  });
}

describe("levee console says in one line what is wrong and what to try", () => {
  test("without a cluster and without a daemon", async () => {
    const { status, err } = await failure();
    expect(status).toBe(2);
    expect(err).toMatch(
      /^Error: Cannot find a cluster: .* and no daemon listens on .*\n {2}try: --kubeconfig FILE, or levee demo/u,
    );
  });

  test.each([
    [["--kubeconfig", "/nowhere"], 3, "Cannot read the kubeconfig /nowhere", "kubectl config get-contexts"],
    [["--node"], 1, "no daemon listens", "levee demo"],
    [["--port", "80808"], 2, "--port", "--port 8080"],
    [["--listen", "0.0.0.0"], 2, "answers this machine only", "--in-cluster"],
    [["--host", "x"], 2, "Cannot use --host without --in-cluster", "levee console --in-cluster"],
    [["--in-cluster", "--export", "x"], 2, "Cannot use --in-cluster and --export together", "levee console"],
  ])("with %o", async (argv, status, message, remedy) => {
    const seen = await failure(...argv);
    expect(seen.err).toContain(message);
    expect(seen.err).toContain(remedy);
    expect(seen.err.trim().split("\n").length).toBe(2);
    expect(seen.status).toBe(status);
  });

  test("with a context that is not there, and a server that does not answer", async () => {
    const file = kubeconfig("http://127.0.0.1:1");
    expect(await failure("--kubeconfig", file, "--context", "prod")).toMatchObject({
      status: 3,
      err: expect.stringMatching(
        /contexts must have an entry of that name \(there is lab\).*\n {2}try: kubectl config/u,
      ),
    });
    const away = await failure("--kubeconfig", file);
    expect(away.status).toBe(3);
    expect(away.err).toContain("api-unreachable");
    expect(away.err).toContain("try: kubectl get nodes");
  });

  test("with a port that another program has", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port)),
    );
    const server = await apiServer();
    const { status, err } = await failure("--kubeconfig", kubeconfig(server.url), "--port", String(port));
    expect(status).toBe(1);
    expect(err).toContain(
      `Cannot listen on 127.0.0.1:${port}: another program has the port (port-taken)\n  try: another --port`,
    );
    await server.close();
    other.close();
  });
});

describe("levee console", () => {
  test("serves under a random token on loopback until Ctrl-C, and ends well", async () => {
    const server = await apiServer();
    const shell = shellOf("--kubeconfig", kubeconfig(server.url));
    const ended = runCli(shell);
    const url = await urlOf(shell);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{27}\/$/u);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(new URL("/", url))).status).toBe(401);
    expect((await fetch(`${url}explain/Paused`)).status).toBe(200);
    shell.interrupt();
    expect(await ended).toBe(0);
    expect(shell.stderr.text).toContain("requests that were refused: 1 × wrong-token");
    expect(await fetch(url).catch(() => "refused")).toBe("refused");
    await server.close();
  });

  test("--export writes one file without scripts, and exits", async () => {
    const server = await apiServer();
    const file = join(folder, "decisions-waiting.html");
    const shell = shellOf("--kubeconfig", kubeconfig(server.url), "--export", file);
    expect(await runCli(shell)).toBe(0);
    const page = readFileSync(file, "utf8");
    expect(page).toContain("levee decisions approve q");
    expect(page).toContain("seen by alice");
    expect(page).not.toContain("<script");
    const nowhere = await failure("--kubeconfig", kubeconfig(server.url), "--export", "/nowhere/x.html");
    expect(nowhere.err).toContain("Cannot write /nowhere/x.html: ENOENT");
    await server.close();
  });
});

async function urlOf(shell: FakeShell): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const [url] = /http:\S+/u.exec(shell.stdout.text) ?? [];
    if (url !== undefined) return url;
    await Bun.sleep(10);
  }
  throw new Error(`no address was printed: ${shell.stderr.text}`);
}
