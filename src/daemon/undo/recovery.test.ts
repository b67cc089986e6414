import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger, type Logger } from "../../base/log.ts";
import { noArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { OfflineDelete } from "./offline-folder.ts";
import { Residents } from "./residents.ts";
import { Suspects } from "./suspects.ts";
import { Recovery } from "./recovery.ts";

const attachment = { containerId: "c1" as ContainerId, ifname: "eth0" as IfName };

const request: OfflineDelete = {
  ...attachment,
  name: "c1:eth0.del",
  netns: "",
  netnsIdentity: undefined,
  args: noArgs,
  cniPath: "",
  config: asJsonText("{}", "the test"),
};

/** A node without journal records, with these files in its folder of offline records. */
function recoveryWith(files: Set<string>, logger: Logger = silentLogger): Recovery {
  return new Recovery({
    clock: systemClock,
    logger,
    config: { undoRetryMs: 60_000, addLookupMs: 1_000 },
    journal: { all: () => [], delFailed: () => Promise.resolve(), findByToken: () => undefined },
    offline: { has: (name: string) => files.has(name) },
    residents: new Residents(systemClock),
    suspects: new Suspects("boot"),
    item: { carryOut: () => Promise.resolve(true) },
    leaks: { isAnyWanted: false, retryDue: () => Promise.resolve(), wantAll: () => undefined },
  });
}

test("Recovery.isDeletePending is true for a delete made while the daemon was away, until it is done", () => {
  const files = new Set([request.name]);
  const recovery = recoveryWith(files);
  expect(recovery.isDeletePending(attachment)).toBe(false);
  recovery.offlineDelete(request);
  expect(recovery.isDeletePending(attachment)).toBe(true);
  expect(recovery.isDeletePending({ ...attachment, ifname: "eth1" as IfName })).toBe(false);
  expect(recovery.isDeletePending({ ...attachment, containerId: "c2" as ContainerId })).toBe(false);
  files.clear();
  expect(recovery.isDeletePending(attachment)).toBe(false);
});

test("Recovery.start logs how many deletes wait, and nothing when there are none", async () => {
  const said: string[] = [];
  const logger = { ...silentLogger, info: (message: string): number => said.push(message) };
  const idle = recoveryWith(new Set(), logger);
  idle.start();
  await idle.stop();
  expect(said).toEqual([]);
  const recovery = recoveryWith(new Set([request.name]), logger);
  recovery.offlineDelete(request);
  recovery.start();
  await recovery.stop();
  expect(said).toEqual([
    "1 delete made while the daemon was away waits to be carried out: it waits for a resident hand",
  ]);
});
