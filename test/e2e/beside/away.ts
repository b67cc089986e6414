import { expect } from "bun:test";
import type { LeaksAnswer } from "../../../src/wire/node-view.ts";
import { eventsOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { podsOn, type Scene } from "../the-levee.ts";
import { until } from "../until.ts";

/** A plugin's daemon that can be taken away and brought back. */
export interface Helper {
  readonly network: string;
  /** What the pod's event says when the daemon is away, besides the network's name. */
  readonly complaint: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Without its daemon a network refuses a pod with words that name it, and takes the pod once the daemon is back. */
export async function expectRefusedUntilBack({ cluster }: Scene, helper: Helper): Promise<void> {
  const pod = `${helper.network}-waits`;
  await helper.stop();
  await cluster.pods.create(podsOn([pod], helper.network));
  const { message } = await until(`${pod} is refused`, async () =>
    (await eventsOf(cluster.api, pod)).find(({ reason }) => reason === "FailedCreatePodSandBox"),
  );
  expect(message).toContain(`${helper.network} (net1): `);
  expect(message).toContain(helper.complaint);
  await helper.start();
  await cluster.pods.untilReady([pod]);
  await cluster.pods.remove([pod]);
}

/** A pod that goes while the daemon is away: it goes, the ledger has what is left, and that goes with the daemon's return. */
export async function expectLedgerUntilBack({ cluster, levee }: Scene, helper: Helper): Promise<void> {
  const pod = `${helper.network}-goes`;
  await cluster.pods.run(podsOn([pod], helper.network));
  await helper.stop();
  await cluster.pods.remove([pod]);
  const { leaks } = await levee.ask<LeaksAnswer>({ ask: "leaks" });
  expect(leaks.map((leak) => `${leak.pod} ${leak.network}`)).toEqual([`${pod} default/${helper.network}`]);
  expect(leaks[0]?.reason).toContain(helper.complaint);
  await helper.start();
  levee.cli("leaks", "--retry");
  await untilNothingIsLeft(levee);
}
