import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { objectOf } from "../../kube/client/json-fields.ts";
import { fullDecision } from "../../../test/guard/full-decision.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { apiStory } from "./api-story.ts";
import { hasScreen, openBrowser } from "./browser.ts";
import { consoleProblem } from "./console-problem.ts";
import { storyOf } from "./node-story.ts";
import { sayVerdict } from "./say-verdict.ts";
import { stormHistory } from "./storm-history.ts";

const { signal } = new AbortController();

/** Answers by path; what is not there is 404. */
class PathApi implements KubeApi {
  readonly asked: KubeRequest[] = [];
  readonly #answers: Readonly<Record<string, unknown>>;

  constructor(answers: Readonly<Record<string, unknown>>) {
    this.#answers = answers;
  }

  call(request: KubeRequest): Promise<string> {
    this.asked.push(request);
    const found = this.#answers[`${request.method} ${request.path.split("?")[0] ?? ""}`];
    if (found instanceof Error) return Promise.reject(found);
    if (found === undefined) return Promise.reject(new KubeError("api-refused", "not found", { status: 404 }));
    return Promise.resolve(JSON.stringify(found));
  }

  lines(): AsyncIterable<string> {
    throw new Error("nobody watches here");
  }
}

describe("sayVerdict", () => {
  const home = "/apis/levee.dev/v1alpha1/namespaces/levee-system";
  const decision = { ...fullDecision("q"), metadata: { name: "q", namespace: "levee-system", uid: "u1" } };
  const { planHash } = decision.spec;
  const word = { decision: "q", verdict: "approve", typedName: "q", planHash, reason: "it burns" } as const;

  function source(more: Readonly<Record<string, unknown>> = {}): {
    api: PathApi;
    namespace: string;
    signal: AbortSignal;
  } {
    const spec = { decision: "q", decisionUID: "u1", planHash, verdict: "Approve", by: { username: "alice" } };
    const made = {
      apiVersion: "levee.dev/v1alpha1",
      kind: "DecisionApproval",
      metadata: { name: "q-x", namespace: "levee-system" },
      spec,
    };
    const api = new PathApi({
      [`GET ${home}/decisions/q`]: decision,
      [`GET ${home}/decisionapprovals`]: { metadata: { resourceVersion: "1" }, items: [] },
      [`POST ${home}/decisionapprovals`]: made,
      "POST /apis/authentication.k8s.io/v1/selfsubjectreviews": { status: { userInfo: { username: "alice" } } },
      ...more,
    });
    return { api, namespace: "levee-system", signal };
  }

  test("creates the approval that the command would, in the viewer's name", async () => {
    const from = source();
    expect(await sayVerdict(from, word)).toMatchObject({
      approval: "q-x",
      by: "alice",
      text: expect.stringContaining("To withdraw it"),
    });
    const post = from.api.asked.find(({ method, path }) => method === "POST" && path.endsWith("decisionapprovals"));
    expect(objectOf(JSON.parse(post?.body ?? ""))["spec"]).toEqual({
      ...{ decision: "q", decisionUID: "u1", planHash, verdict: "Approve", reason: "it burns" },
      by: { username: "alice" },
    });
  });

  test.each([
    [{ typedName: "Q" }, "approval-required", 422],
    [{ typedName: "" }, "approval-required", 422],
    [{ planHash: "sha256:other" }, "plan-changed", 409],
    [{ verdict: "resume" as const }, "decision-proposed", 409],
    [{ verdict: "reject" as const, typedName: "no" }, "approval-required", 422],
    [{ decision: "other" }, "decision-unknown", 404],
  ])("writes nothing for %o", async (more, code, status) => {
    const from = source();
    const thrown: unknown = await sayVerdict(from, { ...word, ...more }).catch((error: unknown) => error);
    expect(consoleProblem(thrown)).toMatchObject({ status, problem: { code } });
    expect(
      from.api.asked.filter(({ path }) => path.endsWith("decisionapprovals")).filter(({ method }) => method === "POST"),
    ).toEqual([]);
  });

  test("passes on a refusal in the API server's words", async () => {
    const forbidden = new KubeError("api-refused", 'decisionapprovals is forbidden: User "carol" cannot create', {
      status: 403,
    });
    const from = source({ [`POST ${home}/decisionapprovals`]: forbidden });
    const thrown: unknown = await sayVerdict(from, word).catch((error: unknown) => error);
    expect(consoleProblem(thrown)).toMatchObject({
      status: 403,
      problem: { message: expect.stringContaining("carol") },
    });
  });

  test("pauses without a typed name, as the command does", async () => {
    const from = source();
    expect(await sayVerdict(from, { ...word, verdict: "pause", typedName: "" })).toMatchObject({ by: "alice" });
  });
});

test("storyOf tells a timeline with each plugin as a span, cleaned", () => {
  const at = { containerId: "c", verb: "ADD" };
  const story = storyOf(
    {
      namespace: "shop",
      name: "web",
      entries: [
        { ...at, wallMs: 1, what: "asked" },
        {
          ...at,
          wallMs: 9,
          what: "ran",
          plugin: "bridge",
          network: "lan",
          tookMs: 7,
          detail: "exit 1",
          stderr: "no\u001b[31m bridge",
        },
        { ...at, wallMs: 10, what: "something-new" },
      ],
    },
    [],
    "disk",
  );
  expect(story.entries.map(({ text, isFailure }) => [text, isFailure])).toEqual([
    ["The runtime asked for ADD", false],
    ["bridge ran for lan", true],
    ["something-new", false],
  ]);
  expect(story.entries[1]).toMatchObject({ tookMs: 7, detail: "exit 1 · no bridge" });
  expect(story).toMatchObject({ source: "disk", command: "levee why shop/web" });
});

test("apiStory tells what the API server knows, and how to ask for more", async () => {
  const pod = {
    metadata: {
      ...{ namespace: "shop", name: "web", uid: "u", creationTimestamp: "2026-11-18T00:00:00Z" },
      annotations: {
        "k8s.v1.cni.cncf.io/network-status": '[{"name":"lan","interface":"net1","ips":["10.0.0.2"],"mac":"02"}]',
      },
    },
    spec: { nodeName: "n1" },
    status: {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-11-18T00:00:01Z" }],
    },
  };
  const event = {
    metadata: {},
    type: "Warning",
    reason: "FailedCreatePodSandBox",
    count: 4,
    lastTimestamp: "2026-11-18T00:00:09Z",
    message: "no bridge",
  };
  const home = "GET /api/v1/namespaces/shop";
  const api = new PathApi({
    [`${home}/pods/web`]: pod,
    [`${home}/events`]: { metadata: { resourceVersion: "1" }, items: [event] },
  });
  const story = await apiStory({ api, signal }, { namespace: "shop", name: "web" }, "kubectl exec");
  expect(story?.entries.map(({ text }) => text)).toEqual([
    "The pod was created",
    "A node was chosen",
    "FailedCreatePodSandBox, 4 times",
  ]);
  expect(story).toMatchObject({ state: "waiting", reason: "no bridge", source: "api", command: "kubectl exec" });
  expect(story?.networks).toEqual([{ network: "lan", ifname: "net1", ips: ["10.0.0.2"], mac: "02" }]);
  expect(await apiStory({ api, signal }, { namespace: "shop", name: "other" }, "")).toBeUndefined();
});

test("stormHistory asks a Prometheus through the API server, and none without one", async () => {
  const values = [[1_000, "3"], [1_015, "4"], "nonsense"];
  const path = "/api/v1/namespaces/monitoring/services/http:prometheus-operated:9090/proxy/api/v1/query_range";
  const api = new PathApi({ [`GET ${path}`]: { data: { result: [{ values }] } } });
  const ask = stormHistory({ api, signal }, "monitoring/prometheus-operated:9090", () => 2_000_000);
  expect(await ask(1)).toEqual({
    stepMs: 15_000,
    points: [
      { atMs: 1_000_000, waiting: 3, attached: 3, done: 0 },
      { atMs: 1_015_000, waiting: 4, attached: 4, done: 0 },
    ],
  });
  expect(await stormHistory({ api, signal }, undefined, () => 0)(1)).toBeUndefined();
  expect(() => stormHistory({ api, signal }, "http://prometheus.example", () => 0)).toThrow("--prometheus");
});

describe("openBrowser", () => {
  test("hands the address over in a file that only its owner can read, never as a word of a program", async () => {
    const folder = mkdtempSync(join(tmpdir(), "levee-browser-"));
    const opener = join(folder, "xdg-open");
    writeFileSync(opener, `#!/bin/sh\necho "$@" > ${folder}/words\ncp "$1" ${folder}/page\n`);
    chmodSync(opener, 0o755);
    const shell = fakeShell({ env: { PATH: `${folder}:/usr/bin:/bin` } });
    let page: string;
    {
      await using opened = await openBrowser(shell, "http://127.0.0.1:1/secret/");
      expect(opened.isOpen).toBe(true);
      page = readFileSync(join(folder, "words"), "utf8").trim();
      expect(page).not.toContain("secret");
      expect(statSync(page).mode & 0o077).toBe(0);
      expect(readFileSync(join(folder, "page"), "utf8")).toContain("http://127.0.0.1:1/secret/");
    }
    expect(existsSync(page)).toBe(false);
    rmSync(folder, { recursive: true });
  });

  test("says when nothing here opens one", async () => {
    const shell = fakeShell({ env: { PATH: "/nowhere" } });
    await using opened = await openBrowser(shell, "http://127.0.0.1:1/x/");
    expect(opened.isOpen).toBe(false);
    expect(hasScreen(shell)).toBe(false);
    expect(hasScreen(fakeShell({ env: { DISPLAY: ":0" } }))).toBe(true);
  });
});
