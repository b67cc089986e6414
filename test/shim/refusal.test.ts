import { beforeEach, describe, expect, test } from "bun:test";
import type { NetnsPath, PluginType } from "../../src/base/brand.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { encodeReap, encodeRoutes, encodeRun, encodeStat } from "../../src/wire/messages.ts";
import { readOutcome, type Outcome } from "../../src/wire/outcome.ts";
import type { Peer } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();
let shim: ShimProcess;
let peer: Peer;
let plugin: PluginType;

beforeEach(async () => {
  shim = sandbox.call("ADD");
  peer = await daemon.accept();
  await peer.begin();
  plugin = sandbox.plugin("p", 'echo ran >> "$DIR/ran"');
});

async function answer(frame: Uint8Array): Promise<Outcome> {
  peer.send(frame);
  return readOutcome(await peer.expect("OUTCOME"));
}

describe("a call's hand refuses to run", () => {
  test.each([["../p"], ["/bin/true"], [".."], [""], ["p\0"]])("a plugin named %j", async (name) => {
    expect((await answer(encodeRun(1, sandbox.run(name as PluginType)))).failure).toBe("refused");
  });

  test.each([
    ["LD_PRELOAD", "/x.so"],
    ["PATH", "/x"],
    ["XCNI_A", "1"],
  ])("with the variable %s", async (name, value) => {
    const order = sandbox.run(plugin);
    const outcome = await answer(encodeRun(1, { ...order, env: { ...order.env, [name]: value } }));
    expect(outcome).toMatchObject({ failure: "refused", message: expect.stringContaining(name) });
    expect(sandbox.read("ran")).toBe("");
  });

  test.each([
    ["in another namespace", { CNI_NETNS: "/run/netns/other" }],
    ["for another container in a namespace", { CNI_CONTAINERID: "c2" }],
  ])("%s", async (_, changes) => {
    const order = sandbox.run(plugin);
    expect((await answer(encodeRun(1, { ...order, env: { ...order.env, ...changes } }))).failure).toBe("refused");
    expect(sandbox.read("ran")).toBe("");
  });

  test("a second plugin while one runs", async () => {
    peer.send(encodeRun(1, sandbox.run(sandbox.plugin("slow", "sleep 0.3"))));
    expect(await answer(encodeRun(2, sandbox.run(plugin)))).toMatchObject({
      failure: "refused",
      message: expect.stringContaining("more than 1"),
    });
    expect(readOutcome(await peer.expect("OUTCOME")).exitCode).toBe(0);
    expect((await answer(encodeRun(3, sandbox.run(plugin)))).exitCode).toBe(0);
  });
});

test("a delete left over from another container runs without a namespace", async () => {
  const order = sandbox.run(plugin);
  const outcome = await answer(
    encodeRun(1, { ...order, env: { ...order.env, CNI_COMMAND: "DEL", CNI_CONTAINERID: "c2", CNI_NETNS: "" } }),
  );
  expect(outcome.exitCode).toBe(0);
  expect(sandbox.read("ran")).toBe("ran\n");
});

test.each([[""], ["/run/netns/other"]])("routes of the netns %j are refused", async (netns) => {
  expect((await answer(encodeRoutes(1, netns as NetnsPath, []))).failure).toBe("refused");
});

test("sessions of the kernel and of init are not emptied", async () => {
  for (const pid of [0, 1]) {
    const outcome = await answer(encodeReap(1, { pid, pidStart: 0, pidNamespace: 0 }, 100));
    expect(outcome.failure).toBe("refused");
  }
});

test("a relative path is not looked at", async () => {
  expect((await answer(encodeStat(1, ["etc"]))).failure).toBe("refused");
});

describe("a daemon that breaks the protocol ends an ADD with code 112", () => {
  test.each<[string, Uint8Array]>([
    ["a frame longer than allowed", Uint8Array.from([1, 0, 16, 0])],
    ["a frame of length 0", Uint8Array.from([0, 0, 0, 0])],
    ["a field that runs past its frame", Uint8Array.from([6, 0, 0, 0, 67, 21, 9, 0, 0, 0])],
    ["a frame of unknown type", Uint8Array.from([1, 0, 0, 0, 99])],
    ["a RUN without its fields", encodeFrame("RUN", [["step", 1]])],
    ["a number of three bytes", encodeFrame("KILL", [["step", Uint8Array.from([1, 2, 3])]])],
    [
      "a route_op of another shape",
      encodeFrame("ROUTES", [
        ["step", 1],
        ["netns", "/run/netns/none"],
        ["route_op", Uint8Array.from([9])],
      ]),
    ],
  ])("%s", async (_, bytes) => {
    peer.send(bytes);
    expect(await shim.error()).toMatchObject({ code: 112 });
  });
});
