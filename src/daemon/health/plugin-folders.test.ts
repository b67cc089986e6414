import { describe, expect, test } from "bun:test";
import { pluginFolders, type PluginFolders } from "./plugin-folders.ts";

function foldersOf(settings: readonly string[], cniPaths: readonly string[], handPath?: string): PluginFolders {
  const records = cniPaths.map((cniPath, index) => ({ cniPath, startedWallMs: -index }));
  const rawOverlay = settings.map((key) => ({ key, value: '""' }));
  const ports = { config: { binDir: "/opt/cni/bin", rawOverlay }, journal: { all: () => records } };
  const hand = handPath === undefined ? undefined : { cniPath: handPath };
  return pluginFolders(ports as unknown as Parameters<typeof pluginFolders>[0], hand); // only what it reads
}

describe("pluginFolders", () => {
  test("puts the newest call's folders first, then the hand's and the configured one", () => {
    expect(foldersOf([], ["/old", "/a:/b"], "/c:/a")).toEqual({
      folders: ["/a", "/b", "/c", "/opt/cni/bin"],
      source: "runtime",
    });
  });

  test("distinguishes a configured folder from the default", () => {
    expect(foldersOf([], [], "").source).toBe("guess");
    expect(foldersOf(["BinDir"], []).source).toBe("setting");
  });
});
