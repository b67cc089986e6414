import { expect, test } from "bun:test";
import { Admission } from "../../admission/admission.ts";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { PodAccount, PodAccounts } from "./pod-account.ts";
import { emptyView } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const pod = { namespace: "a" as Namespace, name: "p" as PodName, uid: "uid-1" as PodUid };
const sandbox = { containerId: "c1", ifname: "eth0" };
const wrong = new LeveeError("network-unknown", "no such network");

function aNode(facts: Partial<PodFacts> = {}) {
  const clock = new VirtualClock();
  const looks = { count: 0, text: "one" };
  const needs = {
    admission: new Admission({ clock }),
    view: { ...emptyView, findPod: () => Promise.resolve({ ...pod, priority: 0, ...facts } as PodFacts) },
    wants: {
      text: () => {
        looks.count += 1;
        return Promise.resolve(looks.text);
      },
    },
  };
  return { clock, needs, looks };
}

async function outcome(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "ok",
    (thrown: unknown) => (thrown as Error).message,
  );
}

test("PodAccount does no work for a pod that has not failed", async () => {
  const { needs, looks } = aNode();
  const account = new PodAccount(pod, sandbox, needs);
  expect(await outcome(account.refuseHeld())).toBe("ok");
  expect(looks.count).toBe(0);
});

test("PodAccount answers a pod that failed by its own request from memory, until what it wants changes", async () => {
  const { clock, needs, looks } = aNode();
  const account = new PodAccount(pod, sandbox, needs);
  expect(await outcome(account.watch(Promise.reject(wrong)))).toBe("no such network");
  const again = new PodAccount(pod, { ...sandbox, containerId: "c2" }, needs);
  expect(await outcome(again.refuseHeld())).toMatch(/^Cannot attach yet: failed 1 times .* last: no such network$/u);
  looks.text = "another";
  expect(await outcome(again.refuseHeld())).toBe("ok");
  looks.text = "one";
  await outcome(account.watch(Promise.reject(wrong)));
  await clock.advance(10_000);
  expect(await outcome(again.refuseHeld())).toBe("ok");
});

test("PodAccount never holds a critical pod", async () => {
  const { needs } = aNode({ priority: 2_000_000_000 });
  const account = new PodAccount(pod, sandbox, needs);
  await outcome(account.watch(Promise.reject(wrong)));
  expect(await outcome(account.refuseHeld())).toBe("ok");
});

test("PodAccount charges no pod when the node is at fault", async () => {
  const { needs } = aNode();
  const account = new PodAccount(pod, sandbox, needs);
  await outcome(account.watch(Promise.reject(new LeveeError("try-later", "the API server is away"))));
  expect(needs.admission.failuresOf("uid-1")).toBeUndefined();
});

test("PodAccount uses the local copy's UID when the runtime sends none", async () => {
  const { needs } = aNode();
  const account = await new PodAccounts(needs).open({ namespace: pod.namespace, name: pod.name }, sandbox);
  expect(account.key).toBe("uid-1");
});

test("PodAccount holds no sandbox whose pod is unknown", async () => {
  const { needs } = aNode({ uid: "" as PodUid });
  const account = await new PodAccounts(needs).open({ namespace: pod.namespace, name: pod.name }, sandbox);
  await outcome(account.watch(Promise.reject(wrong)));
  expect(account.key).toBe("c1/eth0");
  expect(await outcome(account.refuseHeld())).toBe("ok");
});
