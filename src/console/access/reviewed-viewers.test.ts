import { describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import type { ViewerHead } from "../serve/viewer.ts";
import { ReviewedViewers } from "./reviewed-viewers.ts";

/** An API server that knows alice (may all), carol (may look) and bob (may nothing). */
class ReviewApi implements KubeApi {
  readonly asked: string[] = [];
  isAway = false;

  call({ path, body = "" }: KubeRequest): Promise<string> {
    if (this.isAway) return Promise.reject(new KubeError("api-unreachable", "away"));
    const spec = objectOf(objectOf(JSON.parse(body))["spec"]);
    this.asked.push(path.split("/").at(-1) ?? "");
    if (path.endsWith("tokenreviews")) {
      const [, username] = /^token-of-(\w+)$/u.exec(textOf(spec["token"])) ?? [];
      const user = { username, groups: ["g"], extra: { scope: ["x"] } };
      return answer(username === undefined ? { authenticated: false } : { authenticated: true, user });
    }
    const wanted = objectOf(spec["resourceAttributes"]);
    const may = { alice: true, carol: wanted["verb"] === "list" }[textOf(spec["user"])] ?? false;
    return answer({ allowed: may && JSON.stringify(spec["extra"]) === '{"scope":["x"]}' });
  }

  lines(): AsyncIterable<string> {
    throw new Error("nobody watches here");
  }
}

function answer(status: object): Promise<string> {
  return Promise.resolve(JSON.stringify({ status }));
}

const nobody: ViewerHead = { authorization: undefined, proxyToken: undefined, isLoopback: true };

function setUp(isBehindProxy = false): {
  readonly api: ReviewApi;
  readonly viewers: ReviewedViewers;
  readonly said: string[];
  readonly clock: { nowMs: number };
} {
  const [api, said, clock] = [new ReviewApi(), [] as string[], { nowMs: 0 }];
  const viewers = new ReviewedViewers({
    clock: { ...systemClock, monotonicMs: () => clock.nowMs },
    api,
    signal: new AbortController().signal,
    ...{ namespace: "levee-system", place: "https://cluster.example", isBehindProxy },
    say: (token, { decision }) => {
      said.push(`${token} ${decision}`);
      return Promise.resolve({ approval: "a", by: "", text: "" });
    },
  });
  return { api, viewers, said, clock };
}

function as(name: string): ViewerHead {
  return { ...nobody, authorization: `Bearer token-of-${name}` };
}

/** What it throws, as a value. */
function refusalOf(looking: Promise<unknown>): Promise<unknown> {
  return looking.catch((thrown: unknown) => thrown);
}

describe("ReviewedViewers", () => {
  test("knows a viewer by his token, and what he may do", async () => {
    const { viewers, said } = setUp();
    const alice = await viewers.of(as("alice"));
    expect(alice.view).toMatchObject({ name: "alice", mode: "in-cluster", mayDecide: "yes" });
    await alice.say({ decision: "q", verdict: "approve", typedName: "q", planHash: "h" });
    expect(said).toEqual(["token-of-alice q"]);
    const carol = await viewers.of(as("carol"));
    expect(carol.view).toMatchObject({ name: "carol", mayDecide: "no" });
    expect(carol.view.why).toContain("--user=carol");
  });

  test.each([
    ["no token", nobody, "sign-in-needed"],
    ["another scheme", { ...nobody, authorization: "Basic YTpi" }, "sign-in-needed"],
    ["an invalid token", { ...nobody, authorization: "Bearer expired" }, "sign-in-needed"],
    ["a header that no proxy was set up for", { ...nobody, proxyToken: "token-of-alice" }, "sign-in-needed"],
    ["a token without the right to look", as("bob"), "not-allowed"],
  ])("refuses %s", async (_what, head, code) => {
    const { viewers } = setUp();
    expect(await refusalOf(viewers.of(head))).toMatchObject({ code });
  });

  test("asks the API server once in ten seconds, for a refusal too, and forgets a right by then", async () => {
    const { viewers, api, clock } = setUp();
    for (let times = 0; times < 5; times += 1) await viewers.of(as("alice"));
    expect(api.asked.filter((what) => what === "tokenreviews").length).toBe(1);
    for (let times = 0; times < 5; times += 1) await viewers.of(as("expired!")).catch(() => undefined);
    expect(api.asked.filter((what) => what === "tokenreviews").length).toBe(2);
    clock.nowMs = 10_001;
    await viewers.of(as("alice"));
    expect(api.asked.filter((what) => what === "tokenreviews").length).toBe(3);
  });

  test("says that it could not ask when the API server is away", async () => {
    const { viewers, api } = setUp();
    api.isAway = true;
    expect(await refusalOf(viewers.of(as("alice")))).toMatchObject({ code: "review-failed", status: 503 });
  });

  test("behind a proxy it takes the proxy's header from loopback, and nothing else", async () => {
    const { viewers } = setUp(true);
    const through = { ...nobody, proxyToken: "token-of-alice" };
    expect((await viewers.of(through)).view.name).toBe("alice");
    expect(await refusalOf(viewers.of({ ...through, isLoopback: false }))).toMatchObject({ code: "sign-in-needed" });
    expect(await refusalOf(viewers.of(as("alice")))).toMatchObject({ code: "sign-in-needed" });
  });
});
