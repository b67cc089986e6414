import { test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { nodeName } from "../machine.ts";
import { staticPodFolder } from "../node/kubelet.ts";
import { podObject } from "../pods.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { networksAnnotation } from "../the-levee.ts";

const name = `static-${nodeName}`;

test("a static pod has its second network and its status", async () => {
  const { cluster, levee } = await theInstalled();
  const file = `${staticPodFolder}/static.yaml`;
  const pod = podObject({ name: "static", annotations: { [networksAnnotation]: "blue" } });
  writeFileSync(file, JSON.stringify(pod));
  await cluster.pods.untilReady([name]);
  await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"]);
  rmSync(file);
  await cluster.pods.untilGone([name]);
  await untilNothingIsLeft(levee);
});
