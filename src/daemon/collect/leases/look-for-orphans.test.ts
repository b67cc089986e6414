import { expect, test } from "bun:test";
import { LeveeError } from "../../../base/errors.ts";
import type { Hand } from "../../../hands/hand.ts";
import type { FolderEntry } from "../../../wire/folder-page.ts";
import { OrphanLeases } from "./orphan-leases.ts";
import { readHostFolder } from "../../../hands/host-folder.ts";
import { lookForOrphans } from "./look-for-orphans.ts";
import { systemClock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/log.ts";
import { asJsonText } from "../../../cni/json-text.ts";
import { ConfCache } from "../../look-up/conf-cache.ts";
import { Turns } from "../../serve/turns.ts";

function entry(name: string): FolderEntry {
  return { name, kind: "file", changedWallMs: 0, content: undefined };
}

/** A hand that lists a folder of these names in pages. */
function handWith(names: readonly string[], pageMax: number): Hand {
  const list = (folder: string, after?: string): Promise<unknown> => {
    if (folder !== "/folder") return Promise.resolve(undefined);
    const rest = names.slice(after === undefined ? 0 : names.indexOf(after) + 1);
    return Promise.resolve({ entries: rest.slice(0, pageMax).map(entry), isTruncated: rest.length > pageMax });
  };
  return { list } as unknown as Hand; // only what it uses
}

test("readHostFolder reads page by page, and distinguishes a missing folder from an empty one", async () => {
  const names = ["a", "b", "c", "d", "e"];
  expect(await readHostFolder(handWith(names, 2), "/folder", ({ name }) => name)).toEqual(names);
  expect(await readHostFolder(handWith([], 2), "/folder", ({ name }) => name)).toEqual([]);
  expect(await readHostFolder(handWith([], 2), "/other", ({ name }) => name)).toBeUndefined();
});

test("readHostFolder refuses an endless folder: half a list would make living containers unknown", () => {
  const names = Array.from({ length: 20_001 }, (_, index) => String(index));
  expect(readHostFolder(handWith(names, 5_000), "/folder", ({ name }) => name)).rejects.toThrow(
    "more than 20000 entries",
  );
});

test("readHostFolder refuses a folder that was removed or emptied between two pages", () => {
  const pages = [{ entries: [entry("a")], isTruncated: true }, undefined];
  const gone = { list: () => Promise.resolve(pages.shift()) } as unknown as Hand; // only what it uses
  expect(readHostFolder(gone, "/folder", ({ name }) => name)).rejects.toThrow("removed while it was read");
  const empty = { list: () => Promise.resolve({ entries: [], isTruncated: true }) } as unknown as Hand; // the same
  expect(readHostFolder(empty, "/folder", ({ name }) => name)).rejects.toThrow("removed while it was read");
});

const config = { delegates: [], runtimeCniDir: "/var/lib/cni", cniDir: "/nowhere", binDir: "/bin" };

/** A node with an empty journal, on which host-local holds an address of each container. */
function nodeWith(
  containers: readonly string[],
  folders: Readonly<Record<string, readonly string[]>>,
  dataDir = "/broken",
) {
  const networks = "/var/lib/cni/networks";
  const page = (entries: readonly FolderEntry[]) => ({ entries, isTruncated: false, isShared: false });
  const list = (path: string): Promise<unknown> => {
    const names = folders[path];
    if (path === "/broken") return Promise.reject(new LeveeError("io-failed", "Cannot list the folder /broken"));
    if (path === "/nfs") return Promise.resolve({ ...page([{ ...entry("lan"), kind: "folder" }]), isShared: true });
    if (path === "/nfs/lan") return Promise.resolve(page([{ ...entry("10.1.0.1"), content: Buffer.from("other") }]));
    if (path === networks) return Promise.resolve(page([{ ...entry("lan"), kind: "folder" }]));
    if (path === `${networks}/lan`)
      return Promise.resolve(
        page(containers.map((id, index) => ({ ...entry(`10.0.0.${index}`), content: Buffer.from(`${id}\r\neth0`) }))),
      );
    return Promise.resolve(names && page(names.map((name) => ({ ...entry(name), kind: "folder" }))));
  };
  const needs = {
    config: { ...config, delegates: [asJsonText(`{"ipam":{"dataDir":"${dataDir}"}}`, "the test")] },
    journal: { all: () => [], leaks: () => [], losses: () => [] },
    view: { networks: () => [] },
    confs: new ConfCache(),
  };
  const sight = { alive: new Set<never>(), gone: new Set<never>(), places: new Set<never>() };
  const hand = { list, isLost: false } as unknown as Hand; // only what it uses
  return lookForOrphans(hand, sight, needs);
}

test("lookForOrphans spares a container for which a runtime has a folder, even without a result", async () => {
  const look = await nodeWith(["lost", "task", "sandbox", "crio", "docker", "k3s"], {
    "/var/lib/cni/results": ["lan-new-eth0"],
    "/run/containerd/io.containerd.runtime.v2.task": ["k8s.io"],
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io": ["task"],
    "/run/containerd/io.containerd.sandbox.controller.v1.shim": ["k8s.io"],
    "/run/containerd/io.containerd.sandbox.controller.v1.shim/k8s.io": ["sandbox"],
    "/run/k3s/containerd/io.containerd.runtime.v2.task": ["k8s.io"],
    "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io": ["k3s"],
    "/var/lib/containers/storage/overlay-containers": ["crio"],
    "/var/lib/docker/containers": ["docker"],
  });
  expect(look.orphans.map(({ containerId }) => containerId)).toEqual(["lost"]);
  expect(look.doubt).toBe("");
});

test("lookForOrphans continues when one folder cannot be read", async () => {
  const look = await nodeWith(["lost"], { "/var/lib/cni/results": [] });
  expect(look.orphans).toHaveLength(1);
  expect(look.notes).toEqual(["Addresses in /broken cannot be looked at: Cannot list the folder /broken"]);
});

test("lookForOrphans skips a folder that other nodes may share, as it does not know their containers", async () => {
  const look = await nodeWith(["lost"], { "/var/lib/cni/results": [] }, "/nfs");
  expect(look.orphans.map(({ dataDir }) => dataDir)).toEqual(["/var/lib/cni/networks"]);
  expect(look.notes).toEqual([expect.stringContaining("Addresses in /nfs cannot be looked at: other nodes may use")]);
});

test("OrphanLeases notes that an old hand cannot look", async () => {
  const hand = { supports: () => false, identity: { software: "levee-shim 0.1" } } as unknown as Hand; // all that is asked of it
  const round = await new OrphanLeases({
    bootWallMs: () => Promise.resolve(0),
    clock: systemClock,
    config,
    logger: silentLogger,
    journal: { all: () => [], leaks: () => [], losses: () => [] },
    turns: new Turns(),
    view: { networks: () => [] },
    confs: new ConfCache(),
  }).round(hand, { alive: new Set(), gone: new Set(), places: new Set() }, { toFree: true, toRelease: true });
  expect(round).toEqual({
    findings: [],
    notes: ["Addresses of host-local cannot be looked at: levee-shim 0.1 is too old"],
  });
});
