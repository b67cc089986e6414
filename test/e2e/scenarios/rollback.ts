/** Updates that cannot work: the pods of the node keep their networks, and after the way back new ones start again. */
import { afterAll, expect, test } from "bun:test";
import type { KubeObject } from "../api.ts";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { sandboxes } from "../node/containerd.ts";
import { withSettings, type Change } from "../installed/installed-levee.ts";
import { isReady, type Pod } from "../pods.ts";
import { BuildOfLevee } from "../installed/build-of-levee.ts";
import { say } from "../say.ts";
import { theInstalled, type InstalledScene } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { pause, until } from "../until.ts";

const old = names("kept", 4);
const waiting = names("patient", 2);

interface BadUpdate {
  readonly what: string;
  readonly change: Change;
  /** What the daemon's new pod says. */
  readonly complaint: RegExp;
  readonly goBack: (scene: InstalledScene) => void;
}

/** Of no build. */
const unknownDigest = `sha256:${"e".repeat(64)}`;

const updates: readonly BadUpdate[] = [
  {
    what: "an image that is nowhere",
    change: (object) => textChanged(object, /levee@sha256:[0-9a-f]+/gu, `levee@${unknownDigest}`),
    complaint: /ErrImagePull|ImagePullBackOff/u,
    goBack: undo,
  },
  {
    what: "an option that the daemon does not know",
    change: (object) => textChanged(object, /--health-port/gu, "--health-prot"),
    complaint: /health-prot/u,
    goBack: undo,
  },
  {
    what: "a setting that the daemon refuses",
    // Settings alone make no new pods.
    change: (object) => annotated(withSettings({ attachCeiling: "many" })(object)),
    complaint: /attachCeiling/u,
    // They are not part of a DaemonSet's history either.
    goBack: ({ levee }) => levee.apply(BuildOfLevee.current()),
  },
];

test.each(updates)("an update with $what is taken back", async ({ change, complaint, goBack }) => {
  const scene = await theInstalled();
  const { cluster, levee } = scene;
  await cluster.pods.run(podsOn(old, "blue"));
  const running = sandboxIds();
  levee.apply(BuildOfLevee.current(), change);
  await until("the new pod says what is wrong", async () => {
    const said = (await levee.daemon.pods()).map(complaintsOf).join("\n");
    return complaint.test(said) || undefined;
  });
  say("the new pod cannot start");
  await cluster.pods.create(podsOn(waiting, "blue"));
  await pause(3_000);
  await expectTraffic(old, "net1");
  expect(sandboxIds()).toEqual(running);
  expect(await cluster.isNodeReady()).toBe(true);
  for (const name of waiting) expect(isReady(await cluster.pods.get(name))).toBe(false);

  goBack(scene);
  await levee.untilRolledOut();
  await cluster.pods.untilReady(waiting);
  for (const name of [...old, ...waiting]) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"]);
  expect(sandboxIds()).toEqual(running);
  await expectTraffic([...old, ...waiting], "net1");
  await cluster.pods.remove([...old, ...waiting]);
  await untilNothingIsLeft(levee);
});

afterAll(async () => {
  const { levee } = await theInstalled();
  await levee.install();
}, 120_000);

function undo({ cluster }: InstalledScene): void {
  cluster.kubectl(["-n", "levee-system", "rollout", "undo", "daemonset/levee"]);
}

function sandboxIds(): readonly string[] {
  return sandboxes()
    .filter(({ pod }) => old.includes(pod))
    .map(({ id }) => id)
    .toSorted();
}

/** Only in the daemon's DaemonSet. */
function textChanged(object: KubeObject, what: RegExp, by: string): KubeObject {
  if (object.kind !== "DaemonSet" || object.metadata.name !== "levee") return object;
  return JSON.parse(JSON.stringify(object).replaceAll(what, by)) as KubeObject; // still an object
}

/** With another mark in the template of its pods. */
function annotated(object: KubeObject): KubeObject {
  return textChanged(object, /"template":\{"metadata":\{/gu, '"template":{"metadata":{"annotations":{"settings":"2"},');
}

/** Why its containers do not run, as `kubectl describe` shows it. */
function complaintsOf({ status }: Pod): string {
  return JSON.stringify([status?.containerStatuses, status?.initContainerStatuses]);
}
