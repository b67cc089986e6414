import { calm, kubelet, multus, nodes, pods } from "./a-cluster.ts";
import { wholeContainer } from "./kills-and-reboots.ts";
import type { Scenario } from "./replay.ts";

const shop = { namespace: "shop", owner: "ReplicaSet" };

/** Events of an ordinary day. No alert may fire. */
export const nearMisses: readonly Scenario[] = [
  {
    name: "a rollout of 300 healthy pods",
    minutes: 60,
    series: [
      ...busy(),
      ...pods(300, { ...shop, prefix: "old" }, (index) => ({ bound: -900, running: -899, gone: 7 + index / 15 })),
      ...pods(300, { ...shop, prefix: "new" }, (index) => {
        const bound = 5 + Math.floor(index / 15);
        return { bound, running: bound + 1 + (index % 3) };
      }),
    ],
    fires: [],
  },
  {
    name: "a drain that moves 110 pods at once, ownerless debug pods among them",
    minutes: 60,
    series: [
      ...busy(),
      ...pods(110, { ...shop, prefix: "before" }, () => ({ bound: -900, running: -899, gone: 10 })),
      ...pods(110, { ...shop, prefix: "after" }, (index) => ({ bound: 10, running: 12 + (index % 4) })),
      ...pods(5, { namespace: "shop", owner: "", prefix: "debug" }, () => ({ bound: -90, running: -89, gone: 10 })),
    ],
    fires: [],
  },
  {
    name: "300 pods of a rollout with a bad image",
    minutes: 60,
    series: [...busy(), ...pods(300, { ...shop, prefix: "new" }, () => ({ bound: 5, addressed: 6 }))],
    fires: [],
  },
  {
    name: "30 short Job pods Pending at any instant",
    minutes: 40,
    series: [
      ...busy(),
      ...pods(30 * 20, { namespace: "batch", owner: "Job", prefix: "job" }, (index) => {
        const bound = 2 * Math.floor(index / 30);
        return { bound, running: bound + 2, succeeded: bound + 3, gone: bound + 6 };
      }),
    ],
    fires: [],
  },
  {
    name: "build runners: 40 ownerless pods that come and go",
    minutes: 150,
    series: [
      ...busy(),
      ...pods(374, { namespace: "ci", owner: "", prefix: "runner" }, (index) => {
        const bound = 10 + Math.floor((index * 3) / 8);
        return { bound, running: bound + 1, succeeded: bound + 15 - (index % 5), gone: bound + 16 };
      }),
    ],
    fires: [],
  },
  wholeContainer,
];

/** A busy node is no sick node: some sandboxes fail, and the daemons use more than at night. */
function busy(): ReturnType<typeof calm> {
  return [
    ...calm().filter(({ name }) => !/^(?:kubelet_|container_memory|kube_pod_container_)/u.test(name)),
    ...nodes.flatMap((node) => multus({ node, limitMiB: 50, usedMiB: (minute) => 30 + (minute % 7) })),
    ...nodes.flatMap((node) => kubelet(node, (minute) => ({ asked: 20, failed: minute % 2 }))),
  ];
}
