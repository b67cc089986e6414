import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AttachmentRecord } from "../journal/attachment-record.ts";
import { importMultusCache, readMultusRecord } from "./multus-cache.ts";
import {
  aCache,
  base64,
  calico,
  clusterElement,
  clusterElementHead,
  clusterList,
  clusterResult,
  lan,
  lanElement,
  lanResult,
  portmap,
  resultFiles,
  sandbox,
} from "./multus.fixture.ts";
import { aFolder, aRecord, attachIn, containerId, openIn } from "../journal/record.fixture.ts";

async function onlyRecord(cniDir: string): Promise<AttachmentRecord> {
  const { records, problems } = await importMultusCache(cniDir);
  expect(problems).toEqual([]);
  expect(records).toHaveLength(1);
  return records[0]!;
}

describe("importMultusCache", () => {
  for (const [version, cluster] of [
    ["v4.2.2 and v4.3.0", clusterElement],
    ["HEAD", clusterElementHead],
  ] as const) {
    test(`takes over an attachment of ${version} with the plugins' own bytes`, async () => {
      const record = await onlyRecord(await aCache({ [sandbox]: `[${cluster},${lanElement}]` }, resultFiles));
      expect(record).toMatchObject({
        containerId: sandbox,
        ifname: "eth0",
        netns: { path: "/var/run/netns/cni-1", identity: undefined },
        pod: { namespace: "shop", name: "cart-0", uid: "uid-7" },
        phase: "acknowledged",
        origin: "multus",
        hand: undefined,
        results: [clusterResult, lanResult],
      });
      expect(record.token).toMatch(/^[0-9a-f]{32}$/);
      const [primary, secondary] = record.chains;
      expect(primary).toMatchObject({
        network: "k8s-pod-network",
        ifname: "eth0",
        isDefault: true,
        cniVersion: "0.3.1",
      });
      const stdin = primary!.links[0]!.stdin;
      for (const kept of [
        '"server_socket":"/run/x.sock"',
        '"big":9007199254740993',
        '"mtu":1500.0',
        '"k":1,"k":2',
        '"subnet":"usePodCidr"',
        '"ingressRate":9007199254740993',
      ])
        expect(stdin).toContain(kept);
      expect(primary!.links[1]!.stdin).toContain('"runtimeConfig":{"portMappings":[{"hostPort":80}]}');
      expect(JSON.parse(stdin)).toMatchObject({ name: "k8s-pod-network", cniVersion: "0.3.1" });
      expect(secondary).toMatchObject({
        network: "default/lan",
        ifname: "net1",
        isDefault: false,
        routes: { dropV4: false, dropV6: true, gateways: ["10.9.0.1"] },
        multus: { request: { mac: "02:00:00:00:00:07", ips: ["10.9.0.7/24"], defaultRoute: ["10.9.0.1"] } },
      });
      expect(secondary!.links[0]!.stdin).toBe(lan as never);
      expect(secondary!.cniArgs).toEndWith(";MAC=02:00:00:00:00:07;IP=10.9.0.7/24");
    });
  }

  test("prefers the lossless list over lossy bytes, sub-directory plugins included", async () => {
    const extra = '{"type":"tuning","sysctl":{"net.core.somaxconn":"500"}}';
    const cluster = clusterElement.replace('],"Bytes":"', `,{"Network":{},"Bytes":"${base64(extra)}"}],"Bytes":"`);
    const record = await onlyRecord(await aCache({ [sandbox]: `[${cluster}]` }, resultFiles));
    expect(record.chains[0]!.links.map(({ type }) => String(type))).toEqual(["calico", "portmap", "tuning"]);
    expect(record.chains[0]!.multus.config).toBe(
      clusterList.replace(`[${calico},${portmap}]`, `[${calico},${portmap},${extra}]`) as never,
    );
  });

  test("works without results: interface names by Multus' rule, arguments from what is known", async () => {
    const named = lanElement.replace('"macRequest"', '"ifnameRequest":"data0","macRequest"');
    const record = await onlyRecord(await aCache({ [sandbox]: `[${clusterElement},${lanElement},${named}]` }));
    expect(record.chains.map(({ ifname }) => String(ifname))).toEqual(["eth0", "net1", "data0"]);
    expect(record.results).toEqual([undefined, undefined, undefined]);
    expect(record.chains[1]!.cniArgs).toBe(`IgnoreUnknown=true;K8S_POD_INFRA_CONTAINER_ID=${sandbox}`);
    expect(record.pod).toMatchObject({ namespace: "", name: "" });
  });

  test("gives the same network twice its two results", async () => {
    const second = resultFiles[`lan-${sandbox}-net1`]!.replaceAll("net1", "net2").replace(
      lanResult,
      '{"cniVersion":"1.0.0","second":true}',
    );
    const record = await onlyRecord(
      await aCache(
        { [sandbox]: `[${clusterElement},${lanElement},${lanElement}]` },
        { ...resultFiles, [`lan-${sandbox}-net2`]: second },
      ),
    );
    expect(record.chains.map(({ ifname }) => String(ifname))).toEqual(["eth0", "net1", "net2"]);
    expect(record.results[2]).toContain("second");
  });
});

describe("importMultusCache with devices and damaged files", () => {
  test("takes over what was plugged through /delegate, which is in the results alone", async () => {
    const record = await onlyRecord(await aCache({ [sandbox]: `[${clusterElement}]` }, resultFiles));
    expect(record.chains.map(({ network, ifname }) => `${network} ${ifname}`)).toEqual([
      "k8s-pod-network eth0",
      "lan net1",
    ]);
    expect(record.chains[1]?.multus.request).toMatchObject({ ifname: "net1" });
    expect(record.chains[1]?.links[0]?.stdin).toContain('"id":18446744073709551615');
  });

  test("leaves an allotted device where Multus has put it, and adds it nowhere else", async () => {
    const device = '"deviceID":"0000:3b:02.1","pciBusID":"0000:3b:02.1"';
    const withDevice = lan.replace('"id":', `${device},"id":`);
    const named = '"deviceID":"0000:3b:02.1","resourceName":"intel.com/sriov","Bytes":"';
    const element = lanElement.replace(`"Bytes":"${base64(lan)}`, `${named}${base64(withDevice)}`);
    const record = await onlyRecord(await aCache({ [sandbox]: `[${clusterElement},${element}]` }));
    const [first, second] = record.chains.map(({ links }) =>
      links.map(({ stdin }) => stdin.split("0000:3b:02.1").length - 1),
    );
    expect({ first, second }).toEqual({ first: [0, 0], second: [2] });
    expect(record.chains[1]!.links[0]!.stdin).toContain(device);
    expect(record.chains[1]!.multus.request).toMatchObject({ deviceId: "0000:3b:02.1" });
  });

  test("reports what cannot be used, leaves it in place, and never throws", async () => {
    const bad: Record<string, string> = {
      empty: "",
      blank: " \n",
      list: "[]",
      nothing: "null",
      text: '"x"',
      cut: `[${lanElement}`,
      junk: "\u0000\u0001",
      numbers: "[1,2]",
      nulls: "[null]",
      nobytes: '[{"Name":"a"}]',
      badbytes: '[{"Bytes":"bm90IGpzb24="}]',
      notype: `[{"Bytes":"${base64('{"name":"a"}')}"}]`,
      path: `[{"Bytes":"${base64('{"name":"a","type":"../x"}')}"}]`,
      badname: `[{"Bytes":"${base64('{"name":"../../x","type":"bridge"}')}"}]`,
      badifname: `[{"ifnameRequest":"a/b","Bytes":"${base64(lan)}"}]`,
      deep: `[{"Bytes":"${base64(`{"name":"a","type":"b","x":${"[".repeat(3_000)}${"]".repeat(3_000)}}`)}"}]`,
      badlist: '[{"CNINetworkConfigList":{"Name":"a","Plugins":[null]}}]',
    };
    const cniDir = await aCache(bad, { "bad-1": "", "bad-2": "{}", "bad-3": '{"kind":"cniCacheV1"}' });
    const { records, problems } = await importMultusCache(cniDir);
    expect(records).toEqual([]);
    const reported = new Set(problems.flatMap(({ containerId: id }) => id ?? []).map(String));
    expect([...reported].toSorted()).toEqual(Object.keys(bad).toSorted());
    expect(problems.filter(({ containerId: id }) => id === undefined)).toHaveLength(3);
    expect(await readdir(cniDir)).toHaveLength(Object.keys(bad).length + 1);
  });

  test("takes over the good networks of a container and reports the bad one", async () => {
    const { records, problems } = await importMultusCache(
      await aCache({ [sandbox]: `[${clusterElement},{"Bytes":"eA=="},${lanElement}]` }, resultFiles),
    );
    expect(records[0]?.chains.map(({ confName }) => confName)).toEqual(["k8s-pod-network", "lan"]);
    expect(problems).toHaveLength(1);
  });

  test("a scratch file that cannot be read is made up for by the results", async () => {
    const { records, problems } = await importMultusCache(await aCache({ [sandbox]: "" }, resultFiles));
    expect(problems).toMatchObject([{ containerId: sandbox, reason: "it is empty" }]);
    expect(records[0]?.chains.map(({ ifname }) => String(ifname))).toEqual(["eth0", "net1"]);
    expect(records[0]?.chains[0]?.links[0]?.stdin).toContain("server_socket");
    expect(records[0]?.results).toEqual([clusterResult as never, lanResult as never]);
  });

  test("a folder that does not exist is a node without Multus", async () => {
    expect(await importMultusCache(join(await aFolder(), "none"))).toEqual({ records: [], problems: [] });
  });
});

describe("readMultusRecord", () => {
  test("reads one container, from its scratch file or from results alone, and no path", async () => {
    const other = { other: `[${lanElement}]` };
    const both = await aCache({ [sandbox]: `[${clusterElement},${lanElement}]`, ...other }, resultFiles);
    expect((await readMultusRecord(both, containerId(sandbox)))?.chains).toHaveLength(2);
    const resultsOnly = await aCache(other, resultFiles);
    expect((await readMultusRecord(resultsOnly, containerId(sandbox)))?.chains).toHaveLength(2);
    expect(await readMultusRecord(resultsOnly, containerId("nobody"))).toBeUndefined();
    for (const hostile of ["../other", "..", "", "results", "a/b"])
      expect(await readMultusRecord(resultsOnly, containerId(hostile))).toBeUndefined();
  });
});

describe("Journal with a Multus folder", () => {
  test("imports once, keeps its own records, and knows what it could not read", async () => {
    const multusDir = await aCache(
      { [sandbox]: `[${clusterElement}]`, damaged: "junk", partly: `[${lanElement},null]` },
      resultFiles,
    );
    const stateDir = await aFolder();
    const journal = await openIn(stateDir, { multusDir });
    expect(journal.importReport?.problems).toHaveLength(2);
    expect(
      journal
        .all()
        .map((record) => String(record.containerId))
        .toSorted(),
    ).toEqual([sandbox, "partly"]);
    expect(journal.knows(containerId("damaged"))).toBe("lost");
    expect(journal.knows(containerId("stranger"))).toBe("never-added");
    expect(journal.leaks()).toMatchObject([{ containerId: "partly", chains: [] }]);
    const imported = journal.all().find((record) => record.containerId === containerId(sandbox))!;
    await journal.removed(imported.token);
    await attachIn(journal, aRecord(1));
    await journal.close();

    const again = await openIn(stateDir, { multusDir });
    expect(again.importReport).toBeUndefined();
    expect(again.knows(containerId(sandbox))).toBe("settled");
    expect(again.knows(containerId("damaged"))).toBe("lost");
    await again.close();
  });

  test("until the import is done, an unknown container counts as lost", async () => {
    const stateDir = await aFolder();
    const unreadable = join(stateDir, "journal.log");
    const journal = await openIn(stateDir, { multusDir: unreadable });
    expect(journal.importReport).toBeUndefined();
    expect(journal.knows(containerId("stranger"))).toBe("lost");
    await attachIn(journal, aRecord(1));
    await journal.close();
    const again = await openIn(stateDir, { multusDir: await aCache({}) });
    expect(again.knows(containerId("stranger"))).toBe("never-added");
    await again.close();
  });
});
