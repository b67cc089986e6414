/**
 * The programs that are shipped for arm64, emulated: they attach and delete a pod in a real network namespace. The program
 * for amd64 runs on an emulated processor of 2008.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { daemonEnv } from "../../src/config/daemon-env.ts";
import { version } from "../../src/base/version.ts";
import { realBridge } from "../conformance/bridge.ts";
import { containerId, expectSilence, networksAnnotation, resultOf, startNode } from "../conformance/node.ts";
import { ip, leveeProgram, type LabPrograms } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { unpackImage } from "./image/unpack-image.ts";

// Emulation takes ten times as long, and other tests run beside it.
setDefaultTimeout(240_000);

const qemu = "qemu-aarch64-static";
const machineArm64 = 0xb7;
/** The files of the image for arm64. */
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "levee-arm64-"));
  unpackImage(join(import.meta.dir, "../../dist/image/levee.oci.tar"), "arm64", root);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function emulatedShim(): readonly [string, ...string[]] {
  return [qemu, join(root, "usr/local/bin/levee-shim")];
}

/** With the C library of the image. */
function emulatedLevee(): readonly [string, ...string[]] {
  return [qemu, "-L", root, join(root, "usr/local/bin/levee")];
}

function output(command: readonly string[]): string {
  const [program = "", ...args] = command;
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...daemonEnv },
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

/** A pod with the distribution's bridge as its second network: ADD, CHECK, DEL, and nothing is left. */
async function attachAndDelete(programs: LabPrograms): Promise<void> {
  await using bridge = realBridge("e");
  const settings = Object.entries(daemonEnv).map((pair) => pair.join("="));
  await using lab = await startNode({ programs, withHand: true, daemonPrefix: ["env", ...settings] });
  await lab.network("lan", bridge.conf("lan", { dataDir: ipamFolder(lab) }));
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const call = { containerId: containerId("arm"), netns: lab.netns("a"), args: lab.podArgs("web") };
  const inside = call.netns.slice(call.netns.lastIndexOf("/") + 1);
  resultOf(await lab.cni("ADD", call));
  expect(ip(["-n", inside, "-br", "addr", "show", "net1"])).toContain(`${bridge.subnet}.2/24`);
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  expect(ip(["-n", inside, "-br", "link"])).not.toContain("net1");
  expect(await addresses(lab)).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
}

describe("the programs for arm64", () => {
  test("are for arm64, and say their version", () => {
    for (const name of ["levee", "levee-shim"])
      expect(readFileSync(join(root, "usr/local/bin", name)).readUInt16LE(18)).toBe(machineArm64);
    expect(output([...emulatedShim(), "--version"])).toContain(`levee-shim ${version}`);
    expect(output([...emulatedLevee(), "--version"])).toContain(version);
  });

  test("the emulated shim and hand attach and delete a pod with the daemon of this machine", async () => {
    await attachAndDelete({ levee: [leveeProgram], shim: emulatedShim() });
  });

  test("so do they with the emulated daemon", async () => {
    await attachAndDelete({ levee: emulatedLevee(), shim: emulatedShim() });
  });
});

test("a simulated storm of one seed is the same on both kinds of processor, byte for byte", () => {
  const storm = ["sim", "storm", "--nodes", "2", "--pods", "60", "--cpu", "100m", "--seed", "7", "-o", "json"];
  const [emulated, own] = [emulatedLevee(), [leveeProgram]].map(([program = "", ...args]) => {
    // Emulated, it takes so long that it tells of its progress on standard error.
    const env = { PATH: process.env["PATH"], ...daemonEnv };
    const { status, stdout } = spawnSync(program, [...args, ...storm], { encoding: "utf8", env });
    return { status, hash: /"hash": ?"\d+-[0-9a-f]{16}"/u.exec(stdout)?.[0], stdout };
  });
  expect(own?.hash).toBeString();
  expect(emulated).toEqual(own);
});

test("the program for amd64 runs on a processor without AVX", () => {
  expect(output(["qemu-x86_64-static", "-cpu", "Nehalem", leveeProgram, "--version"])).toContain(version);
});
