import { describe, expect, test } from "bun:test";
import type { ContainerId, Namespace, PodName, PodUid } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import { KubeStatusTeller } from "./kube-status-teller.ts";
import type { PodStatus } from "./status-teller.ts";
import type { LiveView } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const away = new KubeError("api-unreachable", "connection refused");

function status(annotation = "[]", containerId = "c1", uid = "u1"): PodStatus {
  const pod = { namespace: "default" as Namespace, name: "web" as PodName, uid: uid as PodUid };
  return { pod, containerId: containerId as ContainerId, annotation };
}

/** A statusTeller whose patches the test answers. */
class Desk {
  readonly clock = new ManualClock();
  readonly requests: KubeRequest[] = [];
  answer: () => Promise<string> = () => Promise.resolve("{}");
  known: Partial<PodFacts> | undefined;
  awaySinceMs: number | undefined;
  readonly statusTeller: KubeStatusTeller;

  constructor() {
    this.clock.chance = 1;
    const call = (request: KubeRequest): Promise<string> => {
      this.requests.push(request);
      return this.answer();
    };
    const live: Partial<LiveView> = { awaySinceMs: () => this.awaySinceMs };
    this.statusTeller = new KubeStatusTeller({
      api: { call } as KubeApi,
      view: { findPod: () => Promise.resolve(this.known as PodFacts | undefined), live: live as LiveView },
      clock: this.clock,
      logger: silentLogger,
      onFate: () => undefined,
    });
  }

  get bodies(): readonly unknown[] {
    return this.requests.map(({ body }) => JSON.parse(body ?? "") as unknown);
  }
}

const annotations = (value: string): object => ({ "k8s.v1.cni.cncf.io/network-status": value });

describe("KubeStatusTeller", () => {
  test("patches the annotation of the pod with that UID, and nothing else", async () => {
    const desk = new Desk();
    expect(await desk.statusTeller.tell(status("[{}]"))).toBe("delivered");
    expect(desk.requests[0]).toMatchObject({
      method: "PATCH",
      path: "/api/v1/namespaces/default/pods/web/status",
      contentType: "application/merge-patch+json",
    });
    expect(desk.bodies).toEqual([{ metadata: { uid: "u1", annotations: annotations("[{}]") } }]);
  });

  test.each([
    ["the mirror's own UID for a static pod", { isStatic: true, uid: "mirror" }, "kubelets-own", { uid: "mirror" }],
    ["the UID of the view for a runtime that gave none", { isStatic: false, uid: "u7" }, "", { uid: "u7" }],
    ["no UID when none is known", undefined, "", {}],
  ])("takes %s", async (_what, known, uid, expected) => {
    const desk = new Desk();
    desk.known = known as Partial<PodFacts> | undefined;
    await desk.statusTeller.tell(status("[]", "c1", uid));
    expect(desk.bodies).toEqual([{ metadata: { ...expected, annotations: annotations("[]") } }]);
  });

  test.each([
    ["refuses", new KubeError("api-refused", "pods is forbidden", { status: 403 }), "pods is forbidden"],
    ["has a webhook that fails", new KubeError("api-refused", "no webhook", { status: 500 }), "no webhook"],
    ["does not listen", away, "connection refused"],
  ])("gives the reason when a server %s, and goes on", async (_what, refusal, why) => {
    const desk = new Desk();
    desk.answer = () => Promise.reject(refusal);
    const told: string[] = [];
    const end = desk.statusTeller.tell(status(), (reason) => told.push(reason));
    await settleIo();
    expect(told).toEqual([why]);
    desk.answer = () => Promise.resolve("{}");
    await desk.clock.advance(10_000);
    expect(await end).toBe("delivered");
  });

  test("tries the status of a pod's next container at once, however long the last one has to wait", async () => {
    const desk = new Desk();
    desk.answer = () => Promise.reject(new KubeError("api-refused", "pods is forbidden", { status: 403 }));
    const first = desk.statusTeller.tell(status("[1]", "c1"));
    await desk.clock.advance(100_000);
    desk.answer = () => Promise.resolve("{}");
    // No time passes here.
    expect(await desk.statusTeller.tell(status("[2]", "c2"))).toBe("delivered");
    expect(await first).toBe("replaced");
  });

  test("gives a reason at once when the server is known to be away, and delivers when it is back", async () => {
    const desk = new Desk();
    desk.awaySinceMs = 1;
    desk.answer = () => Promise.reject(away);
    const told: string[] = [];
    const end = desk.statusTeller.tell(status(), (why) => told.push(why));
    expect(told).toEqual(["the API server does not answer"]);
    await settleIo();
    desk.answer = () => Promise.resolve("{}");
    await desk.clock.advance(10_000);
    expect(await end).toBe("delivered");
  });

  test("waits for patches that are being sent before it closes, for 2 s at most", async () => {
    for (const { answersMs, end } of [
      { answersMs: 500, end: "delivered" },
      { answersMs: 5_000, end: "dropped" },
    ]) {
      const desk = new Desk();
      desk.answer = () => desk.clock.sleep(answersMs).then(() => "{}");
      const told = desk.statusTeller.tell(status());
      const closed = desk.statusTeller.close();
      await desk.clock.advance(2_100);
      await closed;
      expect(await told).toBe(end as "delivered" | "dropped");
    }
  });

  test("drops the waiting status of a container that goes, and keeps the status of the pod's next one", async () => {
    const desk = new Desk();
    desk.answer = () => Promise.reject(away);
    void desk.statusTeller.tell(status("old", "c1"));
    void desk.statusTeller.tell(status("new", "c2"));
    desk.statusTeller.drop("c1" as ContainerId);
    expect(desk.statusTeller.health().waiting).toBe(1);
    desk.statusTeller.drop("c2" as ContainerId);
    expect(desk.statusTeller.health().waiting).toBe(0);
  });
});
