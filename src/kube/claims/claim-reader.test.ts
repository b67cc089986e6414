import { beforeEach, describe, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../client/api.ts";
import { FakeApi, page } from "../client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../manual-clock.fixture.ts";
import { ClaimReader } from "./claim-reader.ts";
import { slice } from "./slices.fixture.ts";

let api: FakeApi;
let clock: ManualClock;
let isUsed: boolean;
let slices: object[];

beforeEach(() => {
  api = new FakeApi();
  clock = new ManualClock();
  [isUsed, slices] = [true, [slice("s1", { a: ["0000:1", "intel.com/vf"] })]];
  api.onCall = () => page("5", slices);
});

function reader(): ClaimReader {
  return new ClaimReader({ api, clock, logger: silentLogger, nodeName: "node1", isUsed: () => isUsed });
}

const { signal } = new AbortController();
const wanted = { driver: "vf.example", pool: "node1", device: "a", request: "r" };
const results = [{ driver: "vf.example", pool: "node1", device: "a", request: "r", shareID: "x" }];

function refusal(status: number, reason: string): () => never {
  return () => {
    throw new KubeError("api-refused", "refused", { status, reason });
  };
}

describe("ClaimReader's claims", () => {
  test("are read by name, in the five fields that matter", async () => {
    api.onCall = () => ({ status: { allocation: { devices: { results } } } });
    expect(await reader().claim("default", "web-vf", signal)).toEqual([{ ...wanted, shareId: "x" }]);
    expect(api.calls.map(({ pathname }) => pathname)).toEqual([
      "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/web-vf",
    ]);
    expect(api.watches).toEqual([]);
  });

  test.each([
    {},
    { status: {} },
    { status: { allocation: {} } },
    { status: { allocation: { devices: { results: 7 } } } },
  ])("%j has no allocation", async (claim) => {
    api.onCall = () => claim;
    expect(await reader().claim("default", "web-vf", signal)).toBe("unallocated");
  });

  test("one that is gone and a cluster without claims are told apart", async () => {
    api.onCall = refusal(404, "NotFound");
    expect(await reader().claim("default", "web-vf", signal)).toBe("absent");
    api.onCall = refusal(404, "");
    expect(await reader().claim("default", "web-vf", signal)).toBe("no-api");
    api.onCall = refusal(403, "Forbidden");
    expect(reader().claim("default", "web-vf", signal)).rejects.toThrow("refused");
  });
});

describe("ClaimReader's slices", () => {
  test("are followed from the first question on, for this node only, once for all", async () => {
    const one = reader();
    await settleIo();
    expect([api.calls.length, api.watches.length]).toEqual([0, 0]);
    const both = await Promise.all([one.published(wanted, signal), one.published(wanted, signal)]);
    expect(both).toEqual([
      { deviceId: "0000:1", resourceName: "intel.com/vf" },
      { deviceId: "0000:1", resourceName: "intel.com/vf" },
    ]);
    await settleIo();
    expect(api.calls).toHaveLength(1);
    expect(api.watch.url.searchParams.get("fieldSelector")).toBe("spec.nodeName=node1");
    api.watch.event("ADDED", slice("s2", { b: ["0000:2", "intel.com/vf"] }));
    await settleIo();
    expect((await one.published({ ...wanted, device: "b" }, signal))?.deviceId).toBe("0000:2");
    expect(api.calls).toHaveLength(1);
    await one.close();
  });

  test("a device that the watch has not brought is asked for once more, of its driver on this node", async () => {
    const one = reader();
    await one.published(wanted, signal);
    slices = [slice("s2", { late: ["0000:9", "intel.com/vf"] })];
    expect((await one.published({ ...wanted, device: "late" }, signal))?.deviceId).toBe("0000:9");
    expect(api.calls.at(-1)?.searchParams.get("fieldSelector")).toBe("spec.nodeName=node1,spec.driver=vf.example");
    expect(api.calls.at(-1)?.searchParams.has("resourceVersion")).toBe(false);
    expect(await one.published({ ...wanted, device: "none" }, signal)).toBeUndefined();
    await one.close();
  });

  test("are dropped when no pod of the node has claims, and come back with the next question", async () => {
    const one = reader();
    await one.published(wanted, signal);
    await clock.advance(300_000);
    const watches = api.watches.length;
    expect(api.watch.options.signal.aborted).toBe(false);
    isUsed = false;
    await clock.advance(300_000);
    expect(api.watches.every(({ options }) => options.signal.aborted)).toBe(true);
    await clock.advance(3_600_000);
    expect(api.watches.length).toBeLessThanOrEqual(watches + 1);
    expect((await one.published(wanted, signal))?.deviceId).toBe("0000:1");
    await one.close();
  });

  test("a list that does not come ends with the caller's time and says why", async () => {
    const one = reader();
    api.onCall = refusal(403, "Forbidden");
    const caller = new AbortController();
    const asked = one.published(wanted, caller.signal).catch((thrown: unknown) => thrown);
    await settleIo();
    caller.abort(new Error("late"));
    expect(await asked).toMatchObject({
      code: "api-unreachable",
      message: expect.stringMatching(/^Cannot list the ResourceSlices of this node: .*refused/u),
    });
    await one.close();
  });
});
