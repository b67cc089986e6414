import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEntry, everyPod, type RecorderEntry } from "../../../state/recorder/recorder-entry.ts";
import { recorderFolder, segmentOf } from "../../../state/recorder/recorder-segments.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";
import { longestQueue, stormTale } from "./storm-tale.ts";
import { stormText } from "./storm-text.ts";

const startMs = Date.parse("2026-05-10T17:43:00Z");

function entry(atMs: number, pod: string, what: string, facts: RecorderEntry["facts"] = {}): RecorderEntry {
  return { wallMs: startMs + atMs, pod, containerId: `c-${pod}`, verb: "ADD", what, facts };
}

/** `count` pods that wait, get their turn one after the other, and are attached. */
function storm(count: number, atMs = 0): RecorderEntry[] {
  const pods = Array.from({ length: count }, (_, index) => `fc-desktop/rd-${index}`);
  return [
    ...pods.map((pod, index) =>
      entry(atMs + index, pod, "waiting", { detail: `normal, position ${index + 1} of ${index + 1}: slots` }),
    ),
    ...pods.flatMap((pod, index) => [
      entry(atMs + 1_000 + index * 500, pod, "permitted", { tookMs: 1_000 + index * 500 }),
      entry(atMs + 1_100 + index * 500, pod, "committed"),
    ]),
  ];
}

test("stormTale counts the largest storm: who waited, how long, and what was killed, held and left behind", () => {
  const entries = [
    ...storm(30),
    ...storm(219, 3_600_000),
    entry(3_600_500, "fc-desktop/rd-1", "oom-killed", { network: "lan" }),
    entry(3_600_600, "fc-desktop/rd-2", "failed", { detail: "no addresses left" }),
    entry(3_600_601, "fc-desktop/rd-2", "charged", { failures: 1, holdMs: 12_000 }),
    entry(3_600_700, "shop/other", "failed", { detail: "it never waited" }),
    { ...entry(3_600_800, everyPod, "network-opened", { detail: "it fails for everybody" }), verb: "" },
  ].toSorted((left, right) => left.wallMs - right.wallMs);
  const tale = stormTale(entries);
  expect(tale).toMatchObject({
    fromMs: startMs + 3_600_000,
    toMs: startMs + 3_600_000 + 1_000 + 218 * 500,
    ...{ pods: 219, namespaces: [["fc-desktop", 219]], lineMax: 219, attached: 219 },
    ...{ failures: [["no addresses left", 1]], held: 1, holdMsMax: 12_000, oomKills: 1, hung: 0, leaks: 0 },
    moments: [{ what: "network-opened", detail: "it fails for everybody" }],
  });
  expect([tale?.waitsMs.length, tale?.waitsMs.at(-1)]).toEqual([219, 110_000]);
});

test("stormTale finds no storm in a busy minute, in an empty recorder, and in pods that came one by one", () => {
  expect([stormTale([]), stormTale(storm(19))]).toEqual([undefined, undefined]);
  const apart = Array.from({ length: 40 }, (_, index) => entry(index * 600_000, `a/b-${index}`, "waiting"));
  expect([stormTale(apart), longestQueue(apart), longestQueue(storm(19))]).toEqual([undefined, 1, 19]);
  // Pods that never had to wait.
  expect(
    stormTale(Array.from({ length: 40 }, (_, index) => entry(index, `a/b-${index}`, "permitted"))),
  ).toBeUndefined();
});

test("stormText has the sections of a post-mortem, and no foreign text has an effect in it", () => {
  const tale = stormTale([...storm(40), entry(500, "fc-desktop/rd-2", "failed", { detail: "# [x](y) | <b>" })]);
  const text = stormText(tale!, "rke2-agent1");
  expect(text).toStartWith("# Post-mortem: a storm of 40 pods on rke2-agent1\n\n| Field | Value |\n");
  expect([...text.matchAll(/^## (.*)$/gmu)].map(([, title]) => title)).toEqual([
    ...["Summary", "Timeline", "Root cause (chain)", "What failed", "What was done", "Numbers", "What to do next"],
  ]);
  expect(text).toContain("40 pods asked for their network on rke2-agent1 faster than its plugins could serve them");
  expect(text).not.toContain("<b>");
  expect(text).toContain("| 2026-05-10T17:43:00Z | The first pod had to wait |");
});

test("levee report --storm reads the flight recorder of its node, and says what it found instead of a storm", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "levee-storm-"));
  const levee = async (...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> => {
    const shell = fakeShell({ argv: ["--state-dir", stateDir, "report", ...argv] });
    return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
  };
  try {
    expect(await levee("--storm")).toMatchObject({
      status: 1,
      err: expect.stringContaining("there is nothing in") as string,
    });
    await mkdir(recorderFolder(stateDir));
    const { path } = segmentOf(recorderFolder(stateDir), 1);
    await writeFile(path, storm(19).map(encodeEntry).join(""));
    expect((await levee("--storm")).err).toContain("at most 19 pods waited in one go, fewer than 20");
    await writeFile(path, storm(219).map(encodeEntry).join(""));
    const { status, out } = await levee("--storm", "--node", "rke2-agent1");
    expect([status, out.split("\n")[0]]).toEqual([0, "# Post-mortem: a storm of 219 pods on rke2-agent1"]);
    const file = join(stateDir, "report.md");
    expect(await levee("--storm", "--file", file)).toMatchObject({ status: 0, out: "" });
    expect(await readFile(file, "utf8")).toContain("a storm of 219 pods on this node");
    expect((await levee()).status).toBe(2);
    expect((await levee("stop-x-1", "--storm")).status).toBe(2);
    expect((await levee("--storm", "-o", "json")).err).toContain("Markdown for people");
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
});
