import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Journal } from "../../state/journal/journal.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import type { AttachmentView } from "../../wire/node-view.ts";
import { encodeFrame } from "../../wire/frame.ts";
import { failureOf } from "../failure-of.fixture.ts";
import { attachPod, splitNetworks } from "./attach-pod.ts";
import { attachedPods, detachPod, detachEach } from "./detach-pod.ts";
import { FakeShim } from "./fake-shim.fixture.ts";
import { journalOptions } from "./journal-options.fixture.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { netnsName, parseNetworks, podText, type PodKey } from "./names.ts";
import { addNetns, netnsExists, removeNetns } from "./netns.ts";
import { podFilePath } from "./pod-file.ts";

const pod = { namespace: "default", name: `d${process.pid}` };
const other = { namespace: "shop", name: `d${process.pid}` };
let shim: FakeShim;
let server: Server | undefined;

beforeEach(() => {
  shim = new FakeShim();
});
afterEach(async () => {
  server?.close();
  server = undefined;
  for (const key of [pod, other]) await removeNetns(shim.context().shell, netnsName(key));
  shim.remove();
});

function attachToLan(key: PodKey): ReturnType<typeof attachPod> {
  return attachPod(shim.context(), {
    pod: key,
    ...splitNetworks(parseNetworks("lan", key.namespace), undefined),
    conf: "{}",
  });
}

/** What a daemon that has nothing attached leaves on disk. */
async function emptyJournal(): Promise<void> {
  await (await Journal.open(journalOptions(shim.context().settings.stateDir))).close();
}

describe("detachPod", () => {
  test("runs DEL with the IDs of the attach, then removes namespace and file", async () => {
    const attached = await attachToLan(pod);
    expect(await detachPod(shim.context(), pod, "{conf}")).toEqual({
      ...pod,
      wasAttached: true,
      isLeftToDaemon: false,
      leftBehind: [],
    });
    const del = shim.calls()[1];
    expect(del).toMatchObject({
      verb: "DEL",
      conf: "{conf}",
      env: { CNI_CONTAINERID: attached.containerId, CNI_NETNS: attached.netns, CNI_IFNAME: "eth0" },
    });
    expect(netnsExists(netnsName(pod))).toBe(false);
    expect(existsSync(podFilePath(shim.context().settings.directory, pod))).toBe(false);
  });

  test("is content when there is nothing to detach", async () => {
    await emptyJournal();
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ ...pod, wasAttached: false });
    expect(shim.calls()).toEqual([]);
  });

  test("can be repeated, and works when the namespace is gone already", async () => {
    await emptyJournal();
    await attachToLan(pod);
    await removeNetns(shim.context().shell, netnsName(pod));
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({
      ...pod,
      wasAttached: true,
      isLeftToDaemon: false,
    });
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ ...pod, wasAttached: false });
  });

  test("keeps namespace and file when DEL fails, so that it can be repeated", async () => {
    await attachToLan(pod);
    shim.behave({ del: `echo '{"code":11,"msg":"busy"}'; exit 1` });
    expect(await failureOf(detachPod(shim.context(), pod, "{}"))).toMatchObject({
      message: `Cannot detach default/${pod.name}: busy`,
    });
    expect(netnsExists(netnsName(pod))).toBe(true);
    shim.behave({});
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: true });
  });

  test("does not touch a pod file that levee did not write", async () => {
    await emptyJournal();
    const path = podFilePath(shim.context().settings.directory, pod);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "kind: Pod\n");
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: false });
    expect(readFileSync(path, "utf8")).toBe("kind: Pod\n");
  });

  test("does not take a namespace from a pod file into a path of its own choice", async () => {
    await emptyJournal();
    const path = podFilePath(shim.context().settings.directory, pod);
    mkdirSync(join(path, ".."), { recursive: true });
    const annotations = `    levee.dev/container-id: ${"a".repeat(64)}\n    levee.dev/netns: levee-/../../etc\n`;
    writeFileSync(path, `metadata:\n  name: ${pod.name}\n  namespace: default\n  annotations:\n${annotations}`);
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: false });
    expect(shim.calls()).toEqual([]);
  });
});

describe("detachPod without a pod file", () => {
  const mine: AttachmentView = {
    namespace: "default",
    pod: pod.name,
    uid: "u",
    containerId: "c".repeat(64),
    netns: `/var/run/netns/${netnsName(pod)}`,
    phase: "attached",
    sinceWallMs: 0,
    networks: [],
  };

  async function daemonWith(attachments: readonly AttachmentView[], leaks: readonly unknown[] = []): Promise<void> {
    mkdirSync(shim.context().settings.socketDir);
    const answer = encodeFrame("ANSWER", [["answer", JSON.stringify({ answer: { attachments, leaks } })]]);
    server = createServer((socket) => socket.on("data", () => socket.write(answer)));
    await new Promise<void>(
      (resolve) => void server?.listen(join(shim.context().settings.socketDir, "levee.sock"), resolve),
    );
  }

  test("with neither daemon nor journal fails and leaves the namespace alone", async () => {
    await addNetns(shim.context().shell, netnsName(pod));
    expect(await failureOf(detachPod(shim.context(), pod, "{}"))).toMatchObject({ code: "daemon-unreachable" });
    expect(netnsExists(netnsName(pod))).toBe(true);
    expect(shim.calls()).toEqual([]);
  });

  test("removes a namespace without a record", async () => {
    await emptyJournal();
    await addNetns(shim.context().shell, netnsName(pod));
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: true });
    expect(netnsExists(netnsName(pod))).toBe(false);
  });

  test("runs DEL for every sandbox of that pod the daemon knows", async () => {
    await addNetns(shim.context().shell, netnsName(pod));
    const earlier = { ...mine, containerId: "e".repeat(64), netns: "" };
    const another = { ...mine, pod: "another", containerId: "f".repeat(64) };
    await daemonWith([mine, earlier, another]);
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: true });
    expect(shim.calls().map(({ env }) => [env["CNI_CONTAINERID"], env["CNI_NETNS"]])).toEqual([
      [mine.containerId, mine.netns],
      [earlier.containerId, ""],
    ]);
  });

  test("leaves a pod of a container runtime alone that has the same name", async () => {
    await daemonWith([{ ...mine, netns: "/var/run/netns/cni-1" }]);
    expect(await failureOf(detachPod(shim.context(), pod, "{}"))).toMatchObject({
      code: "not-ours",
      message: expect.stringContaining("its network namespace is /var/run/netns/cni-1"),
    });
    expect(shim.calls()).toEqual([]);
  });

  test("asks the daemon also when the namespace is gone", async () => {
    await daemonWith([{ ...mine, netns: "" }]);
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: true });
    expect(shim.calls()).toMatchObject([{ verb: "DEL", env: { CNI_CONTAINERID: mine.containerId, CNI_NETNS: "" } }]);
  });

  test("takes the journal on disk when there is no daemon", async () => {
    const journal = await Journal.open(journalOptions(shim.context().settings.stateDir));
    const recorded = { namespace: "default", name: "pod1" };
    await journal.begin(aRecord(1, { netns: { path: `/run/netns/${netnsName(recorded)}`, identity: undefined } }));
    await journal.close();
    expect(await detachPod(shim.context(), recorded, "{}")).toMatchObject({ wasAttached: true });
    expect(shim.calls()).toMatchObject([{ verb: "DEL", env: { CNI_CONTAINERID: "container1" } }]);
  });

  test("tells what was left behind of this pod, and of no other", async () => {
    const leak = { containerId: mine.containerId, network: "default/lan", ifname: "eth0" };
    await daemonWith([mine], [leak, { ...leak, containerId: "f".repeat(64) }]);
    expect(await detachPod(shim.context(), pod, "{}")).toMatchObject({ wasAttached: true, leftBehind: [leak] });
    const shell = fakeShell({
      argv: ["detach", podText(pod), "--socket-dir", shim.context().settings.socketDir, "--shim", shim.path],
      env: { LEVEE_DIRECTORY: shim.context().settings.directory, LEVEE_STATE_DIR: shim.context().settings.stateDir },
    });
    expect(await runCli(shell)).toBe(0);
    expect(shell.stdout.text).toBe(
      `${podText(pod)} is detached; the undo on default/lan (eth0) failed, see levee leaks\n`,
    );
  });

  test("keeps the namespace when DEL fails", async () => {
    await addNetns(shim.context().shell, netnsName(pod));
    await daemonWith([mine]);
    shim.behave({ del: "exit 3" });
    expect(await failureOf(detachPod(shim.context(), pod, "{}"))).toMatchObject({ code: "shim-failed" });
    expect(netnsExists(netnsName(pod))).toBe(true);
  });
});

describe("detachEach", () => {
  test("goes on after a failure and reports both", async () => {
    await attachToLan(pod);
    await attachToLan(other);
    expect(await attachedPods(shim.context())).toEqual([pod, other]);
    shim.behave({ del: `case "$CNI_ARGS" in *NAMESPACE=default*) echo '{"code":11,"msg":"busy"}'; exit 1;; esac` });
    const { done, failed } = await detachEach(shim.context(), [pod, other], "{}");
    expect(done).toMatchObject([{ ...other, wasAttached: true }]);
    expect(failed.map(({ message }) => message)).toEqual([`Cannot detach default/${pod.name}: busy`]);
    expect(await attachedPods(shim.context())).toEqual([pod]);
  });

  test("attachedPods of a directory that does not exist are none", async () => {
    expect(await attachedPods(shim.context())).toEqual([]);
  });
});
