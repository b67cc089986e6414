import { expect, test } from "bun:test";
import { readlinkSync, statSync } from "node:fs";
import { bytesField, flagField, numberField } from "../../src/wire/frame.ts";
import { isAmongLinks } from "../../src/wire/call-netns.ts";
import { encodeRun, readCall } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { daemon, sandbox, withDaemon } from "./with-daemon.ts";

withDaemon();

test("a whole call: header, configuration, run, result, acknowledgement", async () => {
  const plugin = sandbox.plugin("bridge", 'cat > "$DIR/stdin"; echo "{\\"ok\\":1}"; echo told >&2');
  const shim = sandbox.call("ADD", {}, { CNI_ARGS: "K8S_POD_NAME=p" });
  const peer = await daemon.accept();
  const call = readCall(await peer.expect("CALL"));
  expect(call).toMatchObject({
    verb: "ADD",
    containerId: "c1",
    netns: "/run/netns/none",
    ifname: "eth0",
    cniArgs: "K8S_POD_NAME=p",
    cniPath: sandbox.binDir,
  });
  expect(call.netnsIdentity).toBeUndefined();
  expect(call.hand.pid).toBe(shim.pid);
  expect(call.hand.software).toMatch(/^levee-shim /);
  expect(`pid:[${call.hand.pidNamespace}]`).toBe(readlinkSync("/proc/self/ns/pid"));
  expect(call.budgetMs).toBeGreaterThan(109_000);
  expect(call.configLength).toBe(Buffer.byteLength(sandbox.conf()));
  peer.welcome();
  peer.order("GO");
  const config = await peer.expect("CONFIG");
  expect(Buffer.from(bytesField(config, "config") ?? []).toString()).toBe(sandbox.conf());

  peer.send(encodeRun(7, sandbox.run(plugin, { stdin: '{"a":1500.0}' })));
  const frame = await peer.expect("OUTCOME");
  expect(numberField(frame, "step")).toBe(7);
  const outcome = readOutcome(frame);
  expect(outcome).toMatchObject({
    exitCode: 0,
    signal: undefined,
    timedOut: false,
    stdoutTruncated: false,
    failure: undefined,
    stderr: "told\n",
  });
  expect(Buffer.from(outcome.stdout).toString()).toBe('{"ok":1}\n');
  expect(sandbox.read("stdin")).toBe('{"a":1500.0}');

  const ack = await peer.finish(0, '{"done":true}');
  expect(flagField(ack, "printed")).toBe(true);
  expect(await shim.exited).toEqual({ code: 0, signal: null, stdout: '{"done":true}', stderr: "" });
});

test("the netns and the shim's own are identified, and the CALL of an ADD names the interfaces", async () => {
  const netns = sandbox.netns("identity");
  sandbox.call("ADD", {}, { CNI_NETNS: netns });
  const call = readCall(await (await daemon.accept()).expect("CALL"));
  const facts = statSync(netns, { bigint: true });
  expect(call.netnsIdentity).toMatchObject({ device: facts.dev, inode: facts.ino, ctimeNs: undefined });
  expect(isAmongLinks(call.links, "lo")).toBe(true);
  sandbox.call("DEL", {}, { CNI_NETNS: netns });
  const del = readCall(await (await daemon.accept()).expect("CALL"));
  expect(del.netnsIdentity).toEqual(call.netnsIdentity);
  expect(del.links).toBe("");
  const own = statSync("/proc/self/ns/net", { bigint: true });
  expect(call.ownNetns).toEqual({ device: own.dev, inode: own.ino });
});

test("FINISH with an error is printed and its exit code kept", async () => {
  const shim = sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.begin();
  await peer.finish(1, '{"code":11}');
  expect(await shim.exited).toMatchObject({ code: 1, stdout: '{"code":11}' });
});
