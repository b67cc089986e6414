// The flight recorder: what was noted up to the last moment is there after a kill, with and without a daemon.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { containerId, resultOf, startNode } from "../conformance/node.ts";
import type { Lab } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";

interface Told {
  readonly source: string;
  readonly outcome: { readonly state: string };
  readonly entries: readonly { readonly what: string; readonly detail?: string; readonly wallMs: number }[];
}

async function why(lab: Lab, pod: string): Promise<Told> {
  const { status, out, err } = await levee(lab, "why", pod, "-o", "json");
  expect({ status, err: status === 0 ? "" : err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out) as Told;
}

test("a daemon that is killed in the middle of a storm leaves every pod's story, and the next goes on with it", async () => {
  await using lab = await startNode({ settings: { attachCeiling: 2 } });
  await lab.script("first.ADD", "sleep 0.3");
  const pods = Array.from({ length: 12 }, (_, at) => `web-${at}`);
  for (const name of pods) await lab.pod(name, {}, "shop");
  const calls = pods.map((name) =>
    lab.cni("ADD", { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs(name, "shop") }),
  );
  await lab.until("some plugins run", async () => ((await lab.calls()).length >= 3 ? true : undefined));
  await lab.killDaemon("SIGKILL");

  // Without a daemon: from the files alone.
  for (const name of pods) {
    const { source, entries } = await why(lab, `shop/${name}`);
    expect(source).toBe("disk");
    expect(entries.map(({ what }) => what)).toContain("asked");
  }
  const waited = await Promise.all(pods.map((name) => why(lab, `shop/${name}`)));
  const inLine = waited.flatMap(({ entries }) => entries.filter(({ what }) => what === "waiting"));
  expect(inLine.length).toBeGreaterThan(4);
  expect(inLine.at(-1)?.detail).toMatch(
    /^ordinary, position \d+ of \d+: (all slots are taken|other calls are ahead of it)$/,
  );

  await lab.startDaemon();
  for (const call of calls) resultOf(await call);
  let toldAfterTheKill = 0;
  for (const name of pods) {
    const { source, outcome, entries } = await why(lab, `shop/${name}`);
    expect({ source, state: outcome.state }).toEqual({ source: "daemon", state: "attached" });
    const whats = entries.map(({ what }) => what);
    // One that had its answer in the last moment before the kill may have its end unwritten.
    const isToldAfterwards = whats.lastIndexOf("asked") > whats.indexOf("daemon-started");
    if (isToldAfterwards) expect(whats).toContain("acknowledged");
    toldAfterTheKill += isToldAfterwards ? 1 : 0;
    // Those that had their answer before the kill have the restart behind them.
    expect(whats.indexOf("asked")).toBeLessThan(whats.indexOf("daemon-started"));
    expect(entries.find(({ what }) => what === "daemon-started")?.detail).toBe("the one before it was killed or died");
  }
  expect(toldAfterTheKill).toBeGreaterThan(6);
  const text = (await levee(lab, "why", "shop/web-11")).out;
  expect(text).toContain("attached");
  expect(text).toContain("The daemon was started (the one before it was killed or died)");
});

test("a failure is on disk before its caller hears of it", async () => {
  await using lab = await startNode();
  await lab.script(
    "first.ADD",
    `echo '{"cniVersion":"1.1.0","code":77,"msg":"no address left"}'; echo pool is empty >&2; exit 1`,
  );
  const metadata = { name: "db", namespace: "shop", uid: "1-2-3" };
  await writeFile(lab.path("directory/pods/db.json"), JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata }));
  const args = `${lab.podArgs("db", "shop")};K8S_POD_UID=1-2-3`;
  await lab.cni("ADD", { containerId: containerId("a"), netns: lab.netns("a"), args });
  await lab.killDaemon("SIGKILL");
  const { out } = await levee(lab, "why", "shop/db", "-o", "wide");
  for (const part of ["no address left", "exit=1", "stderr: pool is empty", "failed once"]) expect(out).toContain(part);
});
