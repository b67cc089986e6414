import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hand } from "../../hands/hand.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { shimProblem, type ShimSight } from "./shim-problem.ts";

interface Scene {
  readonly binDir: string;
  /** Of the attachments in the journal, oldest first. */
  readonly cniPaths?: readonly string[];
  /** What the resident hand sees on the host; undefined when there is none. */
  readonly onHost?: (path: string) => boolean;
}

function sightOf({ binDir, cniPaths = [], onHost }: Scene): ShimSight {
  const stat = (paths: readonly string[]): Promise<unknown> =>
    Promise.resolve(paths.map((path) => (onHost?.(path) === true ? { device: 1, inode: 1 } : undefined)));
  const hand = { isLost: false, cniPath: "", stat } as unknown as Hand; // only what it asks
  const records = cniPaths.map((cniPath, index) => ({ ...aRecord(index), cniPath, startedWallMs: index }));
  return {
    config: { binDir, rawOverlay: [] },
    journal: { all: () => records },
    resident: () => (onHost === undefined ? undefined : hand),
  };
}

test("shimProblem asks the hand about the folders of the newest call and the configured one", async () => {
  const scene = { binDir: "/opt/cni/bin", cniPaths: ["/old", "/usr/libexec/cni:/opt/cni/bin"] };
  expect(await shimProblem(sightOf({ ...scene, onHost: (path) => path === "/usr/libexec/cni/levee-shim" }))).toBe(
    undefined,
  );
  expect(await shimProblem(sightOf({ ...scene, onHost: (path) => path === "/old/levee-shim" }))).toMatchObject({
    kind: "shim-missing",
    severity: "failure",
    message: expect.stringContaining("(/usr/libexec/cni, /opt/cni/bin)"),
  });
});

test("shimProblem only warns before the runtime has named its folders", async () => {
  expect(await shimProblem(sightOf({ binDir: "/opt/cni/bin", onHost: () => false }))).toMatchObject({
    kind: "shim-missing",
    severity: "warning",
    message: "levee-shim is not in /opt/cni/bin; if that is where the runtime looks for plugins, no pod can start",
  });
});

test("shimProblem finds no problem when the hand cannot look", async () => {
  const onHost = (): boolean => {
    throw new Error("no access");
  };
  expect(await shimProblem(sightOf({ binDir: "/opt/cni/bin", onHost }))).toBe(undefined);
});

test("shimProblem without a hand judges only folders it can see", async () => {
  const root = await mkdtemp(join(tmpdir(), "levee-bin-"));
  try {
    expect(await shimProblem(sightOf({ binDir: join(root, "not-mounted") }))).toBe(undefined);
    await mkdir(join(root, "bin"));
    expect(await shimProblem(sightOf({ binDir: join(root, "bin") }))).toMatchObject({ kind: "shim-missing" });
    await writeFile(join(root, "bin/levee-shim"), "");
    expect(await shimProblem(sightOf({ binDir: join(root, "bin") }))).toBe(undefined);
  } finally {
    await rm(root, { recursive: true });
  }
});
