import { expect, test } from "bun:test";
import type { Hand } from "../hands/hand.ts";
import type { FolderEntry } from "../wire/folder-page.ts";
import { LeaseGc } from "./leases-gc.ts";
import { collect } from "./leases-look.ts";
import type { NodePorts } from "./node-ports.ts";

function entry(name: string): FolderEntry {
  return { name, kind: "file", changedWallMs: 0, content: undefined };
}

/** A hand that shows a folder of these names, so many at a time. */
function handWith(names: readonly string[], pageMax: number): Hand {
  const list = (folder: string, after?: string): Promise<unknown> => {
    if (folder !== "/folder") return Promise.resolve(undefined);
    const rest = names.slice(after === undefined ? 0 : names.indexOf(after) + 1);
    return Promise.resolve({ entries: rest.slice(0, pageMax).map(entry), isTruncated: rest.length > pageMax });
  };
  return { list } as unknown as Hand; // only what it uses
}

test("collect reads a folder page by page, and tells one that is not there from an empty one", async () => {
  const names = ["a", "b", "c", "d", "e"];
  expect(await collect(handWith(names, 2), "/folder", ({ name }) => name)).toEqual(names);
  expect(await collect(handWith([], 2), "/folder", ({ name }) => name)).toEqual([]);
  expect(await collect(handWith([], 2), "/other", ({ name }) => name)).toBeUndefined();
});

test("collect refuses a folder that has no end: half a list would make living containers unknown", () => {
  const names = Array.from({ length: 20_001 }, (_, index) => String(index));
  expect(collect(handWith(names, 5_000), "/folder", ({ name }) => name)).rejects.toThrow("more than 20000 entries");
});

test("LeaseGc says that an old hand cannot look", async () => {
  const hand = { supports: () => false, identity: { software: "levee-shim 0.1" } } as unknown as Hand; // all that is asked of it
  const round = await new LeaseGc({} as NodePorts).round(
    hand,
    { alive: new Set(), gone: new Set(), places: new Set() },
    true,
  );
  expect(round).toEqual({
    findings: [],
    notes: ["Addresses of host-local cannot be looked at: levee-shim 0.1 is too old"],
  });
});
