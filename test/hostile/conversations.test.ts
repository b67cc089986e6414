import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { AttachmentsAnswer, LeaksAnswer } from "../../src/wire/node-view.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { Lab } from "../lab/lab.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { callFields, callFrame } from "./call-frame.ts";
import { Health } from "./health.ts";
import { mutateBytes } from "./mutate.ts";
import { obey, residentHand, warmUp } from "./obedient-hand.ts";
import { inParallel, trial, trials } from "./random.ts";

setDefaultTimeout(120_000);

let lab: Lab;
let health: Health;

beforeEach(async () => {
  lab = await Lab.make();
  await lab.plugin("first");
  const primary = { cniVersion: "1.1.0", name: "primary", ...lab.conf("first") };
  await lab.configure({ delegates: [primary, { ...primary, name: "other" }], undoRetryMs: 100, logLevel: "error" });
  const { pid = 0 } = await lab.startDaemon();
  await warmUp(lab);
  health = Health.of(lab, pid);
});

afterEach(async () => {
  try {
    await health.expectSound({ mayLeak: true });
  } finally {
    await lab.remove();
  }
});

/** A plugin that failed its DEL has an entry in the ledger, as it should; nothing else may have one. */
async function untilClean(): Promise<void> {
  await lab.until(
    "nothing is attached",
    async () => {
      const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
      return attachments.length === 0 || undefined;
    },
    30_000,
  );
  const { leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  for (const { reason } of leaks) expect(reason).toMatch(/^(?:primary \(eth0\)|other \(net1\)): /);
}

test("a thousand conversations, each with a mutated answer, leave nothing behind", async () => {
  const resident = residentHand(lab);
  await inParallel(trials(1_000), 8, (random) =>
    trial(random, "A conversation with a mutated answer", async () => {
      const container = `talk-${random.seed}`;
      const verb = random.pick(["ADD", "ADD", "ADD", "CHECK", "DEL", "STATUS", "GC"]);
      const peer = await RawPeer.connect(lab.socketDir);
      const victim = random.below(6);
      peer.send(callFrame({ verb, container_id: container, budget_ms: 3_000 }));
      // A mutated length may leave the daemon waiting for the rest of a frame, so the shim hangs up sooner or later.
      const timer = setTimeout(() => peer.cut(), 150);
      await obey(peer, 40, { dress: (bytes, index) => (index === victim ? mutateBytes(random, bytes) : bytes) });
      clearTimeout(timer);
      peer.cut();
      await remove(container);
    }),
  );
  await untilClean();
  await resident.stop();
});

/** A runtime's last calls for a sandbox. */
async function remove(container: string): Promise<void> {
  const peer = await RawPeer.connect(lab.socketDir);
  peer.send(callFrame({ verb: "DEL", container_id: container, budget_ms: 3_000 }));
  await obey(peer);
}

test("resident hands with mutated answers are thrown out, and the work is done by the next one", async () => {
  await inParallel(trials(150), 1, (random) =>
    trial(random, "A resident hand with a mutated answer", async () => {
      const hand = await RawPeer.connect(lab.socketDir);
      hand.send(encodeFrame("RESIDENT", callFields()));
      const victim = random.below(4);
      const served = obey(hand, 12, {
        dress: (bytes, index) => (index === victim ? mutateBytes(random, bytes) : bytes),
      });
      const shim = await RawPeer.connect(lab.socketDir);
      shim.send(callFrame({ container_id: `left-${random.seed}`, budget_ms: 3_000 }));
      await obey(shim, 1 + random.below(4));
      shim.cut();
      await new Promise((resolve) => setTimeout(resolve, 10));
      hand.cut();
      await served;
    }),
  );
  const resident = residentHand(lab);
  await untilClean();
  await resident.stop();
});
