/** Debian's containerd knows CNI up to 1.0.0. A newer one knows 1.1.0 and asks the network for its STATUS all the time. */
import { expect, test } from "bun:test";
import { makeContainerd } from "../node/containerd.ts";
import { reboot } from "../flows/reboot.ts";
import { say } from "../say.ts";
import { surroundings } from "../the-cluster.ts";
import { loadImages, theInstalled } from "../installed/the-installed.ts";
import { flowWithVersion } from "../flows/version-flow.ts";
import { until } from "../until.ts";

test("the node comes back with a newer containerd: CNI 1.1.0 throughout, and STATUS is answered", async () => {
  const scene = await theInstalled();
  const { cluster, levee } = scene;
  const newer = makeContainerd(cluster.machine, "containerd-new", surroundings().containerd);
  const replace = (): void => cluster.replaceContainerd(newer);
  await reboot({ cluster }, replace, () => {
    cluster.importImages();
    loadImages();
  });
  await levee.untilServing();
  await cluster.untilNodeReady();
  say("the node is back with a newer containerd");
  await flowWithVersion(scene, "1.1.0");
  const before = levee.daemon.log.length;
  await until("STATUS was asked", () => (levee.daemon.log.slice(before).includes('"STATUS"') ? true : undefined));
  expect(await cluster.isNodeReady()).toBe(true);
});
