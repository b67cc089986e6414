import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { encodeFrame } from "../../src/wire/frame.ts";
import { encodeRun } from "../../src/wire/messages.ts";
import { token } from "../shim/scripted-daemon.ts";
import { daemon, sandbox, withDaemon } from "../shim/with-daemon.ts";
import { playOldDaemon } from "./old-daemon.ts";
import { sceneFolder, netnsPath, scenePath, webContainer } from "./scene.ts";
import { loadTranscript, numberBytes, withField, withUnknownFields } from "./transcript.ts";
import { withScene } from "./with-scene.ts";

setDefaultTimeout(30_000);

withScene();
withDaemon();

/** The refusal of a daemon that speaks other versions only, in our words. */
function refusal(range: string): Uint8Array {
  const message = `Cannot talk to levee-shim 0.1.0: it speaks protocol 1 to 6, this daemon ${range}; install the shim that came with the daemon`;
  return encodeFrame("REFUSE", [
    ["code", "protocol-violated"],
    ["message", message],
  ]);
}

test("a daemon that says more than we know is obeyed", async () => {
  const env = { CNI_CONTAINERID: webContainer, CNI_NETNS: netnsPath, CNI_PATH: scenePath };
  const shim = sandbox.call("ADD", {}, env);
  const answered = await playOldDaemon(daemon, loadTranscript("add-two-networks"), { dress: withUnknownFields });
  expect(answered.map(({ order }) => order.type)).toEqual(["STAT", "RUN", "ROUTES", "RUN", "RUN", "ROUTES"]);
  expect(await shim.exited).toMatchObject({ code: 0 });
  expect(readdirSync(join(sceneFolder, "control/calls")).length).toBe(3);
});

test.each([["7 to 9"], ["0"]])(
  "a daemon that speaks %s only: ADD fails with both ranges and what to do",
  async (range) => {
    const shim = sandbox.call("ADD");
    const peer = await daemon.accept();
    await peer.expect("CALL");
    peer.send(refusal(range));
    const error = await shim.error();
    expect(error.code).toBe(112);
    expect(error.msg).toContain("speaks protocol 1 to 6");
    expect(error.msg).toContain(`this daemon ${range}`);
    expect(error.msg).toContain("install the shim that came with the daemon");
  },
);

test.each([["7 to 9"], ["0"]])("a daemon that speaks %s only: DEL is kept on disk and succeeds", async (range) => {
  const shim = sandbox.call("DEL");
  const peer = await daemon.accept();
  await peer.expect("CALL");
  peer.send(refusal(range));
  const { code, stderr } = await shim.exited;
  expect(code).toBe(0);
  expect(stderr).toContain("install the shim that came with the daemon");
  expect(existsSync(sandbox.path("state/offline/c1:eth0.del"))).toBe(true);
});

test("a daemon that speaks another version than it was offered is not obeyed, and the error says what to do", async () => {
  const shim = sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.expect("CALL");
  const welcome = encodeFrame("WELCOME", [
    ["version", 1],
    ["software", "levee 9.0.0"],
    ["token", token],
    ["heartbeat_ms", 1_000],
  ]);
  peer.send(withField(welcome, "version", numberBytes(7)));
  const error = await shim.error();
  expect(error.code).toBe(112);
  expect(error.msg).toContain("version 7 of the protocol");
  expect(error.msg).toContain("this shim speaks 1 to 6");
  expect(error.msg).toContain("install the shim that came with the daemon");
});

test("STATUS of a node whose daemon is of another version is a success: the node stays in service", async () => {
  const shim = sandbox.call("STATUS");
  const peer = await daemon.accept();
  await peer.expect("CALL");
  peer.send(refusal("5 to 9"));
  expect((await shim.exited).code).toBe(0);
});

test("an order of a type that we do not know ends the call with a clear error, and the shim undoes what it did", async () => {
  const plugin = sandbox.plugin("p", 'echo "$CNI_COMMAND" >> "$DIR/ran"; echo "{}"');
  const shim = sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.begin();
  peer.send(encodeRun(1, sandbox.run(plugin, { undo: { command: "DEL", timeoutMs: 5_000 } })));
  await peer.expect("OUTCOME");
  peer.send(withUnknownFields(Uint8Array.from([1, 0, 0, 0, 99])));
  const error = await shim.error();
  expect(error).toMatchObject({ code: 112, details: "Undid 1 of 1 runs" });
  expect(error.msg).toContain("type 99");
  expect(sandbox.read("ran")).toBe("ADD\nDEL\n");
});

test("the resident hand does not obey a daemon of another version, and says so", async () => {
  const hand = sandbox.resident();
  const peer = await daemon.accept();
  await peer.expect("RESIDENT");
  peer.send(refusal("5 to 9"));
  await peer.expectEnd();
  hand.signal("SIGTERM");
  const { code, stderr } = await hand.exited;
  expect(code).toBe(0);
  expect(stderr).toContain("install the shim that came with the daemon");
});
