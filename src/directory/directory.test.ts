import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Namespace, PodName } from "../base/brand.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";
import { silentLogger, type Logger } from "../base/log.ts";
import type { WantedPod } from "../view/view.ts";
import { Directory } from "./directory.ts";
import { until } from "../base/until.fixture.ts";

const ns = "default" as Namespace;
const podName = (name: string): PodName => name as PodName;

let folder: string;
const opened: Directory[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-directory-"));
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((directory) => directory.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function openFolder(logger: Logger = silentLogger): Promise<Directory> {
  const directory = await Directory.open({ folder, clock: systemClock, logger });
  opened.push(directory);
  return directory;
}

function write(file: string, text: string): void {
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function podText(name: string, annotations: Record<string, string> = {}): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, annotations } });
}

function networkText(name: string, config: string): string {
  return JSON.stringify({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name },
    spec: { config },
  });
}

/** Waits for an event of the watch. The limit is well below the slow rescan, so that the test tests the watch. */
function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  return until("the directory has seen the change", isSo, 5_000);
}

async function configOf(directory: Directory, name: string): Promise<string | undefined> {
  return (await directory.findNetwork(ns, name))?.config;
}

describe("Directory.open", () => {
  test("loads files of the folder and of its sub-folders", async () => {
    write("top.yml", podText("top"));
    write("networks/lan.yaml", networkText("lan", "{}"));
    write("pods/web.json", podText("web"));
    const directory = await openFolder();
    expect(await directory.findPod(ns, podName("top"))).toBeDefined();
    expect(await directory.findPod(ns, podName("web"))).toBeDefined();
    expect(await configOf(directory, "lan")).toBe("{}");
    expect(await directory.findPod("other" as Namespace, podName("web"))).toBeUndefined();
    expect(directory.problems()).toEqual([]);
  });

  test("leaves out hidden files, other endings and deeper folders", async () => {
    write(".hidden.yaml", podText("a"));
    write(".git/b.yaml", podText("b"));
    write("c.yaml.bak", podText("c"));
    write("d.txt", podText("d"));
    write("one/two/e.yaml", podText("e"));
    const directory = await openFolder();
    for (const name of "abcde") expect(await directory.findPod(ns, podName(name))).toBeUndefined();
    expect(directory.problems()).toEqual([]);
  });

  test("refuses a folder that is not there, and one that is a file", async () => {
    write("file", "");
    for (const wrong of [join(folder, "absent"), join(folder, "file")]) {
      const error: unknown = await Directory.open({ folder: wrong, clock: systemClock, logger: silentLogger }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(LeveeError);
      expect(error instanceof LeveeError && error.code).toBe("setting-invalid");
      expect(String(error)).toContain(wrong);
    }
  });

  test("writes nothing into the folder", async () => {
    write("a.yaml", podText("a"));
    await openFolder();
    expect(readdirSync(folder)).toEqual(["a.yaml"]);
  });

  test("reports an object that two files define and serves the first by name", async () => {
    write("b.yaml", networkText("lan", "from b"));
    write("a/z.yaml", networkText("lan", "from a/z"));
    const directory = await openFolder();
    expect(await configOf(directory, "lan")).toBe("from a/z");
    expect(directory.problems()).toEqual([
      {
        file: "b.yaml",
        line: undefined,
        reason:
          "Cannot use the network default/lan as it must be defined once: a/z.yaml defines it already, and that definition is served",
      },
    ]);
    rmSync(join(folder, "a/z.yaml"));
    await eventually(async () => (await configOf(directory, "lan")) === "from b");
    expect(directory.problems()).toEqual([]);
  });
});

describe("Directory watches and sees", () => {
  test("a file that is added, changed and removed", async () => {
    const directory = await openFolder();
    const before = directory.changes;
    write("lan.yaml", networkText("lan", "one"));
    await eventually(async () => (await configOf(directory, "lan")) === "one");
    write("lan.yaml", networkText("lan", "two"));
    await eventually(async () => (await configOf(directory, "lan")) === "two");
    rmSync(join(folder, "lan.yaml"));
    await eventually(async () => (await configOf(directory, "lan")) === undefined);
    expect(directory.changes).toBe(before + 3);
  });

  test("a change of the same length within the same tick of the clock", async () => {
    write("lan.yaml", networkText("lan", "a"));
    const directory = await openFolder();
    for (const config of "bcdefgh") {
      write("lan.yaml", networkText("lan", config));
      await eventually(async () => (await configOf(directory, "lan")) === config);
    }
  });

  test("a file that takes another's place by rename", async () => {
    write("lan.yaml", networkText("lan", "old"));
    const directory = await openFolder();
    write("lan.yaml.new", networkText("lan", "new"));
    renameSync(join(folder, "lan.yaml.new"), join(folder, "lan.yaml"));
    await eventually(async () => (await configOf(directory, "lan")) === "new");
    renameSync(join(folder, "lan.yaml"), join(folder, "lan.off"));
    await eventually(async () => (await configOf(directory, "lan")) === undefined);
  });

  test("a new sub-folder, and files that come into it later", async () => {
    const directory = await openFolder();
    mkdirSync(join(folder, "networks"));
    write("networks/a.yaml", networkText("a", "a"));
    await eventually(async () => (await configOf(directory, "a")) === "a");
    write("networks/b.yaml", networkText("b", "b"));
    await eventually(async () => (await configOf(directory, "b")) === "b");
  });

  test("a sub-folder that is renamed, removed, and made again", async () => {
    write("networks/a.yaml", networkText("a", "1"));
    const directory = await openFolder();
    renameSync(join(folder, "networks"), join(folder, "nets"));
    await eventually(() => directory.changes >= 2);
    expect(await configOf(directory, "a")).toBe("1");
    rmSync(join(folder, "nets"), { recursive: true });
    await eventually(async () => (await configOf(directory, "a")) === undefined);
    write("nets/a.yaml", networkText("a", "2"));
    await eventually(async () => (await configOf(directory, "a")) === "2");
    write("nets/a.yaml", networkText("a", "3"));
    await eventually(async () => (await configOf(directory, "a")) === "3");
  });

  test("a sub-folder that another one replaces at once", async () => {
    write("nets/a.yaml", networkText("a", "1"));
    write(".next/a.yaml", networkText("a", "2"));
    const directory = await openFolder();
    renameSync(join(folder, "nets"), join(folder, ".old"));
    renameSync(join(folder, ".next"), join(folder, "nets"));
    await eventually(async () => (await configOf(directory, "a")) === "2");
    write("nets/a.yaml", networkText("a", "3"));
    await eventually(async () => (await configOf(directory, "a")) === "3");
  });

  test("a mounted ConfigMap that is switched by its link", async () => {
    write("..v1/lan.yaml", networkText("lan", "one"));
    symlinkSync("..v1", join(folder, "..data"));
    symlinkSync("..data/lan.yaml", join(folder, "lan.yaml"));
    const directory = await openFolder();
    expect(await configOf(directory, "lan")).toBe("one");
    write("..v2/lan.yaml", networkText("lan", "two"));
    symlinkSync("..v2", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    rmSync(join(folder, "..v1"), { recursive: true });
    await eventually(async () => (await configOf(directory, "lan")) === "two");
    expect(directory.problems()).toEqual([]);
  });

  test("many files at once", async () => {
    const directory = await openFolder();
    for (let index = 0; index < 500; index += 1) write(`pods/p${index}.yaml`, podText(`p${index}`));
    await eventually(async () => (await directory.findPod(ns, podName("p499"))) !== undefined);
    for (let index = 0; index < 500; index += 1)
      expect(await directory.findPod(ns, podName(`p${index}`))).toBeDefined();
  });
});

describe("Directory with a broken file", () => {
  test("keeps its last good content until it is fixed", async () => {
    write("lan.yaml", networkText("lan", "good"));
    const directory = await openFolder();
    write("lan.yaml", "kind: [\n");
    await eventually(() => directory.problems().length === 1);
    expect(directory.problems()[0]).toMatchObject({
      file: "lan.yaml",
      reason: expect.stringContaining("Cannot parse the file as YAML"),
    });
    expect(await configOf(directory, "lan")).toBe("good");
    write("lan.yaml", networkText("lan", "mended"));
    await eventually(async () => (await configOf(directory, "lan")) === "mended");
    expect(directory.problems()).toEqual([]);
  });

  test("forgets its content when the file is removed", async () => {
    write("lan.yaml", networkText("lan", "good"));
    const directory = await openFolder();
    write("lan.yaml", "[");
    await eventually(() => directory.problems().length === 1);
    rmSync(join(folder, "lan.yaml"));
    await eventually(async () => (await configOf(directory, "lan")) === undefined);
    expect(directory.problems()).toEqual([]);
  });

  test("serves the others, and nothing of a file that never was good", async () => {
    write("bad.yaml", `${podText("half")}\n---\nkind: Nothing\n`);
    write("good.yaml", podText("whole"));
    const directory = await openFolder();
    expect(await directory.findPod(ns, podName("whole"))).toBeDefined();
    expect(await directory.findPod(ns, podName("half"))).toBeUndefined();
    expect(directory.problems()).toHaveLength(1);
  });

  test("logs a problem once, and its end", async () => {
    const lines: string[] = [];
    const note = (message: string): void => void lines.push(message);
    write("bad.yaml", "[");
    const directory = await openFolder({ debug: note, info: note, warn: note, error: note });
    write("good.yaml", podText("a"));
    await eventually(() => directory.changes >= 2);
    expect(lines).toEqual(["Problem in the directory"]);
    rmSync(join(folder, "bad.yaml"));
    await eventually(() => lines.length > 1);
    expect(lines[1]).toBe("The directory has no more problems");
  });

  test("keeps everything when the whole folder is away, and finds it again when it is back", async () => {
    write("lan.yaml", networkText("lan", "1"));
    const directory = await openFolder();
    renameSync(folder, `${folder}.away`);
    writeFileSync(join(`${folder}.away`, "other.yaml"), podText("other"));
    await eventually(() => directory.problems().length === 1);
    expect(directory.problems()[0]?.reason).toContain("Cannot read the folder, so its earlier content is served");
    expect(await configOf(directory, "lan")).toBe("1");
    renameSync(`${folder}.away`, folder);
  });
});

/** Any pod of that name. */
function anyPod(name: string): WantedPod {
  return { namespace: ns, name: podName(name), isWanted: () => true };
}

describe("Directory.waitForPod", () => {
  test("resolves at once for a pod that is there", async () => {
    write("a.yaml", podText("a"));
    const directory = await openFolder();
    expect(String((await directory.waitForPod(anyPod("a"), new AbortController().signal)).name)).toBe("a");
  });

  test("resolves for all callers that wait when the pod appears", async () => {
    const directory = await openFolder();
    const { signal } = new AbortController();
    const waiting = [1, 2, 3].map(() => directory.waitForPod(anyPod("late"), signal));
    write("pods/late.yaml", podText("late", { "k8s.v1.cni.cncf.io/networks": "lan" }));
    const pods = await Promise.all(waiting);
    expect(pods.map((pod) => pod.annotations["k8s.v1.cni.cncf.io/networks"])).toEqual(["lan", "lan", "lan"]);
  });

  test("rejects with the signal's reason, before and during the wait", async () => {
    const directory = await openFolder();
    const reason = new Error("enough");
    expect(directory.waitForPod(anyPod("a"), AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = directory.waitForPod(anyPod("a"), controller.signal);
    controller.abort(reason);
    expect(waiting).rejects.toBe(reason);
  });

  test("rejects as cancelled when the directory is closed", async () => {
    const directory = await openFolder();
    const waiting = directory.waitForPod(anyPod("a"), new AbortController().signal).catch((thrown: unknown) => thrown);
    await directory.close();
    expect(await waiting).toMatchObject({ code: "cancelled" });
    expect(
      await directory.waitForPod(anyPod("a"), new AbortController().signal).catch((thrown: unknown) => thrown),
    ).toMatchObject({ code: "cancelled" });
  });
});

test("Directory.close ends all watching, and may be called twice", async () => {
  const directory = await openFolder();
  await directory.close();
  await directory.close();
  write("a.yaml", podText("a"));
  await systemClock.sleep(150);
  expect(await directory.findPod(ns, podName("a"))).toBeUndefined();
});

/** A clock whose timers never fire: events have no effect, and the rescan comes when the test says so. */
function stillClock(): Clock & { rescan(): void; readonly pauses: readonly number[] } {
  const rescans: (() => void)[] = [];
  const pauses: number[] = [];
  return {
    ...systemClock,
    after: () => () => undefined,
    every(ms, callback) {
      pauses.push(ms);
      rescans.push(callback);
      return () => void rescans.splice(0);
    },
    rescan: () => rescans.forEach((callback) => callback()),
    pauses,
  };
}

describe("Directory's slow rescan", () => {
  test("finds the changes that the watch has missed", async () => {
    const clock = stillClock();
    const directory = await Directory.open({ folder, clock, logger: silentLogger });
    opened.push(directory);
    expect(clock.pauses).toEqual([10_000]);
    write("networks/lan.yaml", networkText("lan", "missed"));
    await systemClock.sleep(100);
    expect(await configOf(directory, "lan")).toBeUndefined();
    clock.rescan();
    await eventually(async () => (await configOf(directory, "lan")) === "missed");
  });

  test("finds the folder when it is back, and changes in it", async () => {
    const clock = stillClock();
    write("lan.yaml", networkText("lan", "1"));
    const directory = await Directory.open({ folder, clock, logger: silentLogger });
    opened.push(directory);
    renameSync(folder, `${folder}.away`);
    clock.rescan();
    await eventually(() => directory.problems().length === 1);
    renameSync(`${folder}.away`, folder);
    write("lan.yaml", networkText("lan", "2"));
    clock.rescan();
    await eventually(async () => (await configOf(directory, "lan")) === "2");
    expect(directory.problems()).toEqual([]);
  });

  test("ends with the directory", async () => {
    const clock = stillClock();
    const directory = await Directory.open({ folder, clock, logger: silentLogger });
    await directory.close();
    write("a.yaml", podText("a"));
    clock.rescan();
    await systemClock.sleep(50);
    expect(await directory.findPod(ns, podName("a"))).toBeUndefined();
  });
});
