import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import {
  attachments,
  eachOf,
  errorOf,
  expectSuccess,
  makeNode,
  pause,
  podCall,
  story,
  untilPhase,
  untilRunning,
} from "./crash-node.ts";
import { expectNothingLeft, pluginProcesses } from "./nothing-left.ts";

test("result into a broken pipe: the shim fails, and the attachment is undone by the resident hand", async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  await lab.startHand();
  const call = podCall(lab, "c1");
  const shim = lab.start("ADD", call);
  shim.process.stdout?.destroy();
  expect((await shim.outcome).exitCode).toBe(1);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("result into a broken pipe without a resident hand: the runtime's DEL, or another ADD of the same container, clears it", async () => {
  await eachOf(["DEL", "ADD"], 2, async (verb) => {
    await using lab = await makeNode();
    await lab.startDaemon();
    const call = podCall(lab, "c1");
    const shim = lab.start("ADD", call);
    shim.process.stdout?.destroy();
    expect((await shim.outcome).exitCode).toBe(1);
    await untilPhase(lab, "lost");
    expectSuccess(await lab.cni(verb, call));
    expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(verb === "ADD" ? ["attached"] : []);
    expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [call.netns] });
  });
});

test("an error into a broken pipe: the ADD was undone before", async () => {
  await using lab = await makeNode();
  await lab.script("gamma.ADD", "exit 1");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  const shim = lab.start("ADD", call);
  shim.process.stdout?.destroy();
  expect((await shim.outcome).exitCode).toBe(1);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a plugin's child that keeps its pipes open: the call ends about a second after the plugin, with its result", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "sleep 4 &");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  const beganMs = performance.now();
  expectSuccess(await lab.cni("ADD", call));
  const tookMs = performance.now() - beganMs;
  expect(tookMs).toBeGreaterThan(900);
  expect(tookMs).toBeLessThan(3_500);
  expectSuccess(await lab.cni("DEL", call));
  // The child is the plugin's own business, as with a plugin that leaves a daemon behind; it is not killed after success.
  expect((await pluginProcesses(lab)).filter((process) => process.endsWith("sleep 4"))).toHaveLength(1);
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a plugin's child that writes on after the plugin has ended does not reach the runtime", async () => {
  await using lab = await makeNode();
  await lab.script("beta.ADD", "(sleep 0.3; echo garbage) &");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  const outcome = await lab.cni("ADD", call);
  // Its output within the second belongs to the plugin's, which is then no valid result: a clear error, and undo.
  expect(errorOf(outcome).msg).toContain("beta");
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a hanging plugin is killed with its children at its deadline, and other containers are not held up", async () => {
  await using lab = await makeNode({ addDelegatesMs: 2_500 });
  const note = lab.path("grandchild");
  await lab.script(
    "beta.ADD",
    `[ $CNI_CONTAINERID != stuck ] || { (trap '' TERM; while :; do date +%s%N >${note}; sleep 0.02; done) & sleep 60; }`,
  );
  await lab.startDaemon();
  const stuck = podCall(lab, "stuck");
  let hasEnded = false;
  const hanging = lab.cni("ADD", stuck).finally(() => (hasEnded = true));
  await untilRunning(lab, "ADD", "beta");
  const others = ["a", "b", "c"].map((name) => podCall(lab, name));
  (await Promise.all(others.map((call) => lab.cni("ADD", call)))).forEach(expectSuccess);
  expect(hasEnded).toBe(false);

  expect(errorOf(await hanging)).toMatchObject({
    code: 105,
    msg: expect.stringContaining("was killed with its children"),
  });
  const last = await readFile(note, "utf8");
  await pause(100);
  expect(await readFile(note, "utf8")).toBe(last);
  for (const call of [...others, stuck]) expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [...others, stuck].map(({ netns }) => netns) });
});

test("a plugin that hangs in DEL is killed at its deadline; the other chain is deleted all the same, and the DEL ends", async () => {
  await using lab = await makeNode({ delDelegatesMs: 1_000, delAttemptsMax: 3 });
  await lab.script("alpha.DEL", "sleep 60");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  expect(errorOf(await lab.cni("DEL", call))).toMatchObject({ code: 105 });
  expect(await story(lab, "DEL")).toEqual(["DEL gamma net1", "DEL beta eth0", "DEL alpha eth0"]);
  await lab.unscript("alpha.DEL");
  expectSuccess(await lab.cni("DEL", call));
  await expectNothingLeft(lab, { netns: [call.netns] });
});

test("a DEL that meets a running ADD ends it: the ADD is undone by its own shim before the DEL succeeds", async () => {
  await using lab = await makeNode();
  await lab.script("gamma.ADD", "sleep 0.5");
  await lab.startDaemon();
  const call = podCall(lab, "c1");
  const adding = lab.cni("ADD", call);
  await untilRunning(lab, "ADD", "gamma");
  expectSuccess(await lab.cni("DEL", call));
  expect(errorOf(await adding).code).toBe(11);
  expect(await attachments(lab)).toEqual([]);
  await expectNothingLeft(lab, { netns: [call.netns] });
});
