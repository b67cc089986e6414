import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../../base/clock.ts";
import { ScriptedServer } from "../../../../kube/client/scripted-server.fixture.ts";
import { encodeEntry, type RecorderEntry } from "../../../../state/recorder/recorder-entry.ts";
import { recorderFolder, segmentOf } from "../../../../state/recorder/recorder-segments.ts";
import { readStorms } from "../../../../state/recorder/read-storms.ts";
import { stormEntries, stormEntry, stormStartMs } from "../../../../state/recorder/storm-entries.fixture.ts";
import { fakeShell } from "../../../fake-shell.fixture.ts";
import { runCli } from "../../../main.ts";
import type { StormReport } from "./storm-report.ts";

let dir: string;
let server: ScriptedServer;
/** What stands behind each path of the API server. */
let pages: Record<string, { readonly code: number; readonly body: string } | undefined>;
let asked: string[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "levee-storm-"));
  asked = [];
  pages = { "/api/v1/nodes": page({ items: ["a", "b", "c", "d"].map((name) => ({ metadata: { name } })) }) };
  server = await ScriptedServer.listen(({ url }, response) => {
    const key = url.pathname.replace("/api/v1/nodes/http:", "").replace(":9810/proxy", "");
    asked.push(key);
    const { code, body } = pages[key] ?? { code: 404, body: "404 page not found\n" };
    response.writeHead(code).end(body);
  });
  const cluster = { name: "c", cluster: { server: server.url } };
  const config = {
    "current-context": "main",
    "contexts": [{ name: "main", context: { cluster: "c", user: "u" } }],
    "clusters": [cluster],
    "users": [{ name: "u", user: { token: "t" } }],
  };
  writeFileSync(join(dir, "kubeconfig"), JSON.stringify(config));
});

afterEach(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

function page(body: unknown, code = 200): { readonly code: number; readonly body: string } {
  return { code, body: typeof body === "string" ? body : JSON.stringify(body) };
}

/** What a daemon answers whose flight recorder has these entries. */
async function recorded(entries: readonly RecorderEntry[]): Promise<{ readonly code: number; readonly body: string }> {
  const folder = mkdtempSync(join(dir, "recorder-"));
  writeFileSync(segmentOf(folder, 1).path, entries.map(encodeEntry).join(""));
  return page(await readStorms(folder, "own"));
}

const metrics = (kills: number, waiting = 0): string =>
  [
    `levee_waiting{kind="attach",class="ordinary"} ${waiting}`,
    `levee_memory_oom_kills_total ${kills}`,
    "levee_memory_working_set_bytes 20971520",
    "levee_memory_limit_bytes 52428800",
    'levee_admissions_total{class="ordinary",outcome="refused"} 3',
    'levee_admissions_total{class="detach",outcome="refused"} 40',
    `process_start_time_seconds ${stormStartMs / 1_000 - 60}`,
    "",
  ].join("\n");

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  // A rest of a daemon takes no time here.
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const shell = fakeShell({ argv: ["report", ...argv, "--kubeconfig", join(dir, "kubeconfig")], clock });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

/** a and b had a storm, c does not answer, d has a daemon of an earlier release. */
async function outage(): Promise<void> {
  pages["a/stormz"] = await recorded([
    stormEntry(-1_000, "shop/web", "asked"),
    ...stormEntries(119),
    stormEntry(61_000, "fc-desktop/rd-2", "failed", { detail: "delegate-failed: # [x](y) | <b>" }),
  ]);
  pages["b/stormz"] = await recorded(stormEntries(100, 30_000));
  pages["c/stormz"] = page({ message: "error trying to reach service: connection refused" }, 503);
  pages["a/metrics"] = page(metrics(2));
  pages["b/metrics"] = page(metrics(0));
}

describe("levee report --storm", () => {
  test("adds up the nodes, takes their metrics, and names the nodes that could not be asked", async () => {
    await outage();
    const { status, out } = await levee("--storm");
    expect([status, out.split("\n")[0]]).toEqual([0, "# Post-mortem: a storm of 219 pods on 2 nodes"]);
    expect([...out.matchAll(/^## (.*)$/gmu)].map(([, title]) => title)).toEqual([
      ...["Summary", "Timeline", "Root cause (chain)", "Nodes", "What failed", "What was done", "Numbers"],
      ...["What this report cannot see", "What to do next"],
    ]);
    expect(out).toContain("| **Status** | Over: Levee held it, and no Decision was needed |");
    expect(out).toMatch(/^\| a \| 119 \| 119 \| 1m \| 119 \| 0 \| 0 \| 0 \|$/mu);
    expect(out).toMatch(/^\| b \| 100 \| 100 \|/mu);
    expect(out).toContain(
      "| 2 | processes killed in the daemons' containers | the daemons' metrics, since they started |",
    );
    expect(out).toContain("| 6 | ADDs that found no room |");
    expect(out).toMatch(/Node c could not be asked: .*connection refused/u);
    expect(out).toContain("Node d could not be asked: its daemon is of an earlier release, or not Levee's");
    // b's first entry is the storm's; what was before it is overwritten.
    expect(out).toContain("The flight recorders of b begin after the storm did");
    expect(out).toContain("no Prometheus was named");
    expect(out).not.toContain("<b>");
    expect(out).toContain("| 1 | calls | delegate-failed |");
  });

  test("-o json has every number, and --node asks those alone", async () => {
    await outage();
    const { out } = await levee("--storm", "--node", "b", "-o", "json");
    const report = JSON.parse(out) as StormReport;
    expect(report).toMatchObject({ nodesTold: 1, silent: [], storm: { pods: 100 }, now: [{ node: "b", refused: 3 }] });
    expect(asked.filter((path) => /^[acd]\//u.test(path))).toEqual([]);
    expect((await levee("--storm", "-o", "yaml")).out).toContain("nodesTold: 2");
    expect(await levee("--storm", "--node", "b", "nobody")).toMatchObject({
      status: 1,
      err: expect.stringContaining("Cannot ask nobody: the cluster has no such Linux node") as string,
    });
  });

  test("says that it goes on while pods wait, and names Decisions of that time", async () => {
    await outage();
    pages["b/metrics"] = page(metrics(0, 7));
    expect((await levee("--storm")).out).toContain("| **Status** | It goes on: 7 wait on b |");
    pages["b/metrics"] = undefined;
    pages["/apis/levee.dev/v1alpha1/namespaces/levee-system/decisions"] = page({ message: "no" }, 403);
    const { out } = await levee("--storm");
    expect(out).toContain("Whether there was a Decision is not known");
    expect(out).toContain("Decisions of the guard: ");
  });

  test("asks Prometheus about that time where it is named, and says when that tells nothing", async () => {
    await outage();
    const path = "/api/v1/namespaces/mon/services/http:prom:9090/proxy/api/v1/query";
    const series = [{ metric: { alertname: "MultusOOMLoop" }, value: [1, "45"] }];
    pages[path] = page({ status: "success", data: { result: series } });
    const { out } = await levee("--storm", "--prometheus", "mon/prom:9090");
    expect(out).toContain("| 45 | most in line at once, on all nodes | Prometheus |");
    expect(out).toContain("| 45 | alerts fired: MultusOOMLoop 45 | Prometheus |");
    pages[path] = page("<html>");
    const other = await levee("--storm", "--prometheus", "mon/prom:9090");
    expect([other.status, other.out]).toEqual([0, expect.stringContaining("Prometheus did not tell: ") as string]);
    expect((await levee("--storm", "--prometheus", "prom:9090")).status).toBe(2);
  });

  test("waits for a daemon that rests, and gives up a program that is not ours", async () => {
    await outage();
    const told = pages["b/stormz"];
    pages["b/stormz"] = page("too many ask at once\n", 503);
    pages["d/stormz"] = page("{}");
    const { out } = await levee("--storm");
    expect(out).toMatch(/Node b could not be asked: .*too many ask at once/u);
    expect(out).toContain("Node d could not be asked: the program on that port is not Levee's daemon");
    expect(asked.filter((path) => path === "b/stormz")).toHaveLength(3);
    pages["b/stormz"] = told;
    expect((await levee("--storm")).out).toContain("219 pods on 2 nodes");
  });

  test("without a storm, or without any answer, it says what it saw", async () => {
    pages["a/stormz"] = await recorded(stormEntries(19));
    expect(await levee("--storm")).toMatchObject({
      status: 1,
      out: "",
      err: expect.stringContaining(
        "at most 19 pods waited in one go, fewer than 20; b, c, d could not be asked",
      ) as string,
    });
    pages["a/stormz"] = undefined;
    expect(await levee("--storm")).toMatchObject({
      status: 3,
      err: expect.stringContaining("none of 4 nodes told; a: ") as string,
    });
    pages["a/stormz"] = await recorded(stormEntries(219));
    expect((await levee("--storm", "--since", "1h")).err).toContain("at most 0 pods waited");
    expect((await levee("--storm", "--since", "soon")).status).toBe(2);
  });
});

describe("levee report --storm --this-node", () => {
  const own = async (...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> => {
    const shell = fakeShell({ argv: ["--state-dir", dir, "report", "--storm", "--this-node", ...argv] });
    return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
  };

  test("reads the flight recorder of its machine, with the plugins' words, and asks no cluster", async () => {
    expect(await own()).toMatchObject({ status: 1, err: expect.stringContaining("there is nothing in") as string });
    await mkdir(recorderFolder(dir));
    const { path } = segmentOf(recorderFolder(dir), 1);
    writeFileSync(path, stormEntries(19).map(encodeEntry).join(""));
    expect((await own()).err).toContain("at most 19 pods waited in one go, fewer than 20");
    const failed = stormEntry(500, "fc-desktop/rd-2", "failed", { detail: "delegate-failed: # [x](y) | <b>" });
    writeFileSync(path, [...stormEntries(219), failed].map(encodeEntry).join(""));
    const { status, out } = await own();
    expect([status, out.split("\n")[0]]).toEqual([0, "# Post-mortem: a storm of 219 pods on this node"]);
    expect(out).toContain("219 pods asked for their network on this node faster than the plugins could serve them");
    expect(out).toContain("delegate-failed: ");
    expect(out).not.toContain("<b>");
    const file = join(dir, "report.md");
    expect(await own("--file", file)).toMatchObject({ status: 0, out: "" });
    expect(await readFile(file, "utf8")).toBe(out);
    expect(asked).toEqual([]);
  });

  test("refuses options that do not go together, and changes nothing", async () => {
    for (const argv of [[], ["stop-x-1", "--storm"], ["stop-x-1", "--since", "1h"], ["stop-x-1", "--this-node"]])
      expect((await levee(...argv)).status).toBe(2);
    expect((await own("--node", "a")).status).toBe(2);
    expect((await own("--prometheus", "mon/prom:9090")).status).toBe(2);
    expect((await levee("stop-x-1", "-o", "json")).err).toContain("levee decisions show stop-x-1 -o json");
    expect(asked).toEqual([]);
  });
});
