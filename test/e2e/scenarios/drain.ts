import { test } from "bun:test";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { nodeName } from "../machine.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";

const eight = names("drain", 8);
const node = `/api/v1/nodes/${nodeName}`;

test("a node is drained and nothing is left on it; it returns and takes pods again", async () => {
  const { cluster, levee } = await theInstalled();
  await cluster.pods.run(podsOn(eight, "blue, green"));
  await cluster.api.patch(node, { spec: { unschedulable: true } });
  for (const name of eight) {
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
    await cluster.api.create(`/api/v1/namespaces/default/pods/${name}/eviction`, eviction);
  }
  await cluster.pods.untilGone(eight);
  await untilNothingIsLeft(levee);
  await cluster.api.patch(node, { spec: { unschedulable: false } });
  await cluster.pods.run(podsOn(eight, "blue, green"));
  for (const name of eight) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue", "default/green"]);
  await cluster.pods.remove(eight);
  await untilNothingIsLeft(levee);
});
