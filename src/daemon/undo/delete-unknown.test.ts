import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import type { Hand } from "../../hands/hand.ts";
import { deleteUnknown, type UnknownDelete } from "./delete-unknown.ts";
import type { NodePorts } from "../node-ports.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";

test("deleteUnknown of a container that was never attached says in the timeline that there was nothing to undo", async () => {
  const timeline = new KeptTimeline();
  const dropped: string[] = [];
  const ports: Partial<Record<keyof NodePorts, unknown>> = {
    timeline,
    config: { cniDir: "/nowhere" },
    journal: { knows: () => "never-added" },
    offline: {
      dropDelete: (containerId: string, ifname: string): Promise<void> => {
        dropped.push(`${containerId}:${ifname}`);
        return Promise.resolve();
      },
    },
  };
  const request: UnknownDelete = {
    containerId: "c1" as ContainerId,
    ifname: "eth0" as IfName,
    args: parseCniArgs("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web"),
    cniPath: "",
    now: { path: "", identity: undefined },
    config: () => Promise.reject(new Error("nobody needs it")),
  };
  await deleteUnknown({} as Hand, request, ports as NodePorts);
  expect(dropped).toEqual(["c1:eth0"]);
  expect(timeline.of("default", "web")).toMatchObject([
    { containerId: "c1", verb: "DEL", what: "finished", detail: "nothing to undo" },
  ]);
});
