import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { decodeFrame, textField } from "../../src/wire/frame.ts";
import { readCall } from "../../src/wire/messages.ts";
import { Lab } from "../lab/lab.ts";
import { OtlpReceiver } from "../lab/otlp-receiver.ts";
import { daemon, sandbox, withDaemon } from "../shim/with-daemon.ts";
import { playOldDaemon } from "./old-daemon.ts";
import { OldShim } from "./old-shim.ts";
import { furnish, sceneFolder, webContainer } from "./scene.ts";
import { framesOf, loadTranscript, recordedVersions } from "./transcript.ts";
import { withScene } from "./with-scene.ts";

setDefaultTimeout(30_000);

withScene();
withDaemon();

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const calls = join(sceneFolder, "control/calls");

describe.each(recordedVersions)("traces and version %d", (version) => {
  test("a shim of that version knows no traces: a daemon that traces serves it as before, and sends its call", async () => {
    await using receiver = await OtlpReceiver.listen();
    await using lab = await Lab.make();
    await furnish(lab, { tracesEndpoint: receiver.endpoint, tracesOneIn: 1 });
    await lab.startDaemon();
    const shim = await OldShim.start(lab.socketDir, loadTranscript("add-two-networks", version));
    expect((await shim.until("BYE"))?.type).toBe("BYE");
    expect(shim.unasked).toEqual([]);
    const orders = shim.heard.filter(({ type }) => type === "RUN");
    // The field is sent, and a shim that does not know it skips it.
    expect(orders.every((order) => textField(order, "trace_parent")?.length === 55)).toBe(true);
    await lab.until("the collector has the call", () => Promise.resolve(receiver.named("CNI ADD")[0]));
    expect(receiver.named("CNI ADD")[0]?.attributes["container.id"]).toBe(webContainer);
    expect(receiver.problems).toEqual([]);
  });

  test("a daemon of that version knows no traces: plugins get what the runtime gave", async () => {
    const transcript = loadTranscript("add-two-networks", version);
    const { containerId, netns, ifname, cniArgs, cniPath } = readCall(
      framesOf(transcript, 0)[0]?.frame ?? decodeFrame(new Uint8Array()),
    );
    const env = { CNI_CONTAINERID: containerId, CNI_NETNS: netns, CNI_IFNAME: ifname, CNI_ARGS: cniArgs };
    const shim = sandbox.call("ADD", {}, { ...env, CNI_PATH: cniPath, TRACEPARENT: parent, BAGGAGE: "a=1" });
    await playOldDaemon(daemon, transcript);
    expect(await shim.exited).toMatchObject({ code: 0 });
    const seen = readdirSync(calls).map((call) => readFileSync(join(calls, call, "env"), "utf8"));
    expect(seen).toHaveLength(3);
    for (const text of seen) expect(text).toMatch(new RegExp(`^BAGGAGE=a=1$[^]*^TRACEPARENT=${parent}$`, "mu"));
    for (const call of readdirSync(calls)) rmSync(join(calls, call), { recursive: true });
  });
});
