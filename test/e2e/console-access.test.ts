/**
 * Who may see and say what on the console, by a real API server: `npm run e2e -- console-access`. Everybody's rights are
 * those of the shipped roles.
 */
import { expect, test } from "bun:test";
import { fakeShell, type FakeShell } from "../../src/cli/fake-shell.fixture.ts";
import { runCli } from "../../src/cli/main.ts";
import type { ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { fullDecision } from "../guard/full-decision.ts";
import { alice, decisions, guardUser, makePod, startGuardServer, untilPoliciesCount } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { personTokens, type PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("console-access");

const longMs = 60_000;

let server: PolicyServer;

beforeAll(async () => {
  server = await startGuardServer();
  server.must(["create", "clusterrolebinding", "see", "--clusterrole=levee-viewer", "--user=alice", "--user=carol"]);
  server.must(["create", "namespace", "fc"]);
  const made = await server.ask({ method: "POST", path: decisions, body: fullDecision("q"), as: { user: guardUser } });
  expect(made).toMatchObject({ code: 201 });
  server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } }));
  await untilPoliciesCount(server);
}, 180_000);

afterAll(() => server.stop(), longMs);

/** A console that runs until the test ends. */
class RunningConsole implements AsyncDisposable {
  readonly shell: FakeShell;
  readonly #ended: Promise<number>;

  constructor(...args: readonly string[]) {
    this.shell = fakeShell({ argv: ["console", "--no-open", ...args] });
    this.#ended = runCli(this.shell);
  }

  async url(): Promise<string> {
    return await until("the console serves", () => /http:\S+/u.exec(this.shell.stdout.text)?.[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.shell.interrupt();
    expect(await this.#ended).toBe(0);
  }
}

/** The first snapshot that has everything: each kind is there as soon as its first list is. */
async function snapshotOf(url: string, token?: string): Promise<ConsoleSnapshot> {
  return await until("the page has its Decision", async () => {
    const answer = await fetch(`${url}events`, token === undefined ? {} : { headers: bearer(token) });
    const snapshot = JSON.parse(await firstData(answer)) as ConsoleSnapshot; // our own
    const isWhole = snapshot.sources.every(({ state }) => state !== "starting");
    return isWhole && snapshot.decisions.length === 1 ? snapshot : undefined;
  });
}

/** The data of a stream's first event. Leaving the loop hangs up. */
async function firstData({ body }: Response): Promise<string> {
  let text = "";
  for await (const part of body ?? []) {
    text += Buffer.from(part).toString("utf8");
    if (text.includes("\n\n")) break;
  }
  return /^data: (.*)$/mu.exec(text)?.[1] ?? "";
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function say(url: string, word: string, body: object, token?: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}decision/q/${word}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "origin": new URL(url).origin,
      ...(token === undefined ? {} : bearer(token)),
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

group("levee console by a kubeconfig", () => {
  test(
    "shows what its user may see, names its user, and sees a waiting pod within two seconds",
    async () => {
      await using running = new RunningConsole("--kubeconfig", await server.kubeconfig(personTokens.carol));
      const url = await running.url();
      const snapshot = await snapshotOf(url);
      expect(snapshot.viewer).toMatchObject({ name: "carol", mayDecide: "no" });
      expect(snapshot.viewer.why).toContain("--clusterrole=levee-approver");
      expect(snapshot.nodes.map(({ name }) => name)).toEqual(["n1"]);
      expect(snapshot.sources.filter(({ state }) => state === "refused")).toEqual([]);
      expect(snapshot.decisions[0]).toMatchObject({ name: "q", phase: "Proposed", isIntact: true, needsPerson: true });
      expect(snapshot.now).toMatchObject({ state: "act" });

      const stream = (await fetch(`${url}events`)).body?.getReader();
      await makePod(server, { name: "waits", node: "n1" });
      const madeMs = performance.now();
      let text = "";
      while (!text.includes('"pod":"waits"')) text += Buffer.from((await stream?.read())?.value ?? []).toString("utf8");
      expect(performance.now() - madeMs).toBeLessThan(2_000);
      await stream?.cancel();
      server.must(["delete", "pod", "-n", "fc", "waits", "--grace-period=0", "--force"]);
    },
    longMs,
  );

  test(
    "passes the API server's refusal on in words",
    async () => {
      await using running = new RunningConsole("--kubeconfig", await server.kubeconfig(personTokens.carol));
      const url = await running.url();
      const { planHash } = (await snapshotOf(url)).decisions[0]!;
      const { status, text } = await say(url, "approve", { typedName: "q", planHash });
      expect(status).toBe(403);
      expect(text).toContain("decisionapprovals");
      expect(text).toContain("carol");
    },
    longMs,
  );

  test(
    "takes a verdict only with the name typed and for the plan that was read",
    async () => {
      await using running = new RunningConsole("--kubeconfig", await server.kubeconfig(personTokens.alice));
      const url = await running.url();
      const { planHash } = (await snapshotOf(url)).decisions[0]!;
      expect(await say(url, "approve", { typedName: "Q", planHash })).toMatchObject({ status: 422 });
      expect(await say(url, "approve", { typedName: "q", planHash: "sha256:0" })).toMatchObject({ status: 409 });
      expect(await say(url, "resume", { typedName: "q", planHash })).toMatchObject({ status: 409 });
      expect(server.must(["get", "decisionapprovals", "-n", "levee-system", "-o", "name"])).toBe("");
      const said = await say(url, "approve", { typedName: "q", planHash, reason: "seen on the console" });
      expect(said).toMatchObject({ status: 200, text: expect.stringContaining('"by":"alice"') });
      const words = server.must(["get", "decisionapprovals", "-n", "levee-system", "-o", "jsonpath={.items[*].spec}"]);
      expect(JSON.parse(words)).toMatchObject({
        decision: "q",
        verdict: "Approve",
        planHash,
        reason: "seen on the console",
        by: { username: alice.user },
      });
      await until("the card has the word", async () => {
        const [card] = (await snapshotOf(url)).decisions;
        return card?.words.some(({ by, isCurrent }) => by === "alice" && isCurrent) || undefined;
      });
      server.must(["delete", "decisionapprovals", "-n", "levee-system", "--all"]);
    },
    longMs,
  );
});

group("levee console --in-cluster", () => {
  /** As the manifests give it: it may read what the page shows, and ask who somebody is. */
  async function ownKubeconfig(): Promise<string> {
    const account = ["-n", "levee-system", "levee-console"];
    server.kubectl(["create", "serviceaccount", ...account]);
    for (const role of ["levee-viewer", "system:auth-delegator"])
      server.kubectl([
        ...["create", "clusterrolebinding", `console-${role.replace(":", "-")}`, `--clusterrole=${role}`],
        "--serviceaccount=levee-system:levee-console",
      ]);
    return await server.kubeconfig(server.must(["create", "token", ...account]).trim());
  }

  test(
    "serves nobody without a token, with a wrong one, or without the right to look",
    async () => {
      const kubeconfig = await ownKubeconfig();
      await using running = new RunningConsole("--in-cluster", "--port", "0", "--kubeconfig", kubeconfig);
      const url = await running.url();
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(`${url}events`)).status).toBe(401);
      expect((await fetch(`${url}events`, { headers: bearer("nobody") })).status).toBe(401);
      const refused = await fetch(`${url}events`, { headers: bearer(personTokens.bob) });
      expect(refused.status).toBe(403);
      expect(await refused.text()).toContain("levee-viewer");
    },
    longMs,
  );

  test(
    "writes with the viewer's token, and never with its own",
    async () => {
      const kubeconfig = await ownKubeconfig();
      await using running = new RunningConsole("--in-cluster", "--port", "0", "--kubeconfig", kubeconfig);
      const url = await running.url();
      const seen = await snapshotOf(url, personTokens.carol);
      expect(seen.viewer).toMatchObject({ name: "carol", mode: "in-cluster", mayDecide: "no" });
      const { planHash } = seen.decisions[0]!;
      const body = { typedName: "q", planHash };
      expect(await say(url, "approve", body)).toMatchObject({ status: 401 });
      expect(await say(url, "approve", body, personTokens.carol)).toMatchObject({ status: 403 });
      const said = await say(url, "approve", body, personTokens.alice);
      expect(said).toMatchObject({ status: 200, text: expect.stringContaining('"by":"alice"') });
      server.must(["delete", "decisionapprovals", "-n", "levee-system", "--all"]);
    },
    longMs,
  );

  test(
    "takes a token from a proxy's header on loopback, and from nowhere else then",
    async () => {
      const kubeconfig = await ownKubeconfig();
      const options = ["--in-cluster", "--port", "0", "--token-header", "X-Forwarded-Access-Token"];
      await using running = new RunningConsole(...options, "--kubeconfig", kubeconfig);
      const url = await running.url();
      const through = { "x-forwarded-access-token": personTokens.carol };
      expect((await fetch(`${url}pods?match=x`, { headers: through })).status).toBe(200);
      expect((await fetch(`${url}pods?match=x`, { headers: bearer(personTokens.carol) })).status).toBe(401);
    },
    longMs,
  );
});
