import { expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { noArgs, parseCniArgs, type CniArgs } from "../../cni/cni-args.ts";
import { jsonValue } from "../../cni/json-text.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { findPod } from "./find-pod.ts";
import { emptyView, type View } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

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

/** A node whose view has one pod now and gets another one later. */
function needsWith(now: PodFacts | undefined, later?: PodFacts, addLookupMs = 20): Parameters<typeof findPod>[1] {
  const view: View = {
    ...emptyView,
    findPod: () => Promise.resolve(now),
    waitForPod: (wanted, signal) =>
      later !== undefined && wanted.isWanted(later) ? Promise.resolve(later) : emptyView.waitForPod(wanted, signal),
  };
  return { view, clock: systemClock, config: { addLookupMs } as DaemonConfig };
}

/** Looks up the pod of `of`, for a runtime whose configuration is `config`. */
function find(
  needs: Parameters<typeof findPod>[1],
  of: CniArgs = args,
  options: { config?: object; signal?: AbortSignal } = {},
): ReturnType<typeof findPod> {
  const { config = {}, signal = never } = options;
  const endsMs = needs.clock.monotonicMs() + needs.config.addLookupMs;
  return findPod({ args: of, config: () => Promise.resolve(jsonValue(config)), endsMs, caller: { signal } }, needs);
}

/** A configuration with the pod's annotations, as containerd sends it. */
function withAnnotations(annotations: object): object {
  return { name: "n", runtimeConfig: { "io.kubernetes.cri.pod-annotations": annotations } };
}

test("findPod finds no pod for a runtime that names none", async () => {
  expect(await find(needsWith(undefined), noArgs)).toEqual({ pod: undefined });
});

test.each([
  ["the same UID", pod("u2")],
  ["no UID in the view", pod("")],
  ["a static pod", pod("other", true)],
])("findPod takes %s at once", async (_what, facts) => {
  const config = (): never => {
    throw new Error("the configuration was asked for");
  };
  const lookup = { args, config, endsMs: 0, caller: { signal: never } };
  expect(await findPod(lookup, needsWith(facts))).toEqual({ pod: facts });
});

test("findPod uses the annotations that came with the call for an unknown pod", async () => {
  const annotations = {
    "k8s.v1.cni.cncf.io/networks": "a@b",
    "other": "dropped",
    "kubernetes.io/config.source": "api",
  };
  const { pod: found, how } = await find(needsWith(pod("u1")), args, { config: withAnnotations(annotations) });
  expect(found).toEqual({
    ...pod("u2"),
    annotations: { "k8s.v1.cni.cncf.io/networks": "a@b", "kubernetes.io/config.source": "api" },
    isFromCall: true,
  });
  expect(how).toBe("its annotations came with the call");
});

test("findPod takes a static pod at once when its annotations came with the call", async () => {
  const config = withAnnotations({ "kubernetes.io/config.source": "file" });
  expect((await find(needsWith(undefined), args, { config })).pod).toMatchObject({ isStatic: true, uid: "u2" });
});

test("findPod ignores a runtimeConfig of another shape", async () => {
  expect(find(needsWith(undefined), args, { config: withAnnotations([1]) })).rejects.toThrow("did not appear");
});

test("findPod waits for a pod that is not there yet", async () => {
  const late = pod("u2");
  expect(await find(needsWith(undefined, late))).toMatchObject({ pod: late, how: expect.stringContaining("watch") });
});

test("findPod waits for the new pod while the view has an older one with its name", async () => {
  const successor = pod("u2");
  expect((await find(needsWith(pod("u1"), successor))).pod).toBe(successor);
});

test("findPod fails in the end, and names the pod, the wait and the UID it saw", async () => {
  expect(find(needsWith(undefined))).rejects.toMatchObject({
    code: "pod-unknown",
    message: expect.stringContaining("default/web: it did not appear within 20 ms"),
  });
  expect(find(needsWith(pod("u1")))).rejects.toThrow('expected pod UID "u2" but got "u1"');
});

test.each([
  [undefined, "it did not appear within 20 ms; no directory is set"],
  ["/etc/levee", "it did not appear within 20 ms in the folder /etc/levee"],
])("findPod with the directory %p names the place where it looked", (directory, expected) => {
  const config = { addLookupMs: 20, directory } as DaemonConfig;
  expect(find({ ...needsWith(undefined), config })).rejects.toThrow(expected);
});

test("findPod ends when its caller leaves", async () => {
  const leaving = new AbortController();
  const looking = find(needsWith(undefined, undefined, 60_000), args, { signal: leaving.signal });
  leaving.abort(new Error("left"));
  expect(looking).rejects.toThrow("left");
});
