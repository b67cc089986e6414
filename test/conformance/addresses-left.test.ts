// Addresses that a network has left on a node: the real host-local, counted by the real hand.
import { expect, test } from "bun:test";
import { freePort } from "../lab/free-port.ts";
import { distributionPlugins, type Lab } from "../lab/lab.ts";
import { attach, round, startGcNode } from "./garbage.ts";
import { containerId } from "./node.ts";

/** The two metrics of the network, without their names. */
async function addresses(lab: Lab, port: number): Promise<readonly string[]> {
  await round(lab, "look");
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(/^levee_network_addresses(_left)?\{.*$/gmu)].map(([line]) => line);
}

test("addresses left follow ADD and DEL, and a network that has never given one is not named", async () => {
  const metricsPort = await freePort();
  await using lab = await startGcNode(
    { binDir: distributionPlugins, metricsPort },
    {
      prepare: async (made) => {
        const dataDir = made.path("cni/networks");
        const network = (subnet: string): object => ({
          cniVersion: "1.0.0",
          type: "ptp",
          ipam: { type: "host-local", dataDir, subnet },
        });
        await made.network("lan", network("10.213.7.0/29"));
        await made.network("unused", network("10.213.8.0/29"));
        for (const name of ["one", "two"]) await made.pod(name, { "k8s.v1.cni.cncf.io/networks": "lan" });
      },
    },
  );
  expect(await addresses(lab, metricsPort)).toEqual([]);
  const netns = await attach(lab, "one", lab.podArgs("one"));
  await attach(lab, "two", lab.podArgs("two"));
  expect(await addresses(lab, metricsPort)).toEqual([
    'levee_network_addresses{network="default/lan"} 5',
    'levee_network_addresses_left{network="default/lan"} 3',
  ]);
  const gone = await lab.cni("DEL", { containerId: containerId("one"), netns, args: lab.podArgs("one") });
  expect(gone.exitCode).toBe(0);
  expect(await addresses(lab, metricsPort)).toContain('levee_network_addresses_left{network="default/lan"} 4');
});
