import { expect, test } from "bun:test";
import type { FolderEntry } from "../../../wire/folder-page.ts";
import { leaseOf } from "../../../hands/lease.ts";
import { KnownContainers, leaseCounts, orphansAmong } from "./leases.ts";

const place = { dataDir: "/var/lib/cni/networks", network: "lan" };

function file(name: string, content: string | undefined, kind: FolderEntry["kind"] = "file"): FolderEntry {
  return { name, kind, changedWallMs: 5, content: content === undefined ? undefined : Buffer.from(content) };
}

test.each([
  ["10.0.0.2", "abc\r\neth0", { containerId: "abc", isBlank: false, ifname: "eth0" }],
  ["10.0.0.2", "abc", { containerId: "abc", isBlank: false, ifname: "" }],
  ["fd00::2", "abc\neth0\n", { containerId: "abc", isBlank: false, ifname: "eth0" }],
  ["10.0.0.2", "", { containerId: "", isBlank: true, ifname: "" }],
  ["10.0.0.2", "\0".repeat(70), { containerId: "", isBlank: true, ifname: "" }],
  ["10.0.0.2", "../../etc/passwd\r\neth0", { containerId: "", isBlank: false, ifname: "eth0" }],
])("leaseOf reads the file %s with %p", (name, content, read) => {
  expect(leaseOf(file(name, content), place)).toEqual({
    ...place,
    address: name,
    ...read,
    changedWallMs: 5,
  });
});

test("leaseOf ignores the lock, the last address given out, a folder and an unreadable file", () => {
  const others = [
    file("lock", ""),
    file("last_reserved_ip.0", "10.0.0.2"),
    file("10.0.0.3", undefined, "folder"),
    file("10.0.0.4", undefined),
  ];
  expect(others.map((entry) => leaseOf(entry, place))).toEqual([undefined, undefined, undefined, undefined]);
});

test("orphansAmong finds leases of unknown containers, also when names contain dashes", () => {
  const known = new KnownContainers(["journal"], ["cbr0-runtime-eth0", "my-net-my-own-pod-eth0"]);
  const containers = ["journal", "runtime", "my-own-pod", "own", "lost", ""];
  const leases = containers.map((containerId) => ({
    ...place,
    address: "10.0.0.2",
    containerId,
    isBlank: containerId === "",
    ifname: "",
    changedWallMs: 0,
  }));
  // A part of a name counts as known: one known container too many does no harm.
  expect(orphansAmong(leases, known).map(({ containerId }) => containerId)).toEqual(["lost", ""]);
});

test("leaseCounts counts both families of each network, and the largest 200 networks", () => {
  const lease = (network: string, address: string) => ({
    ...{ dataDir: "/d", network, address, containerId: "c", isBlank: false, ifname: "", changedWallMs: 0 },
  });
  const many = Array.from({ length: 300 }, (_, at) => lease(`n${at}`, "10.0.0.2"));
  const counts = leaseCounts([...many, lease("lan", "10.0.0.2"), lease("lan", "fd00::2"), lease("lan", "10.0.0.3")]);
  expect(counts[0]).toEqual({ network: "lan", v4: 2, v6: 1 });
  expect(counts).toHaveLength(200);
});
