/** `multus.sock` as multus-shim and the controller of dynamic networks use it, on the real daemon and hand. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { attachments, expectSuccess, podCall, story, untilRunning, addStory, delStory } from "../crash/crash-node.ts";
import { expectNothingLeft } from "../crash/nothing-left.ts";
import type { Lab } from "../lab/lab.ts";
import { annotate, untilNetworks } from "../plug/plug-node.ts";
import { delegate, makeMultusNode, multusCall, multusSock, post, untilHealthy } from "./multus-node.ts";

async function started(settings: Readonly<Record<string, unknown>> = {}): Promise<Lab> {
  const lab = await makeMultusNode(settings);
  await lab.startDaemon();
  await lab.startHand();
  await untilHealthy(lab);
  return lab;
}

test("ADD, CHECK and DEL of multus-shim are calls like any others, carried out by the resident hand", async () => {
  await using lab = await started();
  const call = podCall(lab, "c1");
  const added = await multusCall(lab, "ADD", call);
  expect(added.status).toBe(200);
  expect(JSON.parse(added.body)).toMatchObject({ Result: { cniVersion: "1.1.0" } });
  expect(await story(lab)).toEqual(addStory);
  expect(await attachments(lab)).toMatchObject([{ containerId: "c1", phase: "attached" }]);
  const [first] = await lab.calls();
  expect(first?.env).toMatchObject({ CNI_NETNS: call.netns, CNI_PATH: expect.stringContaining(lab.path("bin")) });
  expect(await multusCall(lab, "ADD", call)).toMatchObject({
    status: 400,
    body: expect.stringContaining("attached already"),
  });
  expect(await multusCall(lab, "CHECK", call)).toEqual({ status: 200, body: "" });
  expect(await multusCall(lab, "STATUS", { containerId: "" })).toMatchObject({ status: 200 });
  await lab.forgetCalls();
  // The pod may also be deleted by our own shim, and the other way round.
  expectSuccess(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(delStory);
  await lab.forgetCalls();
  expectSuccess(await lab.cni("ADD", call));
  await lab.forgetCalls();
  expect(await multusCall(lab, "DEL", call)).toEqual({ status: 200, body: "" });
  expect(await story(lab)).toEqual(delStory);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("an ADD that fails is undone before it is answered, with the plugin's own code", async () => {
  await using lab = await started();
  await lab.script("gamma.ADD", 'echo \'{"cniVersion":"1.0.0","code":77,"msg":"no luck"}\'; exit 1');
  const { status, body } = await multusCall(lab, "ADD", podCall(lab, "c1"));
  expect(status).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ code: 77, msg: expect.stringContaining("no luck") });
  expect((await story(lab)).filter((line) => line.startsWith("DEL"))).toEqual(delStory);
  expect(await attachments(lab)).toEqual([]);
});

test("a caller that goes away in the middle of its ADD takes its plugin along, and all is undone", async () => {
  await using lab = await started();
  await lab.script("gamma.ADD", "sleep 600");
  const [call, gone] = [podCall(lab, "c1"), new AbortController()];
  const asked = multusCall(lab, "ADD", call, gone.signal).catch(() => "gone");
  await untilRunning(lab, "ADD", "gamma");
  gone.abort();
  expect(await asked).toBe("gone");
  await lab.until("the ADD is undone", async () => (await attachments(lab)).length === 0 || undefined);
  expect((await story(lab)).filter((line) => line.startsWith("DEL"))).toEqual(delStory);
  await lab.unscript("gamma.ADD");
  expect((await multusCall(lab, "ADD", call)).status).toBe(200);
});

test("a DEL ends an ADD that is under way", async () => {
  await using lab = await started();
  await lab.script("gamma.ADD", "sleep 600");
  const call = podCall(lab, "c1");
  const asked = multusCall(lab, "ADD", call);
  await untilRunning(lab, "ADD", "gamma");
  expect(await multusCall(lab, "DEL", call)).toEqual({ status: 200, body: "" });
  expect(await asked).toMatchObject({ status: 400, body: expect.stringContaining("cancelled") });
  await expectNothingLeft(lab, { netns: [call.netns] });
});

for (const victim of ["daemon", "hand"] as const) {
  test(`a ${victim} killed in the middle of an ADD leaves nothing behind`, async () => {
    await using lab = await started();
    await lab.script("gamma.ADD", "sleep 1");
    const call = podCall(lab, "c1");
    const asked = multusCall(lab, "ADD", call).catch(() => ({ status: 0, body: "" }));
    await untilRunning(lab, "ADD", "gamma");
    await (victim === "daemon" ? lab.killDaemon() : lab.killHand());
    expect((await asked).status).not.toBe(200);
    await (victim === "daemon" ? lab.startDaemon() : lab.startHand());
    await untilHealthy(lab);
    await lab.until("the ADD is undone", async () => (await attachments(lab)).length === 0 || undefined);
    expect((await story(lab)).filter((line) => line.startsWith("DEL"))).toEqual(delStory);
    await lab.unscript("gamma.ADD");
    expect((await multusCall(lab, "ADD", call)).status).toBe(200);
    expect((await multusCall(lab, "DEL", call)).status).toBe(200);
  });
}

test("without a hand an ADD is refused, and a DEL is kept and carried out when the hand comes", async () => {
  await using lab = await makeMultusNode();
  await lab.startDaemon();
  await untilHealthy(lab);
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  expect(await post(lab, "/healthz", "null")).toEqual({ status: 200, body: "" });
  expect(await post(lab, "/readyz", "null")).toMatchObject({ status: 503 });
  expect(await multusCall(lab, "ADD", podCall(lab, "c2"))).toMatchObject({
    status: 400,
    body: expect.stringContaining("the resident hand, which runs its plugins, is not connected"),
  });
  await lab.forgetCalls();
  expect(await multusCall(lab, "DEL", call)).toEqual({ status: 200, body: "" });
  expect(await attachments(lab)).toHaveLength(1);
  await lab.startHand();
  expect(await post(lab, "/readyz", "null")).toEqual({ status: 200, body: "" });
  await lab.until("the delete is carried out", async () => (await attachments(lab)).length === 0 || undefined);
  expect(await story(lab)).toEqual(delStory);
});

test("a DEL whose plugin fails is told to the caller, who will not ask again, and tried until it succeeds", async () => {
  await using lab = await started();
  const call = podCall(lab, "c1");
  expect((await multusCall(lab, "ADD", call)).status).toBe(200);
  await lab.script("gamma.DEL", 'echo \'{"cniVersion":"1.0.0","code":77,"msg":"not yet"}\'; exit 1');
  const { status, body } = await multusCall(lab, "DEL", call);
  expect(status).toBe(400);
  expect(JSON.parse(body)).toMatchObject({ msg: expect.stringContaining("not yet") });
  await lab.unscript("gamma.DEL");
  await lab.until("the delete is carried out", async () => (await attachments(lab)).length === 0 || undefined);
});

test("what a change of the annotation attaches is answered to /delegate, and attached once", async () => {
  await using lab = await started();
  const call = podCall(lab, "c1");
  expect((await multusCall(lab, "ADD", call)).status).toBe(200);
  await lab.forgetCalls();
  await lab.answer("delta.ADD", '{"cniVersion":"1.0.0","interfaces":[{"name":"net7","sandbox":"/x"}],"ips":[]}');
  const wish = { ...call, ifname: "net7" };
  const conf = { name: "third", type: "delta" };
  await annotate(lab, "second,third@net7");
  const asked = await Promise.all([delegate(lab, "ADD", wish, conf), delegate(lab, "ADD", wish, conf)]);
  for (const { status, body } of asked) {
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ Result: { interfaces: [{ name: "net7" }] } });
  }
  expect(await story(lab)).toEqual(["ADD delta net7"]);
  await annotate(lab, "second");
  expect(await delegate(lab, "DEL", wish, conf)).toEqual({ status: 200, body: "" });
  expect(await delegate(lab, "DEL", wish, conf)).toEqual({ status: 200, body: "" });
  expect(await story(lab)).toEqual(["ADD delta net7", "DEL delta net7"]);
});

test("/delegate brings about nothing that the annotation does not ask for", async () => {
  await using lab = await started({ addLookupMs: 200 });
  const call = podCall(lab, "c1");
  expect((await multusCall(lab, "ADD", call)).status).toBe(200);
  await lab.forgetCalls();
  const third = { name: "third", type: "delta" };
  const refused = async (verb: string, ifname: string, conf: { name: string }, words: string): Promise<void> => {
    const { status, body } = await delegate(lab, verb, { ...call, ifname }, conf);
    expect(status).toBe(400);
    expect(body).toContain(words);
  };
  await refused("ADD", "net7", third, "does not ask for that interface");
  await refused("DEL", "net1", { name: "second" }, "still asks for it");
  await refused("CHECK", "net1", { name: "second" }, "it takes ADD and DEL");
  await lab.script("delta.ADD", 'echo \'{"cniVersion":"1.0.0","code":77,"msg":"no luck"}\'; exit 1');
  await annotate(lab, "second,third@net7");
  // On a busy machine the folder's change is seen later than a call waits for it here.
  const told = await lab.until("the change is seen", async () => {
    const { body } = await delegate(lab, "ADD", { ...call, ifname: "net7" }, third);
    return body.includes("does not ask for that interface") ? undefined : body;
  });
  expect(told).toContain("no luck");
  expect((await delegate(lab, "DEL", { ...call, ifname: "net7" }, third)).status).toBe(200);
  await annotate(lab, "second");
  await untilNetworks(lab, ["second net1"]);
  expect((await story(lab)).filter((line) => line.includes("gamma"))).toEqual([]);
});

test("/delegate tells why its own change failed, and not another one of the pod", async () => {
  await using lab = await started();
  const call = podCall(lab, "c1");
  expect((await multusCall(lab, "ADD", call)).status).toBe(200);
  await lab.script("delta.ADD", 'echo \'{"cniVersion":"1.0.0","code":77,"msg":"no luck"}\'; exit 1');
  await annotate(lab, "second,nowhere@net8,third@net7");
  const wish = (ifname: string, name: string) => delegate(lab, "ADD", { ...call, ifname }, { name });
  const [third, nowhere] = await Promise.all([wish("net7", "third"), wish("net8", "nowhere")]);
  expect([third.status, nowhere.status]).toEqual([400, 400]);
  expect(third.body).toContain("no luck");
  expect(nowhere.body).toContain("cannot find a network-attachment-definition (nowhere)");
});

test("the socket is root's alone, and is not there unless a site asks for it", async () => {
  await using lab = await makeMultusNode();
  mkdirSync(lab.path("multus-run"));
  chmodSync(lab.path("multus-run"), 0o755);
  await lab.startDaemon();
  await untilHealthy(lab);
  expect([statSync(lab.path("multus-run")).mode & 0o777, statSync(multusSock(lab)).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);
  await lab.killDaemon("SIGTERM");
  expect(existsSync(multusSock(lab))).toBe(false);
  await lab.configure({ clusterNetwork: "primary" });
  await lab.startDaemon();
  expect(existsSync(multusSock(lab))).toBe(false);
});

test("a Multus that still answers on the socket keeps it until it ends", async () => {
  await using lab = await makeMultusNode();
  mkdirSync(lab.path("multus-run"), { mode: 0o700 });
  const multus = Bun.serve({ unix: multusSock(lab), fetch: () => new Response("of Multus") });
  await lab.startDaemon();
  expect((await post(lab, "/healthz", "")).body).toBe("of Multus");
  await multus.stop(true);
  await lab.until("the daemon answers", async () =>
    (await post(lab, "/healthz", "").catch(() => undefined))?.body === "" ? true : undefined,
  );
});
