import { expect, test } from "bun:test";
import { leakOf, unknownLeak } from "./leak-ledger.ts";
import { systemClock } from "../../base/clock.ts";
import { leakView, quarantineView, recordView } from "./record-view.ts";
import { aRecord, json } from "./record.fixture.ts";

const result = json(
  '{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:07","sandbox":"/n"}],"ips":[{"address":"10.0.0.7/24","interface":0}]}',
);

test("recordView shows each network with what its plugin answered", () => {
  const record = aRecord(1, { phase: "acknowledged", results: [result] });
  const [network] = recordView(record).networks;
  expect(network).toMatchObject({
    network: record.chains[0]?.network,
    ips: ["10.0.0.7/24"],
    isDefault: record.chains[0]?.isDefault,
  });
  expect(recordView(record)).toMatchObject({
    pod: record.pod.name,
    containerId: record.containerId,
    netns: record.netns.path,
  });
});

test("recordView leaves out the addresses of a result that cannot be read, and of one that is not there yet", () => {
  for (const results of [[json('{"cniVersion":"9.9.9","ips":7}')], []]) {
    expect(recordView(aRecord(1, { results })).networks[0]).toMatchObject({ ips: [], mac: "" });
  }
});

test("leakView names the networks that are left, and the call's interface where none is known", () => {
  const record = aRecord(1);
  expect(leakView(leakOf(record, [0], "no", systemClock))).toMatchObject({
    network: record.chains[0]?.network,
    reason: "no",
    pod: record.pod.name,
  });
  const facts = { pod: undefined, netns: record.netns, cniPath: "", bootId: "", reason: "lost" };
  expect(leakView(unknownLeak(record, facts, systemClock))).toMatchObject({
    network: "",
    ifname: record.ifname,
    namespace: "",
  });
});

test("quarantineView names the file and when it was found", () => {
  const one = { name: "a.bad", source: "journal", reason: "torn", offset: 0, bytes: 1, foundWallMs: 5 } as const;
  expect(quarantineView(one)).toEqual({ file: "a.bad", reason: "torn", sinceWallMs: 5 });
});
