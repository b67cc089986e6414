import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { parseDryRun, type DryRunAnswer, type DryRunRequest } from "../../wire/dry-run.ts";
import { DryRunRequests } from "./dry-run-request.ts";

const nowMs = 1_000_000_000;
const request: DryRunRequest = {
  namespace: "shop",
  name: "check-x7",
  uid: "u",
  network: "lan",
  nodes: [],
  createdWallMs: nowMs,
};

function setUp(found: DryRunRequest | undefined) {
  const answers = new Map<string, DryRunAnswer>();
  const begun: string[] = [];
  let monotonicMs = 0;
  let reads = 0;
  const requests = new DryRunRequests({
    clock: { ...systemClock, wallMs: () => nowMs, monotonicMs: () => monotonicMs },
    nodeName: "worker-1",
    read: () => {
      reads += 1;
      return Promise.resolve(found);
    },
    desk: {
      answer: (id) => answers.get(id),
      begin: ({ namespace, name }, id) => {
        begun.push(`${namespace}/${name}`);
        const nothingYet = { reason: "", remedy: "", addresses: [], tookMs: 0 };
        const network = `${namespace}/${name}`;
        const answer: DryRunAnswer = { id: String(id), network, state: "running", step: "look", ...nothingYet };
        answers.set(answer.id, answer);
        return answer;
      },
    },
  });
  return {
    requests,
    begun,
    reads: () => reads,
    pass: (ms: number) => {
      monotonicMs += ms;
    },
  };
}

test("a request begins one dry run of the network in its own namespace, however often it is asked for", async () => {
  const { requests, begun, reads } = setUp(request);
  const asked = await Promise.all([requests.answer("shop", "check-x7"), requests.answer("shop", "check-x7")]);
  expect(asked.map((answer) => answer?.network)).toEqual(["shop/lan", "shop/lan"]);
  for (let time = 0; time < 20; time += 1) await requests.answer("shop", "check-x7");
  expect(begun).toEqual(["shop/lan"]);
  expect(reads()).toBe(2);
});

test.each([
  ["is not there", undefined],
  ["is for other nodes", { ...request, nodes: ["worker-2"] }],
  ["is older than ten minutes", { ...request, createdWallMs: nowMs - 601_000 }],
  ["is of a clock far ahead", { ...request, createdWallMs: nowMs + 601_000 }],
])("one that %s begins nothing", async (_what, found) => {
  const { requests, begun } = setUp(found);
  expect(await requests.answer("shop", "check-x7")).toBeUndefined();
  expect(begun).toEqual([]);
});

test("whoever asks for names at random costs the API server one read a second", async () => {
  const { requests, reads, pass } = setUp(undefined);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => requests.answer("shop", `x${index}`)),
  );
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(45);
  pass(1_000);
  await requests.answer("shop", "again");
  expect(reads()).toBe(6);
});

test("parseDryRun takes whole requests only", () => {
  const metadata = { namespace: "shop", name: "check-x7", uid: "u", creationTimestamp: new Date(nowMs).toISOString() };
  expect(parseDryRun({ metadata, spec: { network: "lan" } })).toEqual(request);
  for (const wrong of [
    undefined,
    {},
    { metadata },
    { metadata, spec: { network: 7 } },
    { metadata, spec: { network: "lan", nodes: [1] } },
    { metadata: { ...metadata, creationTimestamp: "soon" }, spec: { network: "lan" } },
  ])
    expect(parseDryRun(wrong)).toBeUndefined();
});
