import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { failureOf } from "../failure-of.fixture.ts";
import { attachPod, networkByInterface, splitNetworks, type AttachRequest } from "./attach-pod.ts";
import { daemonRemedy } from "../remedies.ts";
import { FakeShim } from "./fake-shim.fixture.ts";
import { netnsName, parseNetworks } from "./names.ts";
import { addNetns, netnsExists, removeNetns } from "./netns.ts";
import { podFilePath, readPodFile } from "./pod-file.ts";

const pod = { namespace: "default", name: `t${process.pid}` };
const netns = netnsName(pod);
let shim: FakeShim;
let server: Server | undefined;

beforeEach(() => {
  shim = new FakeShim();
});
afterEach(async () => {
  server?.close();
  server = undefined;
  await removeNetns(shim.context().shell, netns);
  shim.remove();
});

function request(networks = "lan,dmz"): AttachRequest {
  return { pod, ...splitNetworks(parseNetworks(networks, "default"), undefined), conf: '{"name":"levee"}' };
}

/** Nothing of the pod is there any more. */
function expectNothingLeft(): void {
  expect(netnsExists(netns)).toBe(false);
  expect(existsSync(shim.context().settings.directory)).toBe(false);
}

/** A listener that accepts calls and does not answer. */
async function listen(): Promise<void> {
  const { socketDir } = shim.context().settings;
  mkdirSync(socketDir);
  server = createServer((socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => void server?.listen(join(socketDir, "levee.sock"), resolve));
}

describe("attachPod", () => {
  test("makes a namespace with lo up, runs ADD in it and tells what the kernel has", async () => {
    const attached = await attachPod(shim.context(), request());
    expect(attached).toMatchObject({ ...pod, netns: `/var/run/netns/${netns}` });
    expect(attached.interfaces).toEqual([
      {
        ifname: "eth0",
        network: "default/lan",
        ips: ["192.0.2.7/24"],
        mac: expect.stringMatching(/^[0-9a-f:]{17}$/u),
        gateways: ["192.0.2.1"],
      },
      { ifname: "net1", network: "default/dmz", ips: ["2001:db8::7/64"], mac: expect.any(String), gateways: [] },
    ]);
    const lo = Bun.spawnSync(["ip", "-n", netns, "link", "show", "lo"]).stdout.toString();
    expect(lo).toContain("LOOPBACK,UP");
  });

  test("gives the shim what a runtime gives it", async () => {
    const attached = await attachPod(shim.context(), request());
    const [call] = shim.calls();
    expect(call?.conf).toBe('{"name":"levee"}');
    expect(call?.env).toMatchObject({
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: attached.containerId,
      CNI_NETNS: `/var/run/netns/${netns}`,
      CNI_IFNAME: "eth0",
      CNI_PATH: "/opt/cni/bin:/usr/lib/cni",
    });
    expect(attached.containerId).toMatch(/^[0-9a-f]{64}$/u);
    expect(call?.env["CNI_ARGS"]).toMatch(
      new RegExp(
        `^IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod.name};K8S_POD_INFRA_CONTAINER_ID=${attached.containerId};K8S_POD_UID=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
        "u",
      ),
    );
  });

  test("writes the pod with its networks and what detach will need", async () => {
    const { settings, shell } = shim.context();
    const attached = await attachPod({ settings, shell }, request("lan,infra/dmz@data0"));
    const yaml = readFileSync(podFilePath(settings.directory, pod), "utf8");
    expect(yaml).toContain("v1.multus-cni.io/default-network: default/lan\n");
    expect(yaml).toContain("k8s.v1.cni.cncf.io/networks: infra/dmz@data0\n");
    expect(await readPodFile(settings.directory, pod)).toMatchObject({
      ...pod,
      containerId: attached.containerId,
      netns,
    });
  });

  test("leaves out the second annotation with one network only", async () => {
    const { settings, shell } = shim.context();
    await attachPod({ settings, shell }, request("lan"));
    expect(readFileSync(podFilePath(settings.directory, pod), "utf8")).not.toContain("k8s.v1.cni.cncf.io/networks");
  });
});

describe("attach refuses", () => {
  test("refuses a name that is attached already, and touches nothing of it", async () => {
    const first = await attachPod(shim.context(), request());
    expect(await failureOf(attachPod(shim.context(), request()))).toMatchObject({
      code: "interface-taken",
      remedy: `levee detach default/${pod.name}, or another name`,
    });
    expect(netnsExists(netns)).toBe(true);
    expect(await readPodFile(shim.context().settings.directory, pod)).toMatchObject({ containerId: first.containerId });
    expect(shim.calls()).toHaveLength(1);
  });

  test("refuses a namespace that it did not make, and leaves it alone", async () => {
    await addNetns(shim.context().shell, netns);
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "message",
      expect.stringContaining(`found /var/run/netns/${netns}`),
    );
    expect(netnsExists(netns)).toBe(true);
    expect(shim.calls()).toEqual([]);
  });

  test("refuses to write over a pod file that it did not write", async () => {
    const { directory } = shim.context().settings;
    mkdirSync(join(directory, "pods"), { recursive: true });
    writeFileSync(podFilePath(directory, pod), "kind: Pod\n");
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "message",
      expect.stringContaining("levee attach did not write its pod file"),
    );
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "remedy",
      `remove ${podFilePath(directory, pod)} or use another name`,
    );
    expect(readFileSync(podFilePath(directory, pod), "utf8")).toBe("kind: Pod\n");
  });

  test("of two at once one wins, and the loser removes nothing of the winner's", async () => {
    const both = await Promise.allSettled([attachPod(shim.context(), request()), attachPod(shim.context(), request())]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(netnsExists(netns)).toBe(true);
    expect(await readPodFile(shim.context().settings.directory, pod)).toBeDefined();
    expect(shim.calls().map(({ verb }) => verb)).toEqual(["ADD"]);
  });
});

describe("attachPod that fails", () => {
  test("shows the CNI error with its code, sends DEL, and leaves nothing", async () => {
    shim.behave({
      add: `echo '{"cniVersion":"1.0.0","code":101,"msg":"Cannot find lan","details":"default/lan"}'; exit 1`,
    });
    expect(await failureOf(attachPod(shim.context(), request()))).toMatchObject({
      code: "CNI code 101, network-unknown",
      message: `Cannot attach default/${pod.name}: Cannot find lan; default/lan`,
      remedy: `networks are files in ${shim.context().settings.directory}/networks`,
      exitCode: 1,
    });
    expect(shim.calls().map(({ verb }) => verb)).toEqual(["ADD", "DEL"]);
    expect(shim.calls()[1]?.env["CNI_CONTAINERID"]).toBe(shim.calls()[0]?.env["CNI_CONTAINERID"] ?? "");
    expectNothingLeft();
  });

  test("shows stderr when there is no CNI error, and the status when there is neither", async () => {
    shim.behave({ add: "echo 'it broke' >&2; exit 1" });
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "message",
      expect.stringContaining("the shim failed: it broke"),
    );
    shim.behave({ add: "exit 7" });
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "message",
      expect.stringContaining("it ended with status 7 and no message"),
    );
    shim.behave({ add: "kill -9 $$" });
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "message",
      expect.stringContaining("it ended with SIGKILL and no message"),
    );
    expectNothingLeft();
  });

  test("says what could not be removed as well, and keeps the first error", async () => {
    shim.behave({ add: `echo '{"code":7,"msg":"bad conf"}'; exit 1`, del: `echo '{"code":11,"msg":"later"}'; exit 1` });
    expect(await failureOf(attachPod(shim.context(), request()))).toHaveProperty(
      "message",
      expect.stringMatching(/bad conf\. The cleanup failed too: Cannot detach .*: later/u),
    );
    expectNothingLeft();
  });

  test("names the shim that is missing", async () => {
    const context = shim.context();
    const settings = { ...context.settings, shim: "/nowhere/levee-shim" };
    expect(await failureOf(attachPod({ ...context, settings }, request()))).toMatchObject({
      code: "shim-missing",
      remedy: expect.stringContaining("--shim"),
    });
    expectNothingLeft();
  });

  test("removes the namespace when the pod cannot be written", async () => {
    const { settings, shell } = shim.context();
    writeFileSync(settings.directory, "a file where the folder should be");
    expect(await failureOf(attachPod({ settings, shell }, request()))).not.toHaveProperty("message", "it succeeded");
    expect(netnsExists(netns)).toBe(false);
    expect(shim.calls()).toEqual([]);
  });

  test("Ctrl-C in the middle stops the shim, undoes, and ends with 130", async () => {
    await listen();
    shim.behave({ add: "exec sleep 30" });
    const context = shim.context();
    const attaching = attachPod(context, request());
    while (shim.calls().length === 0) await Bun.sleep(10);
    context.shell.interrupt();
    expect(await failureOf(attaching)).toMatchObject({ code: "interrupted", exitCode: 130 });
    expect(shim.calls().map(({ verb }) => verb)).toEqual(["ADD", "DEL"]);
    expectNothingLeft();
  });

  test("Ctrl-C before ADD runs no plugin", async () => {
    const context = shim.context();
    context.shell.interrupt();
    expect(await failureOf(attachPod(context, request()))).toMatchObject({ code: "interrupted" });
    expect(shim.calls()).toEqual([]);
    expectNothingLeft();
  });
});

describe("attachPod without a daemon", () => {
  const away = `echo '{"code":11,"msg":"Cannot reach the daemon, tried 3 times within 9 ms: x"}'; exit 1`;

  test("says at once that no daemon listens, and says nothing when one does", async () => {
    const context = shim.context();
    shim.behave({ add: away });
    await failureOf(attachPod(context, { ...request(), conf: '{"addBudgetMs":7000}' }));
    const socket = join(context.settings.socketDir, "levee.sock");
    expect(context.shell.stderr.text).toBe(`Note: no daemon listens on ${socket} yet; waiting up to 7 s\n`);
    await listen();
    shim.behave({});
    const second = shim.context();
    await attachPod(second, request());
    expect(second.shell.stderr.text).toBe("");
  });

  test("sends no DEL for an ADD that reached no daemon, and removes the folders it made", async () => {
    shim.behave({ add: away });
    expect(await failureOf(attachPod(shim.context(), request()))).toMatchObject({ remedy: daemonRemedy });
    expect(shim.calls().map(({ verb }) => verb)).toEqual(["ADD"]);
    expectNothingLeft();
  });

  test("neither after Ctrl-C while it waits", async () => {
    shim.behave({ add: "exec sleep 30" });
    const context = shim.context();
    const attaching = attachPod(context, request());
    while (shim.calls().length === 0) await Bun.sleep(10);
    context.shell.interrupt();
    expect(await failureOf(attaching)).toMatchObject({ code: "interrupted" });
    expect(shim.calls().map(({ verb }) => verb)).toEqual(["ADD"]);
    expectNothingLeft();
  });

  test("keeps folders that were there before", async () => {
    const { directory } = shim.context().settings;
    mkdirSync(directory);
    shim.behave({ add: away });
    await failureOf(attachPod(shim.context(), request()));
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe("attachPod with a shim that is none", () => {
  test.each(["exit 0", "echo '{}'", "echo hello", "echo null"])("%s is no success", async (add) => {
    shim.behave({ add });
    expect(await failureOf(attachPod(shim.context(), request()))).toMatchObject({
      code: "shim-failed",
      message: expect.stringContaining("printed no CNI result"),
    });
    expectNothingLeft();
  });
});

describe("splitNetworks", () => {
  const split = (list: string, chosen?: string): unknown => {
    const { defaultNetwork, additional } = splitNetworks(
      parseNetworks(list, "default"),
      chosen === undefined ? undefined : parseNetworks(chosen, "default")[0],
    );
    return [defaultNetwork.name, ...additional.map(({ name }) => name)];
  };

  test("takes the first as the default one", () => {
    expect(split("lan,dmz,store")).toEqual(["lan", "dmz", "store"]);
  });

  test("takes the chosen one out of the list, or adds it in front", () => {
    expect(split("lan,dmz", "dmz")).toEqual(["dmz", "lan"]);
    expect(split("lan,dmz", "store")).toEqual(["store", "lan", "dmz"]);
    expect(split("lan,lan", "lan")).toEqual(["lan", "lan"]);
  });

  test("does not take a network of the same name in another namespace for it", () => {
    expect(split("infra/lan,dmz", "lan")).toEqual(["lan", "lan", "dmz"]);
  });

  test("refuses another interface name than eth0 for the default network", () => {
    expect(() => split("lan@data0,dmz")).toThrow("it is always eth0");
    expect(split("lan@eth0,dmz")).toEqual(["lan", "dmz"]);
  });
});

describe("networkByInterface", () => {
  test("counts positions, whether or not an earlier one has a name of its own", () => {
    const networks = splitNetworks(parseNetworks("lan,dmz@data0,store", "default"), undefined);
    expect([...networkByInterface(networks)]).toEqual([
      ["eth0", "default/lan"],
      ["data0", "default/dmz"],
      ["net2", "default/store"],
    ]);
  });
});
