import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { NetnsPath } from "../../src/base/brand.ts";
import type { Frame } from "../../src/wire/frame.ts";
import { readFolderPage } from "../../src/wire/folder-page.ts";
import { encodeList } from "../../src/wire/messages.ts";
import { encodeLinks, readNetnsLinks } from "../../src/wire/netns-links.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { hostLinks, ipIn, lasting } from "./sandbox.ts";
import type { Peer } from "./scripted-daemon.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

async function resident(): Promise<Peer> {
  sandbox.resident();
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.welcome(60_000);
  return peer;
}

async function outcomeOf(peer: Peer, order: Uint8Array): Promise<Frame> {
  peer.send(order);
  return peer.expect("OUTCOME");
}

test("LINKS: the resident hand names the interfaces of any namespace, and of the host", async () => {
  const peer = await resident();
  const netns = sandbox.netns("links");
  const inside = ["net1", "a-name-of-15-by"];
  for (const name of inside) ipIn(netns, "link", "add", name, "type", "bridge");
  const { value } = readNetnsLinks(await outcomeOf(peer, encodeLinks(1, netns)));
  expect(value.names.toSorted()).toEqual(["lo", ...inside].toSorted());
  expect(value.isTruncated).toBe(false);
  const before = hostLinks();
  const host = readNetnsLinks(await outcomeOf(peer, encodeLinks(2, ""))).value.names;
  expect(lasting(before).filter((name) => !host.includes(name))).toEqual([]);
  expect(host).not.toContain("a-name-of-15-by");
});

test("LINKS: the addresses of one interface are told when the daemon asks, also of one that is down", async () => {
  const peer = await resident();
  const netns = sandbox.netns("addresses");
  ipIn(netns, "link", "add", "br0", "type", "bridge");
  for (const address of ["10.1.0.1/24", "10.2.0.7/32", "fd00:1::1/64"])
    ipIn(netns, "address", "add", address, "dev", "br0");
  const addresses = async (step: number, addressesOf?: string): Promise<readonly string[] | undefined> => {
    const more = addressesOf === undefined ? {} : { addressesOf };
    return readNetnsLinks(await outcomeOf(peer, encodeLinks(step, netns, more))).value.addresses;
  };
  expect((await addresses(1, "br0"))?.toSorted()).toEqual(["10.1.0.1/24", "10.2.0.7/32", "fd00:1::1/64"]);
  expect(await addresses(2, "br1")).toEqual([]);
  expect(await addresses(3)).toEqual([]);
});

test("LINKS: the processes in a namespace are counted when the daemon asks, without the hand's own", async () => {
  const peer = await resident();
  const netns = sandbox.netns("users");
  const users = async (step: number): Promise<number | undefined> =>
    readNetnsLinks(await outcomeOf(peer, encodeLinks(step, netns, { countsUsers: true }))).value.users;
  expect(await users(1)).toBe(0);
  const inside = spawn("ip", ["netns", "exec", basename(netns), "sh", "-c", "sleep 600 & echo; wait"], {
    detached: true,
  });
  await new Promise((resolve) => inside.stdout.once("data", resolve));
  expect(await users(2)).toBe(2);
  expect(readNetnsLinks(await outcomeOf(peer, encodeLinks(3, netns))).value.users).toBeUndefined();
  process.kill(-(inside.pid ?? 0), "SIGKILL");
  await new Promise((resolve) => inside.once("close", resolve));
  expect(await users(4)).toBe(0);
});

test("LINKS: processes that end meanwhile do not fail the count", async () => {
  const peer = await resident();
  const netns = sandbox.netns("ending");
  const churn = Array.from({ length: 3 }, () =>
    spawn("sh", ["-c", "while :; do /bin/true; done"], { stdio: "ignore" }),
  );
  try {
    for (let step = 1; step <= 60; step += 1) {
      const { value, outcome } = readNetnsLinks(await outcomeOf(peer, encodeLinks(step, netns, { countsUsers: true })));
      expect({ users: value.users, message: outcome.message }).toEqual({ users: 0, message: "" });
    }
  } finally {
    for (const shell of churn) shell.kill("SIGKILL");
  }
});

test("LINKS: 60 interfaces come through whole", async () => {
  const peer = await resident();
  const netns = sandbox.netns("many");
  const lines = Array.from({ length: 60 }, (_, number) => `link add an-interface${number} type bridge`);
  writeFileSync(sandbox.path("batch"), lines.join("\n"));
  ipIn(netns, "-batch", sandbox.path("batch"));
  const { value } = readNetnsLinks(await outcomeOf(peer, encodeLinks(1, netns)));
  expect(new Set(value.names).size).toBe(61);
});

test("LINKS: interfaces that come meanwhile do not fail it, and all that were there are named", async () => {
  const peer = await resident();
  const netns = sandbox.netns("growing");
  const batch = (name: string, count: number): string => {
    // The kernel removes many of these at once faster than many bridges, which would hold up other tests.
    const lines = Array.from(
      { length: count },
      (_, number) => `link add ${name}${number} type veth peer ${name}p${number}`,
    );
    writeFileSync(sandbox.path(name), lines.join("\n"));
    return sandbox.path(name);
  };
  ipIn(netns, "-batch", batch("there", 100));
  const there = Array.from({ length: 100 }, (_, number) => `there${number}`);
  const growing = spawn("ip", ["-n", basename(netns), "-batch", batch("come", 200)], { stdio: "ignore" });
  let hasGrown = false;
  const grown = new Promise((resolve) => growing.once("close", resolve)).then(() => (hasGrown = true));
  for (let step = 1; !hasGrown; step += 1) {
    const { value, outcome } = readNetnsLinks(await outcomeOf(peer, encodeLinks(step, netns)));
    expect(outcome.failure).toBeUndefined();
    expect(there.filter((name) => !value.names.includes(name))).toEqual([]);
    expect(new Set(value.names).size).toBe(value.names.length);
  }
  await grown;
});

test("LINKS: a namespace that is not there, and a file that is none, are failures with their errno", async () => {
  const peer = await resident();
  const failure = async (path: string): Promise<unknown> =>
    readOutcome(await outcomeOf(peer, encodeLinks(1, path as NetnsPath)));
  expect(await failure("/run/netns/no-such")).toMatchObject({
    failure: "links",
    errno: 2,
    message: "Cannot open the network namespace /run/netns/no-such: No such file or directory (errno 2)",
  });
  expect(await failure("/etc/hostname")).toMatchObject({ failure: "links", errno: 22 });
  // The hand stayed where it was.
  expect(readNetnsLinks(await outcomeOf(peer, encodeLinks(2, ""))).outcome.failure).toBeUndefined();
});

test("LINKS: a call's shim looks into its own namespace and no other", async () => {
  const [own, other] = [sandbox.netns("own"), sandbox.netns("other")];
  ipIn(own, "link", "add", "net1", "type", "bridge");
  const shim = sandbox.call("ADD", {}, { CNI_NETNS: own });
  const peer = await daemon.accept();
  await peer.begin();
  const seen = readNetnsLinks(await outcomeOf(peer, encodeLinks(1, own))).value.names;
  expect(seen.toSorted()).toEqual(["lo", "net1"]);
  for (const elsewhere of [other, "" as const]) {
    const refused = readOutcome(await outcomeOf(peer, encodeLinks(2, elsewhere)));
    expect(refused).toMatchObject({ failure: "refused", message: expect.stringContaining(JSON.stringify(own)) });
  }
  await peer.finish();
  expect((await shim.exited).code).toBe(0);
});

test("LIST: leases with their bytes; links, folders and long files without", async () => {
  const peer = await resident();
  const folder = sandbox.path("networks/lan");
  mkdirSync(folder, { recursive: true });
  mkdirSync(`${folder}/sub`);
  writeFileSync(`${folder}/10.1.0.2`, "container-1\r\neth0");
  writeFileSync(`${folder}/lock`, "");
  writeFileSync(`${folder}/long`, "x".repeat(5_000));
  symlinkSync("/etc/hostname", `${folder}/link`);
  const { value } = readFolderPage(await outcomeOf(peer, encodeList(1, folder)));
  expect(
    value.entries.map(({ name, kind, content }) => [
      name,
      kind,
      content === undefined ? undefined : Buffer.from(content).toString(),
    ]),
  ).toEqual([
    ["10.1.0.2", "file", "container-1\r\neth0"],
    ["link", "other", undefined],
    ["lock", "file", ""],
    ["long", "file", undefined],
    ["sub", "folder", undefined],
  ]);
  expect(value.isTruncated).toBe(false);
  expect(Math.abs((value.entries[0]?.changedWallMs ?? 0) - Date.now())).toBeLessThan(60_000);
});

test("LIST: a folder that does not fit into a frame comes in pages", async () => {
  const peer = await resident();
  const folder = sandbox.path("many");
  mkdirSync(folder);
  const names = Array.from({ length: 600 }, (_, number) => `result-${String(number).padStart(4, "0")}`);
  for (const name of names) writeFileSync(`${folder}/${name}`, "x".repeat(4_000));
  const seen: string[] = [];
  let pages = 0;
  for (let more = true; more; pages += 1) {
    const { value } = readFolderPage(await outcomeOf(peer, encodeList(pages, folder, seen.at(-1))));
    seen.push(...value.entries.map(({ name }) => name));
    more = value.isTruncated;
  }
  expect(seen).toEqual(names);
  expect(pages).toBe(3);
});

test("LIST: refused for what is no plain path and for a call; a folder that is not there has its errno", async () => {
  const peer = await resident();
  for (const path of ["var/lib/cni", `${sandbox.root}/../x`])
    expect(readOutcome(await outcomeOf(peer, encodeList(1, path)))).toMatchObject({ failure: "refused" });
  const absent = readOutcome(await outcomeOf(peer, encodeList(2, sandbox.path("absent"))));
  expect(absent).toMatchObject({ failure: "list", errno: 2, message: expect.stringContaining("absent") });
  sandbox.call("DEL");
  const call = await daemon.accept();
  await call.begin();
  expect(readOutcome(await outcomeOf(call, encodeList(1, sandbox.root)))).toMatchObject({ failure: "refused" });
  await call.finish();
});
