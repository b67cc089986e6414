import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { ChecksAnswer } from "../../src/wire/node-view.ts";
import { FailingDisk, hasFailingDisks } from "../lab/failing-disk.ts";
import { freePort } from "../lab/free-port.ts";
import type { Lab } from "../lab/lab.ts";
import { addStory, attachments, delStory, errorOf, expectSuccess, makeNode, podCall, story } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const stateUnwritable = 109;
/** The promise is a second; the rest is for a busy machine. */
const toldMsMax = 3_000;

test.skipIf(!hasFailingDisks)(
  "the state disk turns read-only: deletes succeed, ADDs are refused, every place says so, and a disk that is back gets all of it",
  async () => {
    await using lab = await makeNode();
    using disk = new FailingDisk(lab.stateDir, lab.path("disk.img"));
    const metricsPort = await freePort();
    await lab.configure({ clusterNetwork: "primary", undoRetryMs: 100, metricsPort });
    await lab.startDaemon();
    const [gone, stays] = [podCall(lab, "gone"), podCall(lab, "stays")];
    for (const call of [gone, stays]) expectSuccess(await lab.cni("ADD", call));
    expect((await journalCheck(lab)).state).toBe("ok");

    disk.fail();
    // Nothing was written since: the daemon finds it by itself.
    await lab.until(
      "check node tells",
      async () => (await journalCheck(lab)).state === "failed" || undefined,
      toldMsMax,
    );
    expect((await journalCheck(lab)).detail).toContain("EROFS");
    await lab.until("the log tells", () => Promise.resolve(lab.daemonLog.includes("EROFS") || undefined), toldMsMax);
    expect(await got(metricsPort, "/readyz")).toMatch(/^503 \[-\]journal failed: .*EROFS/m);
    expect(await got(metricsPort, "/metrics")).toContain('levee_check_failed{check="journal",severity="failed"} 1');
    expectSuccess(await lab.cni("STATUS", { containerId: "" }));

    await lab.forgetCalls();
    expectSuccess(await lab.cni("DEL", gone));
    expectSuccess(await lab.cni("DEL", gone));
    expect(await story(lab)).toEqual(delStory);
    expect((await attachments(lab)).map(({ containerId }) => containerId)).toEqual(["stays"]);
    const refused = podCall(lab, "refused");
    expect(errorOf(await lab.cni("ADD", refused))).toMatchObject({ code: stateUnwritable });
    expect((await journalCheck(lab)).detail).toContain("1 entry is only in memory");
    expect(await got(metricsPort, "/metrics")).toContain("levee_journal_unwritten 1");

    disk.replace();
    await lab.until("all is well", async () => (await journalCheck(lab)).state === "ok" || undefined);
    expect(await got(metricsPort, "/metrics")).toContain("levee_journal_unwritten 0");
    const journal = readFileSync(`${lab.stateDir}/journal.log`, "utf8");
    expect([journal.includes('"stays"'), journal.includes('"gone"')]).toEqual([true, false]);
    expectSuccess(await lab.cni("ADD", refused));
    await lab.killDaemon();
    await lab.startDaemon();
    expect((await attachments(lab)).map(({ containerId }) => containerId)).toEqual(["stays", "refused"]);
    for (const call of [stays, refused]) expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [gone, stays, refused].map(({ netns }) => netns) });
  },
);

test.skipIf(!hasFailingDisks)(
  "a plugin fails its DEL while the state disk is read-only: the runtime hears of the plugin, and in the end the DEL succeeds with a leak",
  async () => {
    await using lab = await makeNode({ delAttemptsMax: 3 });
    using disk = new FailingDisk(lab.stateDir, lab.path("disk.img"));
    await lab.startDaemon();
    const call = podCall(lab, "c1");
    expectSuccess(await lab.cni("ADD", call));
    disk.fail();
    await lab.script("beta.DEL", 'echo \'{"code":5,"msg":"beta is stuck"}\'; exit 1');
    for (const _ of [1, 2]) expect(errorOf(await lab.cni("DEL", call)).msg).toContain("beta is stuck");
    expectSuccess(await lab.cni("DEL", call));
    const { leaks } = await lab.ask<{ readonly leaks: readonly { readonly reason: string }[] }>({ ask: "leaks" });
    expect(leaks).toMatchObject([{ reason: expect.stringContaining("beta is stuck") }]);
    expect(await story(lab, "ADD")).toEqual(addStory);
    // Killed now, the next daemon has the old record and no leak, and the runtime's DEL does it all again.
    await lab.unscript("beta.DEL");
    await lab.killDaemon();
  },
);

async function journalCheck(lab: Lab): Promise<{ readonly state: string; readonly detail: string }> {
  const { checks } = await lab.ask<ChecksAnswer>({ ask: "checks" });
  return checks.find(({ name }) => name === "journal") ?? { state: "missing", detail: "" };
}

async function got(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return `${response.status} ${await response.text()}`;
}
