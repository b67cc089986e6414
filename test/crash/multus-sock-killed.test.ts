/** The kill matrix of calls by `multus.sock`: their callers do not come back, and the resident hand has done the work. */
import { expect, test } from "bun:test";
import { makeMultusNode, multusCall, untilHealthy } from "../multus/multus-node.ts";
import { attachments, eachOf, isDead, podCall, startFragile } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const died = { status: 0, body: "" };

/** An ADD of three plugins writes six entries, its DEL one. */
const writes = [1, 2, 3, 4, 5, 6, 7];

test("a daemon that dies at any journal write of an ADD or DEL by multus.sock leaves nothing behind", async () => {
  await eachOf(writes, 3, async (write) => {
    await using lab = await makeMultusNode();
    const daemon = await startFragile(lab, write);
    await lab.startHand();
    await untilHealthy(lab);
    const call = podCall(lab, "c1");
    for (const verb of ["ADD", "DEL"]) if (!isDead(daemon)) await multusCall(lab, verb, call).catch(() => died);
    await lab.until("the daemon has died", () => Promise.resolve(isDead(daemon) || undefined));
    await lab.startDaemon();
    await untilHealthy(lab);
    // The runtime deletes what it asked for, and starts the pod anew.
    expect((await multusCall(lab, "DEL", call)).status).toBe(200);
    await lab.until("nothing is attached", async () => (await attachments(lab)).length === 0 || undefined);
    await expectNothingLeft(lab, { netns: [call.netns] });
    expect((await multusCall(lab, "ADD", call)).status).toBe(200);
    expect((await multusCall(lab, "DEL", call)).status).toBe(200);
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});
