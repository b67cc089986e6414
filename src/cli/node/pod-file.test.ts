import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../failure-of.fixture.ts";
import { parseNetworks } from "./names.ts";
import {
  listPodFiles,
  parsePodFile,
  podFilePath,
  podYaml,
  readPodFile,
  removePodFile,
  writePodFile,
  type NewPod,
} from "./pod-file.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "levee-pods-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function pod(change: Partial<NewPod> = {}): NewPod {
  const [defaultNetwork = { namespace: "", name: "", ifname: undefined }, ...additional] = parseNetworks(
    "lan,dmz,store@data0",
    "default",
  );
  return {
    namespace: "default",
    name: "web",
    uid: "u-1",
    containerId: "a".repeat(64),
    netns: "levee-web",
    defaultNetwork,
    additional,
    ...change,
  };
}

describe("podYaml", () => {
  test("is a pod with the annotations that the daemon and detach read", () => {
    expect(podYaml(pod())).toBe(
      [
        "apiVersion: v1",
        "kind: Pod",
        "metadata:",
        "  name: web",
        "  namespace: default",
        "  uid: u-1",
        "  annotations:",
        "    v1.multus-cni.io/default-network: default/lan",
        "    k8s.v1.cni.cncf.io/networks: default/dmz,default/store@data0",
        `    levee.dev/container-id: ${"a".repeat(64)}`,
        "    levee.dev/netns: levee-web",
        "",
      ].join("\n"),
    );
  });

  test("quotes names that YAML would take for something else", () => {
    const odd = pod({ name: "1e3", uid: "123", namespace: "null", netns: "levee-null.1e3" });
    expect(parsePodFile(podYaml(odd))).toMatchObject({ name: "1e3", uid: "123", namespace: "null" });
  });
});

describe("pod files", () => {
  test("are written whole, read back and removed", async () => {
    await writePodFile(directory, pod());
    expect(readdirSync(join(directory, "pods"))).toEqual(["default.web.yaml"]);
    expect(await readPodFile(directory, pod())).toEqual({
      namespace: "default",
      name: "web",
      uid: "u-1",
      containerId: "a".repeat(64),
      netns: "levee-web",
    });
    await removePodFile(directory, pod());
    expect(await readPodFile(directory, pod())).toBeUndefined();
    await removePodFile(directory, pod());
  });

  test("listPodFiles lists ours in order and passes over everything else", async () => {
    await writePodFile(directory, pod({ name: "b", netns: "levee-b" }));
    await writePodFile(directory, pod({ name: "a", netns: "levee-a" }));
    for (const [name, content] of [
      ["x.yaml", "kind: Pod"],
      ["y.yaml", "{{{"],
      ["z.txt", podYaml(pod())],
      [".default.c.tmp", "x"],
    ] as const) {
      writeFileSync(join(directory, "pods", name), content);
    }
    expect((await listPodFiles(directory)).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("a folder that does not exist holds none; one that cannot be read is an error", async () => {
    expect(await listPodFiles(join(directory, "none"))).toEqual([]);
    writeFileSync(join(directory, "pods"), "");
    expect(await failureOf(listPodFiles(directory))).toMatchObject({ code: "ENOTDIR" });
  });

  test("removePodFile leaves a file that levee did not write", async () => {
    mkdirSync(join(directory, "pods"));
    writeFileSync(podFilePath(directory, pod()), "kind: Pod\n");
    await removePodFile(directory, pod());
    expect(existsSync(podFilePath(directory, pod()))).toBe(true);
  });
});

describe("parsePodFile", () => {
  const yaml = podYaml(pod());

  test.each([
    ["no YAML", "a: [}"],
    ["a list", "- 1"],
    ["a scalar", "text"],
    ["nothing", ""],
    ["no annotations", "metadata:\n  name: web\n  namespace: default\n"],
    ["a container ID that is none", yaml.replace("a".repeat(64), "a".repeat(63))],
    ["a namespace of another program", yaml.replace("levee-web", "cni-1234")],
    ["a namespace that climbs", yaml.replace("levee-web", "levee-..")],
    ["a namespace that is a path", yaml.replace("levee-web", "levee-a/b")],
    ["a number for a name", yaml.replace("name: web", "name: 5")],
    ["annotations that are a list", "metadata:\n  name: web\n  namespace: default\n  annotations: [1]\n"],
  ])("is undefined for %s", (_what, content) => {
    expect(parsePodFile(content)).toBeUndefined();
  });
});
