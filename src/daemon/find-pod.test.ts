import { expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import { systemClock } from "../base/clock.ts";
import { noArgs, parseCniArgs } from "../cni/cni-args.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import { findPod } from "./find-pod.ts";
import { emptyView, type PodFacts, type View } from "./view.ts";

const args = parseCniArgs("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u2");
const never = new AbortController().signal;

function pod(uid: string, isStatic = false): PodFacts {
  return {
    namespace: "default" as Namespace,
    name: "web" as PodName,
    uid: uid as PodUid,
    annotations: {},
    priority: undefined,
    isStatic,
  };
}

/** A view that has one pod now and gets another one later. */
function portsWith(now: PodFacts | undefined, later?: PodFacts): Parameters<typeof findPod>[1] {
  const view: View = {
    ...emptyView,
    findPod: () => Promise.resolve(now),
    waitForPod: (wanted, signal) =>
      later !== undefined && wanted.isWanted(later) ? Promise.resolve(later) : emptyView.waitForPod(wanted, signal),
  };
  return { view, clock: systemClock, config: { addLookupMs: 20 } as DaemonConfig };
}

test("findPod gives nothing for a runtime that names no pod", async () => {
  expect(await findPod(noArgs, portsWith(undefined), never)).toBeUndefined();
});

test.each([
  ["the same UID", pod("u2")],
  ["no UID in the view", pod("")],
  ["a static pod", pod("other", true)],
])("findPod takes %s at once", async (_what, facts) => {
  expect(await findPod(args, portsWith(facts), never)).toBe(facts);
});

test("findPod waits for a pod that is not there yet", async () => {
  const late = pod("u2");
  expect(await findPod(args, portsWith(undefined, late), never)).toBe(late);
});

test("findPod waits for the successor while the predecessor of the same name is served", async () => {
  const successor = pod("u2");
  expect(await findPod(args, portsWith(pod("u1"), successor), never)).toBe(successor);
});

test("findPod fails in the end, naming the pod, the wait and the UID seen", async () => {
  expect(findPod(args, portsWith(undefined), never)).rejects.toMatchObject({
    code: "pod-unknown",
    message: expect.stringContaining("default/web: it did not appear within 20 ms"),
  });
  expect(findPod(args, portsWith(pod("u1")), never)).rejects.toThrow('expected pod UID "u2" but got "u1"');
});

test.each([
  [undefined, "it did not appear within 20 ms; no directory is set"],
  ["/etc/levee", "it did not appear within 20 ms in the folder /etc/levee"],
])("findPod with the directory %p says where it looked", (directory, expected) => {
  const config = { addLookupMs: 20, directory } as DaemonConfig;
  expect(findPod(args, { ...portsWith(undefined), config }, never)).rejects.toThrow(expected);
});

test("findPod ends when its caller leaves", async () => {
  const leaving = new AbortController();
  const looking = findPod(
    args,
    { ...portsWith(undefined), config: { addLookupMs: 60_000 } as DaemonConfig },
    leaving.signal,
  );
  leaving.abort(new Error("left"));
  expect(looking).rejects.toThrow("left");
});
