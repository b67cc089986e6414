import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { Directory } from "../../directory/directory.ts";
import { directoryView } from "./directory-view.ts";
import { requestOf } from "../look-up/pod-request.ts";
import { emptyView, type View } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const pod: PodFacts = {
  namespace: "default" as Namespace,
  name: "web" as PodName,
  uid: "" as PodUid,
  annotations: { "k8s.v1.cni.cncf.io/networks": "lan" },
  priority: undefined,
  isStatic: false,
};

const missing = "cannot find a network-attachment-definition (lan) in namespace (default)";
const goodPod = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "good" } });

let folder: string;
let directory: Directory | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-view-"));
});

afterEach(async () => {
  await directory?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function viewOf(files: Readonly<Record<string, string>>): Promise<View> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  directory = await Directory.open({ folder, clock: systemClock, logger: silentLogger });
  return directoryView(directory);
}

async function refusal(view: View): Promise<unknown> {
  return requestOf(pod, view).then(
    () => "found",
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown),
  );
}

test("directoryView finds what the folder holds", async () => {
  const view = await viewOf({ "good.yaml": goodPod });
  expect((await view.findPod(pod.namespace, "good" as PodName))?.name).toBe("good" as PodName);
  expect(view.problems?.()).toEqual([]);
});

test("requestOf names a file that cannot be read, because the network may be in it", async () => {
  const view = await viewOf({ "good.yaml": goodPod, "lan.yaml": "kind: NetworkAttachmentDefinition\nspec: [\n" });
  expect(await refusal(view)).toMatch(
    /^cannot find .* \(lan\) in namespace \(default\); 1 file in the directory cannot be read: lan\.yaml, line \d+$/,
  );
});

test("requestOf does not mention the folder when all of it was read, or when there is none", async () => {
  expect(await refusal(await viewOf({ "a.yaml": goodPod, "b.yaml": goodPod }))).toBe(missing);
  expect(await refusal(emptyView)).toBe(missing);
});

test("requestOf names three unread files at most, and counts all", async () => {
  const view = { ...emptyView, problems: () => ["a, line 1", "b", "c", "d"] };
  expect(await refusal(view)).toBe(`${missing}; 4 files in the directory cannot be read: a, line 1; b; c, …`);
});
