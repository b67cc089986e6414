import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";
import { scenarioFields, type Field } from "./scenario-fields.ts";
import { scenarioSchema } from "./scenario-schema.ts";

const root = resolve(import.meta.dirname, "../../../..");
const examples = join(root, "examples/sim");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-scenario-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const shell = fakeShell({ argv: ["sim", ...argv], isRoot: false });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

function run(text: string, ...argv: readonly string[]): ReturnType<typeof levee> {
  const path = join(folder, "scenario.yaml");
  writeFileSync(path, text);
  return levee("run", path, ...argv);
}

describe("levee sim run", () => {
  for (const name of readdirSync(examples).toSorted()) {
    test(`holds examples/sim/${name}`, async () => {
      const { status, out, err } = await levee("run", join(examples, name));
      expect(out).toStartWith("✓ Levee holds ");
      expect(status).toBe(0);
      expect(err).not.toContain("Error");
    }, 180_000);
  }

  test("the seeds' outage does not hold with Multus as it is shipped", async () => {
    const { status, out } = await levee("run", join(examples, "seeds-outage.yaml"), "--impl", "multus-4.2.2");
    expect(status).toBe(1);
    expect(out).toMatch(/^× Multus 4\.2\.2 does not hold the seeds' outage/u);
  }, 180_000);

  test("a connection limit is that of Multus 4.3.0 alone", async () => {
    const text = "name: few\nnodes: [{name: node}]\ndaemon: {connectionLimit: 8}\npods: [{name: web, count: 3}]\n";
    expect((await run(text)).out).toStartWith("✓ Levee holds few\n");
    const multus = await run(text.replace("8}", "8, limit: 256Mi}"), "--impl", "multus-4.3.0");
    expect(multus.out).toStartWith("✓ Multus 4.3.0 with a connection limit of 8 holds few\n");
  }, 60_000);

  const brokenPromise = `name: csi
nodes: [{name: node}]
networks: [storage]
pods: [{name: csi, critical: true, networks: [storage]}]
promises: {criticalWithin: 1s}
faults:
  - {kind: network-hangs, network: storage, for: 60s}
`;

  test("kills do not hide that a critical pod waits longer than promised", async () => {
    const kills = "  - {kind: kill-shim, at: 61s, every: 1s, for: 30s}\n";
    for (const faults of ["", kills]) {
      const { status, out } = await run(`${brokenPromise}${faults}`);
      expect(status).toBe(1);
      expect(out).toMatch(/1 critical pod waited longer than 1s, the longest 1\d/u);
    }
  }, 60_000);

  test("what is printed as waited is what the verdict counts, also after a power cut", async () => {
    const text = brokenPromise.replace(/ {2}- \{.*\n/u, "  - {kind: cut-power, at: 60s}\n");
    const { status, out } = await run(text);
    expect(out).toMatch(/critical pods +1 of 1 attached; waited \d+ ms median/u);
    expect(status).toBe(0);
    const json = JSON.parse((await run(text, "-o", "json")).out) as { pods: { waitedMs: number }[] };
    expect(json.pods[0]?.waitedMs).toBeLessThan(1_000);
  }, 60_000);

  test("a fault may name the default network, also where there is no other", async () => {
    const text = "name: few\nnodes: [{name: node}]\npods: [{name: web}]\nfaults:\n- {kind: network-hangs, for: 30s";
    const { status, out } = await run(
      `${text}, network: default-net}\npromises: {attachedWithin: 20s}\n`,
      "-o",
      "json",
    );
    expect(status).toBe(0);
    expect((JSON.parse(out) as { pods: { attachedMs: number }[] }).pods[0]?.attachedMs).toBeGreaterThan(30_000);
    expect((await run(`${text}}\n`)).err).toContain(
      'faults[0].kind is "network-hangs" without network: add one of default-net\n',
    );
  }, 60_000);

  test("--seed wins over the file", async () => {
    const text = "name: few\nseed: 7\nnodes: [{name: node}]\npods: [{name: web, count: 3}]\n";
    expect((await run(text)).out).toContain("seed, run         7, ");
    expect((await run(text, "--seed", "8")).out).toContain("seed, run         8, ");
  });
});

const good = `name: a storm
nodes:
  - name: node
    count: 2
networks: [lan]
pods:
  - name: web
    count: 4
    networks: [lan]
`;

/** Every line of a refusal: where, which field, its value, and after the colon what would be right. */
const wholeLine =
  /^ {2}\| .*scenario\.yaml:\d+: (?:the file|[\w.[\]]+) (?:is|are|has|has the name) (?:".*"|-?\d+(?:ms)?|true|false|empty|missing|an? (?:empty )?(?:list|object)|the alias \S+|[\w/-]+)(?: [^:]*)?(?:,[^:]*)?: .{6,}$/u;

function expectWholeLines(err: string): void {
  const lines = err.split("\n").filter((line) => line.startsWith("  | "));
  expect(lines.filter((line) => !wholeLine.test(line))).toEqual([]);
  expect(lines.length).toBeGreaterThan(0);
}

/** What is wrong, the file, and what is said. */
const mistakes: [string, string, string][] = [
  [
    "pods: 5",
    good.replace("pods:\n  - name: web\n    count: 4\n    networks: [lan]", "pods: 5"),
    "6: pods is 5: it must be a list, such as",
  ],
  [
    "a count",
    good.replace("count: 4", "count: many"),
    '8: pods[0].count is "many": it must be a whole number from 1 to 5000, such as 219',
  ],
  [
    "a key",
    good.replace("count: 4", "cuont: 4"),
    "8: pods[0].cuont is 4, and is not a field: the fields here are name, namespace, count",
  ],
  ["a missing one", "nodes: [{name: a}]\npods: [{name: b}]\n", "1: name is missing: add it, such as A rack comes back"],
  ["a key twice", `${good}name: again\n`, '10: name is "again", and is there twice: remove one'],
  [
    "a network",
    good.replace("networks: [lan]\npods", "networks: [dmz]\npods"),
    '9: pods[0].networks[0] is "lan", which is not in networks: they are dmz',
  ],
  ["a node", good.replace("count: 4", "nodes: [agent]"), '8: pods[0].nodes[0] is "agent": it must be one of node'],
  [
    "a time",
    `${good}promises: {criticalWithin: 3}\n`,
    "10: promises.criticalWithin is 3: it must be a time with its unit, ms, s, m or h, such as 3s",
  ],
  [
    "a size",
    `${good}daemon: {limit: 50MB}\n`,
    '10: daemon.limit is "50MB": it must be a number of bytes, or one with Ki, Mi or Gi, such as 50Mi',
  ],
  ["a CPU", `${good}daemon: {cpu: fast}\n`, '10: daemon.cpu is "fast": it must be a number of cores'],
  [
    "a choice",
    `${good}faults: [{kind: earthquake}]\n`,
    '10: faults[0].kind is "earthquake": it must be one of kill-daemon, ',
  ],
  [
    "a fault's network",
    `${good}faults: [{kind: network-hangs}]\n`,
    '10: faults[0].kind is "network-hangs" without network: add one of lan',
  ],
  [
    "a network too many",
    `${good}faults: [{kind: api-away, network: lan}]\n`,
    '10: faults[0].network is "lan", which does not fit api-away: leave it out',
  ],
  [
    "every of what lasts",
    `${good}faults: [{kind: disk-full, every: 2s}]\n`,
    '10: faults[0].every is "2s", which does not fit disk-full, which lasts: leave it out',
  ],
  [
    "for without every",
    `${good}faults: [{kind: kill-daemon, for: 2s}]\n`,
    '10: faults[0].for is "2s" without every: add it, or leave this out',
  ],
  [
    "too often",
    `${good}faults: [{kind: kill-daemon, every: 1ms}]\n`,
    "10: faults[0].every is 1ms: it must be at least 100ms",
  ],
  [
    "a delete too early",
    good.replace("count: 4", "at: 9s\n    deleteAt: 3s"),
    '9: pods[0].deleteAt is "3s", which is before at: pods are deleted after they have come',
  ],
  [
    "a name twice",
    good.replace("networks: [lan]\npods:", "networks: [lan]\npods:\n  - name: web"),
    "8: pods[1] has the name default/web, which is there already",
  ],
  [
    "a node's name twice",
    good.replace("networks: [lan]\npods", "  - name: node\nnetworks: [lan]\npods"),
    "5: nodes[1] has the name node, which is there already: give it another one",
  ],
  [
    "how long deletes take, without any",
    good.replace("count: 4", "deleteOver: 3s"),
    '8: pods[0].deleteOver is "3s" without deleteAt: add it, or leave this out',
  ],
  ["a flag", good.replace("count: 4", "critical: yes please"), '8: pods[0].critical is "yes please": it must be true'],
  ["a null", good.replace("count: 4", "count:"), "8: pods[0].count is empty: it must be a whole number"],
  ["a list of no names", good.replace("networks: [lan]\npods", "networks: []\npods"), "5: networks is an empty list"],
  ["an object too many", `${good}seed: {of: chance}\n`, "10: seed is an object: it must be a whole number"],
  [
    "a fault's network that is not there",
    `${good}faults: [{kind: network-slow, network: wan}]\n`,
    '10: faults[0].network is "wan", which is not in networks: they are lan',
  ],
  [
    "a network for an instant",
    `${good}faults: [{kind: cut-power, network: lan}]\n`,
    '10: faults[0].network is "lan", which does not fit cut-power: leave it out',
  ],
  ["no YAML", "name: [\n", '1: the file has "name: [", which is not YAML: '],
  [
    "two documents",
    "name: a\n---\nname: b\n",
    '2: the file has "---", which begins a second document: make two files\n',
  ],
  ["no number", good.replace("count: 4", "count: .nan"), "8: pods[0].count is NaN: it must be a whole number"],
  ["a number past all", good.replace("count: 4", "count: 1e400"), "8: pods[0].count is Infinity: it must be a whole"],
  ["nothing", "", "1: the file is empty: it must be an object, such as {name: a storm, nodes: "],
];

describe("a mistake is named with line, field, value and remedy", () => {
  test.each(mistakes)("%s", async (_, text, message) => {
    const { status, out, err } = await run(text);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toContain(`scenario.yaml:`);
    expect(err).toContain(message);
    expectWholeLines(err);
    expect(err).toContain("try: levee sim schema prints the schema");
  });

  test.each([
    `${good}faults: [{kind: earthquake}]\n`,
    good.replace("name: web", "name: WEB!"),
    good.replace("nodes:\n  - name: node\n    count: 2", "nodes: []"),
  ])("a wrong value is not missing as well: %#", async (text) => {
    const { err } = await run(text);
    expect(err).toContain("it has one mistake");
    expect(err).not.toContain("missing");
  });

  test("all mistakes of a file are named at once", async () => {
    const { err } = await run(good.replace("count: 2", "count: 0").replace("count: 4", "count: 0"));
    expect(err).toContain("it has 2 mistakes");
    expect(err).toContain(":4: nodes[0].count is 0");
    expect(err).toContain(":8: pods[0].count is 0");
  });

  test.each(["{}\n", "# later\n{}\n"])(
    "all fields that %j lacks are named at once, with a whole scenario",
    async (text) => {
      const { status, err } = await run(text);
      expect(status).toBe(2);
      expect(err).toContain("it has 3 mistakes");
      for (const key of ["name", "nodes", "pods"]) expect(err).toContain(`: ${key} is missing: add it, `);
      expectWholeLines(err);
      const [, example = ""] = /a whole scenario is (.*)\n/u.exec(err) ?? [];
      expect(await run(example)).toMatchObject({ status: 0, err: "" });
    },
  );

  test("a file without pods is told so beside its other mistakes", async () => {
    const { err } = await run("name: a storm\nnodes: [{name: a, count: 0}]\n");
    expect(err).toContain("it has 2 mistakes");
    expect(err).toContain("pods is missing: add it, or reboots, such as ");
    expect(err).not.toContain("a whole scenario");
  });

  test("a file that is not there", async () => {
    const { status, err } = await levee("run", join(folder, "none.yaml"));
    expect(status).toBe(2);
    expect(err).toContain("Cannot read the scenario");
    expect(err).toContain("none.yaml: there is no such file (ENOENT)");
  });
});

describe("what is hostile is refused before it costs time or memory", () => {
  test.each([
    [
      "a size below any daemon",
      `${good}daemon: {limit: 4096}\n`,
      "10: daemon.limit is 4096 bytes: it must be at least 1Mi",
    ],
    [
      "an alias",
      good.replace("name: web", "name: &web web").replace("count: 4", "namespace: *web"),
      "is the alias *web",
    ],
    [
      "a name that clears the screen",
      good.replace("a storm", String.raw`"\e[2J"`),
      "it must be one line of at most 200",
    ],
    [
      "billions of faults",
      `${good}faults: [{kind: kill-daemon, every: 100ms, for: 999999h}]\n`,
      '10: faults[0].every is "100ms", which makes 35999964001 faults: at most 1000',
    ],
    [
      "pods that come in half a year",
      good.replace("count: 4", "at: 5000h"),
      '8: pods[0].at is "5000h": it must be at most 24h, such as 2s',
    ],
    [
      "pods that come over weeks",
      good.replace("count: 4", "over: 999999h"),
      '8: pods[0].over is "999999h": it must be at most 24h, such as 30s',
    ],
    [
      "pods that are deleted in half a year",
      good.replace("count: 4", "deleteAt: 5000h"),
      '8: pods[0].deleteAt is "5000h": it must be at most 24h, such as 60s',
    ],
    [
      "a fault in half a year",
      `${good}faults: [{kind: kill-daemon, at: 5000h}]\n`,
      '10: faults[0].at is "5000h": it must be at most 24h, such as 10s',
    ],
    [
      "a fault for half a year",
      `${good}faults: [{kind: api-away, for: 5000h}]\n`,
      '10: faults[0].for is "5000h": it must be at most 24h, such as 10m',
    ],
    [
      "a promise for half a year",
      `${good}promises: {attachedWithin: 24.001h}\n`,
      '10: promises.attachedWithin is "24.001h": it must be at most 24h, such as 3m',
    ],
    [
      "millions of nodes",
      `name: many\npods: [{name: web}]\nnodes:\n${"- {name: node, count: 100}\n".repeat(2_000)}`,
      "3: nodes are 200000 in all: at most 100",
    ],
    [
      "millions of pods",
      `name: many\nnodes: [{name: node}]\npods:\n${"- {name: web, count: 5000}\n".repeat(2_000)}`,
      "3: pods are 10000000 in all: at most 5000",
    ],
  ])("%s", async (_, text, message) => {
    const { status, out, err } = await run(text);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expectWholeLines(err);
  });

  test("a day is not too long", async () => {
    const { status, err } = await run(`${good}promises: {attachedWithin: 24h, criticalWithin: 1440m}\n`);
    expect([status, err]).toEqual([0, ""]);
  });

  test("a file that never ends, and one that is too long", async () => {
    const endless = await levee("run", "/dev/zero");
    expect(endless.status).toBe(2);
    expect(endless.err).toContain("it must be a regular file");
    const long = await run(" ".repeat(1024 ** 2 + 1));
    expect(long.status).toBe(2);
    expect(long.err).toContain("it may have at most 1048576 bytes");
  });
});

describe("the schema", () => {
  test("is what levee sim schema prints, and what docs/sim-scenario.schema.json has", async () => {
    const { status, out } = await levee("schema");
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual(scenarioSchema());
    expect(JSON.parse(readFileSync(join(root, "docs/sim-scenario.schema.json"), "utf8"))).toEqual(JSON.parse(out));
  });

  test("is YAML with -o yaml, and is refused in a format that it has not", async () => {
    expect((await levee("schema", "-o", "json")).out).toBe((await levee("schema")).out);
    const { status, out } = await levee("schema", "-o", "yaml");
    expect(status).toBe(0);
    expect(out).toStartWith("$schema: ");
    expect(parse(out)).toEqual(scenarioSchema());
    expect(await levee("schema", "-o", "wide")).toMatchObject({ status: 2, out: "" });
  });

  test("every field is explained in docs/sim.md, in the words of the schema", () => {
    const page = readFileSync(join(root, "docs/sim.md"), "utf8");
    const missing = rowsOf("", scenarioFields.known).filter((row) => !page.includes(row));
    expect(missing).toEqual([]);
  });
});

function rowsOf(place: string, known: Readonly<Record<string, Field>>): readonly string[] {
  return Object.entries(known).flatMap(([key, field]) => {
    const below = field.is === "object" || field.is === "list" ? field.fields.known : {};
    const path = `${place}${key}${field.is === "list" ? "[]" : ""}`;
    return [`| \`${path}\` | ${field.says} | \`${field.example}\` |`, ...rowsOf(`${path}.`, below)];
  });
}
