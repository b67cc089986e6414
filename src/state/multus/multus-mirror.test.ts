import { describe, expect, test } from "bun:test";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { IfName, PluginType } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import type { AttachmentRecord } from "../journal/attachment-record.ts";
import { importMultusCache } from "./multus-cache.ts";
import { MultusMirror } from "./multus-mirror.ts";
import { aCache, base64, clusterElement, clusterList, lanElement, resultFiles, sandbox } from "./multus.fixture.ts";
import { aChain, aFolder, aRecord, containerId, json } from "../journal/record.fixture.ts";

async function imported(): Promise<AttachmentRecord> {
  const { records } = await importMultusCache(
    await aCache({ [sandbox]: `[${clusterElement},${lanElement}]` }, resultFiles),
  );
  return records[0]!;
}

async function written(record: AttachmentRecord): Promise<string> {
  const cniDir = join(await aFolder(), "multus");
  expect(await new MultusMirror(cniDir, silentLogger).write(record)).toBeUndefined();
  return cniDir;
}

describe("MultusMirror", () => {
  test("writes the shape of v4.2.2, with bytes that are lossless", async () => {
    const cniDir = await written(await imported());
    const text = await readFile(join(cniDir, sandbox), "utf8");
    const lossy = /"Bytes":"[^"]*"}(?=,\{"Conf":\{"cniVersion")/;
    expect(text).toBe(`[${clusterElement},${lanElement}]`.replace(lossy, `"Bytes":"${base64(clusterList)}"}`));
  });

  test("writes libcni's result files in its order of keys", async () => {
    const cniDir = await written(await imported());
    expect((await readdir(join(cniDir, "results"))).toSorted()).toEqual(Object.keys(resultFiles).toSorted());
    const name = `k8s-pod-network-${sandbox}-eth0`;
    const bandwidthFirst = resultFiles[name]!.replace(
      /"capabilityArgs":\{("portMappings":\[.*?\]),("bandwidth":\{.*?\})\}/,
      '"capabilityArgs":{$2,$1}',
    );
    expect(await readFile(join(cniDir, "results", name), "utf8")).toBe(bandwidthFirst);
    const second = JSON.parse(await readFile(join(cniDir, "results", `lan-${sandbox}-net1`), "utf8")) as object;
    expect(second).toEqual(JSON.parse(resultFiles[`lan-${sandbox}-net1`]!) as object);
  });

  test("what it writes can be imported again without loss", async () => {
    const record = await imported();
    const again = await importMultusCache(await written(record));
    expect(again.problems).toEqual([]);
    expect(again.records).toEqual([{ ...record, startedWallMs: again.records[0]!.startedWallMs }]);
  });

  test("files are 0600 in folders of 0700, and no temporary file stays", async () => {
    const cniDir = await written(await imported());
    for (const path of [cniDir, join(cniDir, "results")]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(cniDir, sandbox))).mode & 0o777).toBe(0o600);
    expect((await readdir(cniDir)).toSorted()).toEqual([sandbox, "results"].toSorted());
  });

  test("puts the device and cni-args where Multus keeps them", async () => {
    const stdin = json(
      '{"type":"sriov","name":"x","cniVersion":"1.0.0","deviceID":"0000:3b:02.1","pciBusID":"0000:3b:02.1","args":{"cni":{"a":1}},"runtimeConfig":{}}',
    );
    const link = { type: "sriov" as PluginType, stdin };
    const request = {
      deviceId: "0000:3b:02.1",
      resourceName: "intel.com/sriov",
      ifname: "data0",
      infinibandGuid: "00:11",
      defaultRoute: [],
    };
    const conf = { config: json('{"name":"x","type":"sriov","vlan":5}'), isList: false, capabilityArgs: {}, request };
    const list = { ...conf, config: json('{"name":"x","plugins":[{"type":"sriov"},{"type":"tuning"}]}'), isList: true };
    const record = aRecord(1, {
      chains: [
        aChain({ links: [link], multus: conf, confName: "x" }),
        aChain({ links: [link, { ...link, stdin: json("{}") }], multus: list, confName: "y" }),
      ],
      netns: { path: "", identity: undefined },
    });
    const cniDir = await written(record);
    const [single, several] = JSON.parse(await readFile(join(cniDir, "container1"), "utf8")) as Record<
      string,
      string
    >[];
    const bytes = Buffer.from(single!["Bytes"]!, "base64").toString();
    expect(bytes).toBe(
      '{"name":"x","type":"sriov","vlan":5,"deviceID":"0000:3b:02.1","pciBusID":"0000:3b:02.1","args":{"cni":{"a":1}}}',
    );
    expect(single).toMatchObject({
      "ifnameRequest": "data0",
      "deviceID": "0000:3b:02.1",
      "resourceName": "intel.com/sriov",
      "default-route": [],
    });
    expect(Buffer.from(several!["Bytes"]!, "base64").toString()).toContain('"plugins":[{"type":"sriov","deviceID"');
    const result = await readFile(join(cniDir, "results", "x-container1-net1"), "utf8");
    expect(result).not.toContain("netns");
    expect(result).not.toContain('"result"');
  });
});

describe("MultusMirror under stress", () => {
  test("hostile values in a configuration neither throw nor reach a path", async () => {
    const odd = json('{"name":"x","type":"b","ipam":null,"dns":[],"capabilities":7,"plugins":"no"}');
    const good = aRecord(1, { chains: [aChain({ multus: { ...aChain().multus, config: odd } })] });
    expect(await new MultusMirror(await aFolder(), silentLogger).write(good)).toBeUndefined();
    for (const change of [
      { containerId: containerId("../x") },
      { chains: [aChain({ confName: "a/../../b" })] },
      { chains: [aChain({ ifname: "../../c" as IfName })] },
    ]) {
      const cniDir = join(await aFolder(), "cni");
      const mirror = new MultusMirror(cniDir, silentLogger);
      expect(await mirror.write(aRecord(1, change))).toMatchObject({ code: "io-failed" });
      expect(await mirror.remove(aRecord(1, change))).toMatchObject({ code: "io-failed" });
    }
  });

  test("removes its files, twice if need be, and leaves others", async () => {
    const record = await imported();
    const cniDir = await written(record);
    await writeFile(join(cniDir, "other"), "[]");
    const mirror = new MultusMirror(cniDir, silentLogger);
    expect(await mirror.remove(record)).toBeUndefined();
    expect(await mirror.remove(record)).toBeUndefined();
    expect((await readdir(cniDir)).toSorted()).toEqual(["other", "results"]);
    expect(await readdir(join(cniDir, "results"))).toEqual([]);
  });

  test("an unwritable folder is logged once and fails nothing", async () => {
    const lines: string[] = [];
    const file = join(await aFolder(), "file");
    await writeFile(file, "");
    const mirror = new MultusMirror(join(file, "cni"), { ...silentLogger, warn: (line) => void lines.push(line) });
    const record = await imported();
    expect(await mirror.write(record)).toMatchObject({ code: "io-failed" });
    expect(await mirror.write(record)).toMatchObject({ code: "io-failed" });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(join(file, "cni"));
  });

  test("a removal that is asked for right after a write comes after it", async () => {
    const cniDir = join(await aFolder(), "multus");
    const mirror = new MultusMirror(cniDir, silentLogger);
    const record = aRecord(1);
    void mirror.write(record);
    await mirror.remove(record);
    expect(await readdir(cniDir)).toEqual(["results"]);
    expect(await readdir(join(cniDir, "results"))).toEqual([]);
  });
});
