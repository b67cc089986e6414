import { expect, test } from "bun:test";
import { rolloutOf } from "./rollout-live.ts";

function statefulSet(status: object, spec: object = {}): object {
  return { metadata: { generation: 2 }, spec: { replicas: 3, ...spec }, status: { observedGeneration: 2, ...status } };
}

test("rolloutOf waits for every pod of a StatefulSet to be new and ready", () => {
  const missing = (status: object, spec?: object): string | undefined =>
    rolloutOf("StatefulSet", statefulSet(status, spec));
  expect(missing({ observedGeneration: 1 })).toBe("its controller has not yet seen the newest change");
  expect(missing({ updatedReplicas: 1, readyReplicas: 3 })).toBe("1 of 3 pods have the newest revision");
  expect(missing({ updatedReplicas: 3, readyReplicas: 2 })).toBe("2 of 3 are ready");
  expect(missing({ updatedReplicas: 3, readyReplicas: 3 })).toBeUndefined();
  const partition = { updateStrategy: { rollingUpdate: { partition: 2 } } };
  expect(missing({ updatedReplicas: 1, readyReplicas: 3 }, partition)).toBeUndefined();
});

test("rolloutOf looks at a DaemonSet as the step that changes its memory does", () => {
  const status = { desiredNumberScheduled: 3, updatedNumberScheduled: 2, numberReady: 3, observedGeneration: 2 };
  expect(rolloutOf("DaemonSet", { metadata: { generation: 2 }, status })).toBe("2 of 3 pods have the newest revision");
});
