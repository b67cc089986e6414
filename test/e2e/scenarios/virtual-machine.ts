/** KubeVirt's flow on a running pod, with a stand-in for virt-controller: plug, unplug, plug of the same name, a swap. */
import { expect, test } from "bun:test";
import { hashedName, launcherAnnotation, VirtController } from "../flows/virt-controller.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, hostLocal, network, podInterfaces } from "../networks.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { networksAnnotation } from "../the-levee.ts";

/** Far more than a second, for a busy machine; and less than the grace of a missing annotation. */
const soonMs = 20_000;
const mac = "02:57:00:00:00:07";

test("interfaces of a virtual machine come and go, and the last one goes as fast as the others", async () => {
  const { cluster, levee } = await theInstalled();
  forgetRecorded();
  const conf = (bridge: string, subnet: string): object => ({
    cniVersion: "1.0.0",
    type: "recorded-bridge",
    bridge,
    ipam: hostLocal(subnet),
  });
  await applyNetworks(
    cluster.api,
    network("red", conf("red0", "10.86.0.0/24")),
    network("gray", conf("gray0", "10.87.0.0/24")),
  );
  const prod = { name: "prod", definition: "red", mac };
  const extra = { name: "extra", definition: "gray" };
  expect(hashedName("prod")).toBe("pod6754af9632a");
  const annotations = { "kubevirt.io/domain": "vm", [networksAnnotation]: launcherAnnotation([prod], "default") };
  await cluster.pods.run([{ name: "launcher", annotations }]);
  const controller = new VirtController(cluster.api, "default", "launcher");
  const interfaces = (): readonly string[] => podInterfaces("launcher").map(({ ifname }) => ifname);
  await controller.change([prod, extra], soonMs);
  expect(interfaces()).toEqual(["eth0", hashedName("prod"), hashedName("extra")]);
  expect(podInterfaces("launcher")[1]).toMatchObject({ mac });
  await controller.change([extra], soonMs);
  expect(interfaces()).toEqual(["eth0", hashedName("extra")]);
  await controller.change([], soonMs);
  expect(interfaces()).toEqual(["eth0"]);
  // The same name again, then on another definition, which KubeVirt does after a migration only, but people by hand.
  await controller.change([prod], soonMs);
  expect(podInterfaces("launcher")[1]).toMatchObject({ ifname: hashedName("prod"), mac });
  await controller.change([{ ...prod, definition: "gray" }], soonMs);
  // The daemon asks each plugin for its versions when it looks at the networks.
  const deeds = recorded().flatMap(({ command, ifname }) => (command === "VERSION" ? [] : [`${command} ${ifname}`]));
  const [one, two] = [hashedName("prod"), hashedName("extra")];
  expect(deeds).toEqual([
    `ADD ${one}`,
    `ADD ${two}`,
    `DEL ${one}`,
    `DEL ${two}`,
    `ADD ${one}`,
    `DEL ${one}`,
    `ADD ${one}`,
  ]);
  await cluster.pods.remove(["launcher"]);
  await untilNothingIsLeft(levee);
}, 180_000);
