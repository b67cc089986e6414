import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timeText } from "../../guard/json-values.ts";
import { ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { candidates } from "../completion/candidates.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { buildProgram } from "../program.ts";
import type { Terminal } from "../shell.ts";
import { parseMatch, parseUntil } from "./person-words.ts";
import { gateWords } from "./reboot-backlog.ts";

const api = "/apis/levee.dev/v1alpha1";
const home = `${api}/namespaces/levee-system`;

interface Written {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

let server: ScriptedServer;
let dir: string;
let gates: Record<string, unknown>[];
let exceptions: Record<string, unknown>[];
let hasDefinitions: boolean;
let written: Written[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "levee-gate-"));
  gates = [gate("k8s-node2", { rebootRequiredSince: ago(60), verdict: "Allow" }), gate("k8s-master", seed)];
  exceptions = [];
  hasDefinitions = true;
  written = [];
  server = await ScriptedServer.listen(({ method, url, body }, response) => {
    const answer = answerTo(method, url.pathname, body);
    response.writeHead(answer.code, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  });
  writeFileSync(
    join(dir, "kubeconfig"),
    `current-context: main
contexts: [{name: main, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "${server.url}"}}]
users: [{name: u, user: {token: t}}]
`,
  );
});

afterEach(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

function ago(seconds: number): string {
  return timeText(Date.now() - seconds * 1_000);
}

function alert(name: string, remedy: string): object {
  return { code: "FiringAlert", message: `${name} fires`, since: ago(3_600), object: `Alert/${name}`, remedy };
}

const seed = {
  verdict: "Deny",
  rebootRequiredSince: ago(7 * 60 + 5),
  reasons: [
    alert("PVCStuckPending", "remove the PVC while hermes-agent is parked"),
    alert("ExternalAccessDivergence", "remove the external monitor"),
    alert("NodeFilesystemFull", "make room on /mnt/synology-backup, or make an exception for its labels"),
  ],
};

function gate(name: string, status: object): Record<string, unknown> {
  return {
    metadata: { name },
    status: { observedAt: ago(10), expiresAt: ago(-110), reasons: [], exceptions: [], ...status },
  };
}

function answerTo(method: string, path: string, body: string): { code: number; body: unknown } {
  if (path.endsWith("/selfsubjectreviews")) return { code: 201, body: { status: { userInfo: { username: "alice" } } } };
  if (method !== "GET") return answerToWrite(method, path, body);
  if (path === "/api/v1/nodes/unseen") return { code: 403, body: { message: "forbidden" } };
  if (path === "/api/v1/nodes/quiet") return { code: 200, body: { metadata: { name: "quiet" } } };
  const list = (items: unknown[]): { code: number; body: unknown } =>
    hasDefinitions ? { code: 200, body: { metadata: { resourceVersion: "1" }, items } } : { code: 404, body: {} };
  if (path === `${api}/rebootgates`) return list(gates);
  if (path.endsWith("/rebootexceptions")) return list(path.startsWith(home) ? exceptions : []);
  const found = gates.find(({ metadata }) => path === `${api}/rebootgates/${(metadata as { name: string }).name}`);
  return found === undefined ? { code: 404, body: {} } : { code: 200, body: found };
}

function answerToWrite(method: string, path: string, body: string): { code: number; body: unknown } {
  const made: { metadata?: object } = body === "" ? {} : (JSON.parse(body) as { metadata?: object }); // what the command sent
  if (method === "POST" && !path.startsWith(home))
    return { code: 404, body: { message: 'namespaces "typo" not found' } };
  if (method === "POST" && !hasDefinitions) return { code: 404, body: {} };
  written.push({ method, path, body: made });
  if (method === "DELETE" && !path.endsWith("/ex-1")) return { code: 404, body: {} };
  return { code: 201, body: { ...made, metadata: { ...made.metadata, name: "made-1", namespace: "levee-system" } } };
}

interface End {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function levee(argv: readonly string[], typed?: string): Promise<End> {
  const shell = fakeShell({ argv: ["gate", ...argv, "--kubeconfig", join(dir, "kubeconfig")] });
  const terminal: Terminal = {
    size: () => ({ columns: 80, rows: 24 }),
    hold(listener) {
      queueMicrotask(() => listener.onKey(`${typed}\r`));
      return () => undefined;
    },
  };
  const status = await runCli({ ...shell, terminal: typed === undefined ? undefined : terminal });
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

describe("levee gate list", () => {
  test("answers which nodes wait, since when and what for; longest first", async () => {
    const { status, out } = await levee(["list"]);
    expect(status).toBe(0);
    expect(out).toMatch(
      /^NODE +VERDICT +DUE +REASONS\nk8s-master +Deny +7m\d*s? +FiringAlert ×3\nk8s-node2 +Allow +1m\d*s? +-\n$/u,
    );
    expect((await levee(["list", "-o", "wide"])).out).toContain(
      "Alert/PVCStuckPending, Alert/ExternalAccessDivergence",
    );
    expect((await levee(["list", "-o", "name"])).out).toStartWith("rebootgate.levee.dev/k8s-master\n");
    const json = JSON.parse((await levee(["list", "-o", "json"])).out) as { node: string; verdict: string }[];
    expect(json.map(({ node, verdict }) => [node, verdict])).toEqual([
      ["k8s-master", "Deny"],
      ["k8s-node2", "Allow"],
    ]);
  });

  test("shows an Allow that has expired as Deny, and says when nobody waits", async () => {
    gates = [gate("k8s-node2", { verdict: "Allow", observedAt: ago(200), expiresAt: ago(80) })];
    expect((await levee(["list"])).out).toMatch(/k8s-node2 +Deny +- +GateStale\n/u);
    gates = [];
    expect((await levee(["list"])).out).toBe("No node waits for a reboot\n");
    hasDefinitions = false;
    expect(await levee(["list"])).toMatchObject({ status: 1, err: expect.stringContaining("(gate-absent)") as string });
  });
});

describe("levee gate why", () => {
  test("names all three alerts of the seed and how to clear each", async () => {
    exceptions = [
      {
        metadata: { name: "ex-1", namespace: "levee-system", creationTimestamp: ago(60) },
        spec: { match: { alertname: "Watchdog" }, reason: "always on", until: ago(-86_401), by: { username: "bob" } },
      },
      {
        metadata: { name: "ex-0", namespace: "levee-system", creationTimestamp: ago(90) },
        spec: { match: { alertname: "Old" }, reason: "was so", until: ago(1), by: { username: "bob" } },
      },
    ];
    const { status, out } = await levee(["why", "k8s-master"]);
    expect(status).toBe(0);
    expect(out).toMatch(/^Deny: k8s-master may not be rebooted now \(3 reasons\)\nA reboot has been due for 7m/u);
    expect(out).toContain("1. FiringAlert: PVCStuckPending fires\n   object    Alert/PVCStuckPending\n   since     ");
    for (const remedy of ["remove the PVC", "remove the external monitor", "make room on /mnt/synology-backup"])
      expect(out).toContain(`   to clear  ${remedy}`);
    expect(out).toContain("   alertname=Watchdog, by bob, for another 1d: always on (ex-1)\n");
    expect(out).not.toContain("alertname=Old");
    expect(out).toEndWith("levee explain FiringAlert\n");
  });

  test("knows a node without a gate from one that does not exist, and refuses a name that is none", async () => {
    expect((await levee(["why", "quiet"])).out).toContain("1. GateAbsent: ");
    expect(await levee(["why", "nobody"])).toMatchObject({
      status: 1,
      err: expect.stringContaining("Cannot find the node nobody") as string,
    });
    expect((await levee(["why", "No_Node"])).status).toBe(2);
  });
});

test("levee gate why says that a node has no gate to a person who may not read nodes", async () => {
  const { status, out } = await levee(["why", "unseen"]);
  expect(status).toBe(0);
  expect(out).toContain("GateAbsent");
});

test("levee gate list and why say at once whose word opens a gate in spite of its reasons", async () => {
  const override = { by: "alice", name: "allow-reboot-1", reason: "kernel", until: ago(-1_800) };
  gates = [gate("k8s-master", { ...seed, verdict: "Allow", override })];
  expect((await levee(["list"])).out).toMatch(/k8s-master +Allow +\S+ +allowed by alice in spite of FiringAlert ×3\n/u);
  expect((await levee(["why", "k8s-master"])).out).toStartWith(
    "Allow: k8s-master may be rebooted now: alice allows it in spite of 3 reasons\n",
  );
});

test("levee gate list and levee status say whose exceptions let alerts pass, and until when", async () => {
  const until = "2099-06-01T00:00:00Z";
  const exceptions = [{ name: "x-1", by: "bob", reason: "the offsite mount", until }];
  gates = [gate("k8s-master", { ...seed, exceptions })];
  const { out } = await levee(["list"]);
  expect(out).toMatch(/k8s-master +Deny +\S+ +FiringAlert ×3; exception of bob until 2099-06-01T00:00:00Z\n/u);
  const waiting = { node: "k8s-master", sinceMs: 0, verdict: "Deny", reasons: "FiringAlert ×3" } as const;
  expect(gateWords({ ...waiting, exceptions: `exception of bob until ${until}` })).toBe(
    ", blocked by FiringAlert ×3, exception of bob until 2099-06-01T00:00:00Z",
  );
});

test("levee gate with options and no verb asks for a verb", async () => {
  expect(await levee([])).toMatchObject({
    status: 2,
    err: expect.stringContaining("Cannot run levee gate without a verb") as string,
  });
});

describe("levee gate except", () => {
  test("makes an exception with its labels, reason, end and the person's name", async () => {
    const labels = "alertname=NodeFilesystemFull,mountpoint=/mnt/a=b";
    const { status, out, err } = await levee(["except", labels, "--reason", "offsite", "--until", "14d"]);
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toContain("alice: alerts with alertname=NodeFilesystemFull,mountpoint=/mnt/a=b keep no node");
    expect(written).toMatchObject([
      {
        method: "POST",
        path: `${home}/rebootexceptions`,
        body: {
          kind: "RebootException",
          metadata: { generateName: "nodefilesystemfull-", namespace: "levee-system" },
          spec: {
            match: { alertname: "NodeFilesystemFull", mountpoint: "/mnt/a=b" },
            reason: "offsite",
            by: { username: "alice" },
          },
        },
      },
    ]);
  });

  test.each([
    [["except", "alertname=", "--reason", "r", "--until", "1d"], "alertname must have a value"],
    [["except", "alertname", "--reason", "r", "--until", "1d"], "alertname must have a value"],
    [["except", "a=1,a=2", "--reason", "r", "--until", "1d"], "a is there twice"],
    [["except", "9a=1", "--reason", "r", "--until", "1d"], "must begin with the name of a label"],
    [["except", "a=1", "--until", "1d"], "without --reason"],
    [["except", "a=1", "--reason", "r"], "without --until"],
    [["except", "a=1", "--reason", "r", "--until", "2020-01-01"], "it is over already"],
    [["except", "a=1", "--reason", "r", "--until", "400d"], "lasts 90d at most"],
    [["except", "a=1", "--reason", "r", "--until", "soon"], "it must be a day, a time with its zone, or a span"],
    [["except", "a=1", "--reason", "r", "--until", "14"], "a span with its unit, s, m, h or d"],
    [["except", 'a=~"x.*"', "--reason", "r", "--until", "1d"], "a is compared exactly, so =~ finds nothing"],
    [["except", 'a="x"', "--reason", "r", "--until", "1d"], "the quotes would belong to the value of a"],
    // The shell has split them. The first alone would let far more alerts pass.
    [["except", "a=1", "b=2", "--reason", "r", "--until", "1d"], "Too many arguments"],
    [["except"], "without labels"],
    [["except", "remove", "X"], "a name as levee gate except list shows it"],
    [["list", "k8s-master"], "Too many arguments"],
    [["why", "k8s-master", "k8s-node2"], "Too many arguments"],
    [["why", "K8S"], "a name as kubectl get nodes shows it"],
    [["why"], "levee gate why --help"],
    [["allow", "k8s-master", "k8s-node2", "--for", "30m", "--reason", "r"], "Too many arguments"],
    [["allow", "k8s-master", "--for", "30", "--reason", "r"], "a span with its unit, m or h"],
    [["allow", "k8s-master", "--reason", "r"], "without --for"],
    [["allow", "k8s-master", "--for", "5h", "--reason", "r"], "it must be from 1m to 4h"],
    [["allow", "k8s-master", "--for", "30m", "--reason", " "], "without --reason"],
    [["open", "k8s-master"], "the verbs are list, why, except, allow, check"],
  ])("%p is refused and changes nothing", async (argv, words) => {
    const { status, err } = await levee(argv);
    expect(status).toBe(2);
    expect(err).toContain(words);
    expect(err).toContain("\n  try: ");
    expect(written).toEqual([]);
  });

  test("says that the namespace or the definition is missing, instead of a bare 404", async () => {
    const words = ["except", "a=1", "--reason", "r", "--until", "1d"];
    const wrong = await levee([...words, "-n", "typo"]);
    expect([wrong.status, wrong.out]).toEqual([1, ""]);
    expect(wrong.err).toBe(
      "Error: Cannot make a RebootException: there is no namespace typo (namespace-unknown)\n  try: leave -n away for levee-system, or name the namespace in which the guard runs\n",
    );
    expect(
      (await levee(["allow", "k8s-master", "--for", "30m", "--reason", "r", "-n", "typo"], "k8s-master")).err,
    ).toContain("there is no namespace typo");
    hasDefinitions = false;
    expect((await levee(words)).err).toContain("try: kubectl apply -f crds.yaml of the release");
    expect(written).toEqual([]);
  });

  test("lists exceptions, and removes one", async () => {
    expect((await levee(["except", "list"])).out).toBe("No exceptions in levee-system\n");
    exceptions = [
      {
        metadata: { name: "ex-1", namespace: "levee-system" },
        spec: { match: { a: "1" }, reason: "why", until: ago(1), by: { username: "bob" } },
      },
    ];
    expect((await levee(["except", "list"])).out).toMatch(/ex-1 +a=1 +bob +ended +why\n/u);
    expect((await levee(["except", "list", "-o", "wide"])).out).toMatch(/ex-1 +a=1/u);
    expect((await levee(["except", "list", "-o", "name"])).out).toBe("rebootexception.levee.dev/ex-1\n");
    expect((await levee(["except", "remove", "rebootexception.levee.dev/ex-1"])).out).toBe("Removed ex-1\n");
    expect(await levee(["except", "remove", "ex-2"])).toMatchObject({
      status: 1,
      err: expect.stringContaining("levee gate except list") as string,
    });
  });
});

describe("levee gate allow", () => {
  const words = ["allow", "k8s-master", "--for", "30m", "--reason", "kernel"];

  test("shows the reasons, asks for the node's name and writes the person's word", async () => {
    const { status, out } = await levee(words, "k8s-master");
    expect(status).toBe(0);
    expect(out).toContain("3. FiringAlert: NodeFilesystemFull fires");
    expect(out).toContain("alice allows a reboot of k8s-master for 30m");
    expect(written).toMatchObject([
      {
        path: `${home}/decisionapprovals`,
        body: { spec: { verdict: "Allow", gate: { node: "k8s-master" }, reason: "kernel", by: { username: "alice" } } },
      },
    ]);
  });

  test("writes nothing for another name, without a terminal, or when other reasons were read", async () => {
    expect((await levee(words, "k8s-node2")).status).toBe(4);
    const alone = await levee(words);
    expect(alone.status).toBe(4);
    const hash = /--reasons-hash (sha256:[0-9a-f]{64})/u.exec(alone.err)?.[1] ?? "";
    gates = [gate("k8s-master", { ...seed, reasons: [...seed.reasons, alert("More", "")] })];
    expect(await levee([...words, "--reasons-hash", hash])).toMatchObject({ status: 4 });
    expect(written).toEqual([]);
    gates = [gate("k8s-master", seed)];
    expect((await levee([...words, "--reasons-hash", hash, "-o", "name"])).out).toBe(
      "decisionapproval.levee.dev/made-1\n",
    );
    const json = JSON.parse((await levee([...words, "--reasons-hash", hash, "-o", "json"])).out) as { until: string };
    expect(json).toEqual({
      ...{ node: "k8s-master", name: "made-1", by: "alice", reason: "kernel" },
      until: expect.stringMatching(/^\d{4}-.*Z$/u),
    });
  });
});

describe("levee gate check", () => {
  /** As the shim answers. */
  async function check(script: string): Promise<End> {
    const shim = join(dir, "levee-shim");
    writeFileSync(shim, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const shell = fakeShell({ argv: ["gate", "check", "--shim", shim] });
    return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
  }

  test("says one line and ends with 0 or 1", async () => {
    expect(await check("echo 'Allow: nothing holds it'")).toEqual({
      ...{ status: 0, out: "Allow: nothing holds it\n", err: "" },
    });
    expect(await check("echo 'Deny: FiringAlert'; exit 1")).toEqual({
      ...{ status: 1, out: "Deny: FiringAlert\n", err: "" },
    });
  });

  test("denies with an error when the shim does not answer", async () => {
    const { status, err } = await check("exit 0");
    expect(status).toBe(1);
    expect(err).toContain("did not answer: it ended with 0");
  });
});

test("parseUntil takes a day, a time with its zone and a span; parseMatch keeps the order", () => {
  const nowMs = Date.parse("2026-05-30T03:40:00Z");
  expect(parseUntil("2026-06-30", nowMs)).toBe(Date.parse("2026-06-30T00:00:00Z"));
  expect(parseUntil("2026-05-30T06:00+02:00", nowMs)).toBe(nowMs + 20 * 60_000);
  expect(parseUntil("12h", nowMs)).toBe(nowMs + 43_200_000);
  expect(() => parseUntil("2026-02-31T00:00Z", nowMs)).toThrow();
  expect(Object.keys(parseMatch("b=1, a=2"))).toEqual(["b", "a"]);
});

test("Tab completes verbs, nodes and exceptions", async () => {
  const shell = fakeShell({ argv: [] });
  const tab = (...line: readonly string[]): Promise<readonly string[]> =>
    candidates(buildProgram(shell), [...line, ""], shell);
  expect(await tab("gate")).toEqual(["allow", "check", "except", "list", "why"]);
  const config = ["--kubeconfig", join(dir, "kubeconfig")];
  expect(await tab("gate", "why", ...config)).toEqual(["k8s-master", "k8s-node2"]);
});
