import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContainerId, IfName, NetworkName } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { prepareDeviceInfo, readDeviceInfo, removeDeviceInfo } from "./device-info.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-devinfo-"));
  await mkdir(join(folder, "dp"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const device = { resourceName: "intel.com/sriov", deviceId: "0000:03:02.1" };

function recordWith(request: object): AttachmentRecord {
  const chain = { network: "default/sriov-net" as NetworkName, ifname: "net1" as IfName, multus: { request } };
  return { containerId: "c1" as ContainerId, chains: [chain] } as unknown as AttachmentRecord; // only these are read
}

test("prepareDeviceInfo copies the device plugin's file, readDeviceInfo reads it, removeDeviceInfo removes it", async () => {
  const info = '{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:03:02.1"}}';
  await writeFile(join(folder, "dp/intel.com-sriov-0000:03:02.1-device.json"), info);
  const record = recordWith(device);
  await prepareDeviceInfo(record, folder, silentLogger);
  const copy = join(folder, "cni/default-sriov-net-c1_net1");
  expect(await readFile(copy, "utf8")).toBe(info);
  expect((await stat(copy)).mode & 0o777).toBe(0o444);
  expect((await stat(join(folder, "cni"))).mode & 0o777).toBe(0o755);
  expect(await readDeviceInfo(record, folder, silentLogger)).toEqual([info as never]);
  await removeDeviceInfo(record, folder, silentLogger);
  await removeDeviceInfo(record, folder, silentLogger);
  expect(await readDeviceInfo(record, folder, silentLogger)).toEqual([undefined]);
});

test("prepareDeviceInfo does nothing without a device, without a file, and with a link in the file's place", async () => {
  await writeFile(join(folder, "secret"), "{}");
  await symlink(join(folder, "secret"), join(folder, "dp/intel.com-sriov-linked-device.json"));
  for (const request of [{}, device, { ...device, deviceId: "linked" }, { deviceId: "mine" }]) {
    await prepareDeviceInfo(recordWith(request), folder, silentLogger);
    expect(await readDeviceInfo(recordWith(request), folder, silentLogger)).toEqual([undefined]);
  }
});

test("prepareDeviceInfo, readDeviceInfo and removeDeviceInfo open folders without permissions, as the daemon has no capabilities", async () => {
  await writeFile(join(folder, "dp/intel.com-sriov-0000:03:02.1-device.json"), "{}");
  await mkdir(join(folder, "cni"));
  const program = `
    import { prepareDeviceInfo, readDeviceInfo, removeDeviceInfo } from ${JSON.stringify(join(import.meta.dir, "device-info.ts"))};
    const record = ${JSON.stringify(recordWith(device))};
    const logger = { warn: (text, facts) => console.log(text, facts) };
    const chmod = (mode) => ["dp", "cni"].forEach((name) => require("fs").chmodSync(${JSON.stringify(folder)} + "/" + name, mode));
    for (const work of [prepareDeviceInfo, readDeviceInfo, removeDeviceInfo, readDeviceInfo]) {
      chmod(0);
      console.log(JSON.stringify(await work(record, ${JSON.stringify(folder)}, logger)) ?? "done");
    }`;
  const withoutCapabilities = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"];
  const { stdout, stderr } = Bun.spawnSync([...withoutCapabilities, process.execPath, "-e", program]);
  expect(stdout.toString() + stderr.toString()).toBe('done\n["{}"]\ndone\n[null]\n');
});

test("readDeviceInfo leaves out a file that is not JSON", async () => {
  await mkdir(join(folder, "cni"));
  await writeFile(join(folder, "cni/default-sriov-net-c1_net1"), '{"type":');
  expect(await readDeviceInfo(recordWith(device), folder, silentLogger)).toEqual([undefined]);
});
