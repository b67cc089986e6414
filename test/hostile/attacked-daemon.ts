import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { Lab } from "../lab/lab.ts";
import { Health } from "./health.ts";
import { warmUp } from "./obedient-hand.ts";

/** Of the file that called `withAttackedDaemon`. */
export let lab: Lab;
/** Of the daemon. */
export let pid = 0;
/** Of the test that runs now. */
let health: Health;

/** All tests of the file attack one daemon. After each of them it must be as sound as before. */
export function withAttackedDaemon(settings: Readonly<Record<string, unknown>>): void {
  beforeAll(async () => {
    lab = await Lab.make();
    await lab.plugin("first");
    await lab.configure({
      delegates: [{ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }],
      ...settings,
    });
    pid = (await lab.startDaemon()).pid ?? 0;
    await warmUp(lab);
  });
  afterAll(() => lab.remove());
  beforeEach(() => {
    health = Health.of(lab, pid);
  });
  afterEach(() => health.expectSound());
}
