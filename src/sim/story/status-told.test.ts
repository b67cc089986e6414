import { describe, expect, test } from "bun:test";
import { networkStatusAnnotation } from "../../base/annotations.ts";
import { SimApi } from "../api/sim-api.ts";
import { SimKernel } from "../node/sim-kernel.ts";
import type { SimSandbox } from "../node/sim-runtime.ts";
import { Seeded } from "../time/seeded.ts";
import { SimTime } from "../time/sim-time.ts";
import { untoldStatus } from "./status-told.ts";

const pod = { namespace: "shop", name: "web", uid: "u", isCritical: false, networks: ["net-a"] };
const sandbox: SimSandbox = { id: "c", pod, netns: "/var/run/netns/c", state: "told" };

/** Says what is wrong with this annotation of a pod with two interfaces. */
function untold(annotation: string | undefined): string | undefined {
  const time = new SimTime();
  const api = new SimApi(time, () => undefined);
  const kernel = new SimKernel(time, new Seeded(1));
  const { links } = kernel.makeNetns(sandbox.netns);
  links.set("eth0", "default-net/10.1.0.2");
  links.set("net1", "net-a/10.1.0.3");
  const annotations = annotation === undefined ? {} : { [networkStatusAnnotation]: annotation };
  api.put("pods", { metadata: { namespace: "shop", name: "web", annotations } });
  return untoldStatus(api, kernel, sandbox);
}

describe("untoldStatus", () => {
  const eth0 = { name: "default-net", interface: "eth0", ips: ["10.1.0.2"] };
  const net1 = { name: "default/net-a", interface: "net1", ips: ["10.1.0.3"] };

  test("is silent where the annotation has all that is attached, in any order", () => {
    expect(untold(JSON.stringify([net1, eth0]))).toBeUndefined();
  });

  test("tells of a missing annotation, a missing interface and an old address", () => {
    expect(untold(undefined)).toContain("shop/web is told to have nothing, and has eth0 default-net/10.1.0.2");
    expect(untold(JSON.stringify([eth0]))).toContain("is told to have eth0 default-net/10.1.0.2, and has");
    expect(untold(JSON.stringify([eth0, { ...net1, ips: ["10.1.0.9"] }]))).toContain("net1 net-a/10.1.0.9");
  });
});
