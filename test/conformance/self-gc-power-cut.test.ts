// A power cut leaves files of host-local that name no container: the daemon has them removed, under host-local's own lock.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, truncateSync, utimesSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { distributionPlugins, type Lab } from "../lab/lab.ts";
import { inShort, lease, round, startGcNode } from "./garbage.ts";
import { containerId } from "./node.ts";

const yearMs = 365 * 24 * 3_600_000;
const withPlugins = { binDir: distributionPlugins };

/** Runs the distribution's host-local, and gives the address of an ADD. */
function hostLocal(lab: Lab, command: "ADD" | "DEL", container: string): string {
  const conf = {
    ...{ cniVersion: "1.0.0", name: "lan", type: "bridge" },
    ipam: { type: "host-local", dataDir: lab.path("cni/networks"), ranges: [[{ subnet: "10.9.0.0/29" }]] },
  };
  const env = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId(container),
    CNI_NETNS: "/proc/self/ns/net",
    CNI_IFNAME: "eth0",
    CNI_PATH: distributionPlugins,
  };
  const { status, stdout } = spawnSync(join(distributionPlugins, "host-local"), {
    input: JSON.stringify(conf),
    env,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stdout);
  if (command === "DEL") return "";
  const { ips } = JSON.parse(stdout) as { ips: readonly { address: string }[] }; // the CNI specification's
  return (ips[0]?.address ?? "").replace(/\/.*$/u, "");
}

/** What a power cut makes of a file that was not synced: its name and its time were. */
function loseContent(file: string, ageMs = yearMs): void {
  truncateSync(file);
  const then = new Date(Date.now() - ageMs);
  utimesSync(file, then, then);
}

test("an address that lost its container with the power is freed without a word from anybody, and given out again", async () => {
  await using lab = await startGcNode({ ...withPlugins, gcIntervalMs: 200 });
  const folder = lab.path("cni/networks/lan");
  const held = ["one", "two", "three", "four", "five"].map((name) => join(folder, hostLocal(lab, "ADD", name)));
  for (const file of held) loseContent(file);
  await lab.until("they are freed", () => Promise.resolve(held.some((file) => existsSync(file)) ? undefined : true));
  expect(lab.daemonLog).toContain("An address of an earlier boot was freed");
  expect(existsSync(join(folder, "lock"))).toBe(true);
  // Five addresses are all that the range has.
  for (const name of ["six", "seven", "eight", "nine", "ten"]) hostLocal(lab, "ADD", name);
});

test("host-local itself cannot free it, a look only tells of it, and a fix frees it", async () => {
  await using lab = await startGcNode(withPlugins);
  const file = join(lab.path("cni/networks/lan"), hostLocal(lab, "ADD", "one"));
  loseContent(file);
  hostLocal(lab, "DEL", "one");
  expect(existsSync(file)).toBe(true);
  const { findings } = await round(lab, "look");
  expect(findings).toMatchObject([
    { what: "lease", action: "release", why: "the file is empty and older than this boot" },
  ]);
  expect(existsSync(file)).toBe(true);
  expect(inShort(await round(lab, "fix"))).toEqual([expect.stringMatching(/^lease 10\.9\.0\.\d released$/u)]);
  expect(existsSync(file)).toBe(false);
  expect((await round(lab, "fix")).findings).toEqual([]);
});

test("a file that was just written, and one that names a container, are never touched", async () => {
  await using lab = await startGcNode(withPlugins);
  const folder = lab.path("cni/networks/lan");
  const now = await lease(folder, "10.9.0.7", { content: "", ageMs: 0 });
  const named = join(folder, hostLocal(lab, "ADD", "named"));
  utimesSync(named, new Date(0), new Date(0));
  expect(inShort(await round(lab, "fix"))).toContain("lease 10.9.0.7 wait");
  expect(existsSync(now)).toBe(true);
  expect(await readFile(named, "utf8")).toContain(containerId("named"));
});

test("a file that host-local may be writing is left alone, however old it looks: its lock is taken", async () => {
  await using lab = await startGcNode(withPlugins);
  const file = join(lab.path("cni/networks/lan"), hostLocal(lab, "ADD", "one"));
  loseContent(file);
  const lock = join(lab.path("cni/networks/lan"), "lock");
  const owner = spawn("flock", [lock, "sh", "-c", "echo; sleep 1; printf 'writing\\r\\neth0' > $0", file], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => owner.stdout.once("data", resolve));
  const { findings } = await round(lab, "fix");
  expect(findings).toMatchObject([
    { what: "lease", action: "failed", detail: expect.stringContaining("not the file any more that the daemon saw") },
  ]);
  expect(await readFile(file, "utf8")).toBe("writing\r\neth0");
});
