import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { parse } from "yaml";
import { systemClock } from "../base/clock.ts";
import { journalOptions } from "./node/journal-options.fixture.ts";
import { Journal } from "../state/journal/journal.ts";
import { aRecord, json } from "../state/journal/record.fixture.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import { encodeFrame, protocolVersion, textField } from "../wire/frame.ts";
import type { AttachmentView } from "../wire/node-view.ts";
import { FakeShim } from "./node/fake-shim.fixture.ts";
import { fakeShell, type FakeShell } from "./fake-shell.fixture.ts";
import { runCli } from "./main.ts";
import { netnsName } from "./node/names.ts";
import { netnsExists, removeNetns } from "./node/netns.ts";

let shim: FakeShim;
let server: Server | undefined;
const podName = `m${process.pid}`;
/** Wall time stands still, so that ages do not depend on how fast the tests run. */
const nowMs = Date.now();

beforeEach(() => {
  shim = new FakeShim();
});
afterEach(async () => {
  server?.close();
  server = undefined;
  await removeNetns(fakeShell(), netnsName({ namespace: "default", name: podName }));
  shim.remove();
});

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function levee(
  line: string,
  extra: { readonly isTerminal?: boolean; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const { settings } = shim.context();
  const env = {
    LEVEE_SOCKET_DIR: settings.socketDir,
    LEVEE_STATE_DIR: settings.stateDir,
    LEVEE_DIRECTORY: settings.directory,
    LEVEE_SHIM: settings.shim,
    ...extra.env,
  };
  const shell: FakeShell = fakeShell({
    argv: line === "" ? [] : line.split(" "),
    env,
    isTerminal: extra.isTerminal ?? false,
    clock: { ...systemClock, wallMs: () => nowMs },
  });
  const status = await runCli(shell);
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

/** A daemon that answers each question from the table. */
async function daemon(answers: Readonly<Record<string, unknown>>): Promise<void> {
  const { socketDir } = shim.context().settings;
  mkdirSync(socketDir, { recursive: true });
  server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) {
        const { ask } = JSON.parse(textField(frame, "question") ?? "{}") as { ask: string };
        socket.write(encodeFrame("ANSWER", [["answer", JSON.stringify({ answer: answers[ask] })]]));
      }
    });
  });
  await new Promise<void>((resolve) => void server?.listen(join(socketDir, "levee.sock"), resolve));
}

const web: AttachmentView = {
  namespace: "default",
  pod: "web",
  uid: "u",
  containerId: "c".repeat(64),
  netns: "/var/run/netns/levee-web",
  phase: "attached",
  sinceWallMs: nowMs - 90_000,
  networks: [
    {
      network: "default/lan",
      ifname: "eth0",
      isDefault: true,
      plugins: ["bridge", "tuning"],
      ips: ["10.1.0.2/24"],
      mac: "02:00:00:00:00:01",
    },
    { network: "default/dmz", ifname: "net1", isDefault: false, plugins: ["macvlan"], ips: [], mac: "" },
  ],
};
const nameless: AttachmentView = {
  ...web,
  namespace: "",
  pod: "",
  containerId: "d".repeat(64),
  phase: "lost",
  networks: [],
};

describe("levee ls", () => {
  test("prints pods with phase, networks and age, sorted", async () => {
    await daemon({ attachments: { attachments: [{ ...web, pod: "zoo", phase: "undoing" }, nameless, web] } });
    const { status, out, err } = await levee("ls");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out.split("\n").map((line) => line.split(/ {3,}/u))).toEqual([
      ["POD", "PHASE", "NETWORKS", "AGE"],
      ["container ddddddddddddd", "lost", "-", "1m30s"],
      ["default/web", "attached", "default/lan→eth0 10.1.0.2, default/dmz→net1", "1m30s"],
      ["default/zoo", "undoing", "default/lan→eth0 10.1.0.2, default/dmz→net1", "1m30s"],
      [""],
    ]);
  });

  test("-o wide adds container, namespace and plugins", async () => {
    await daemon({ attachments: { attachments: [web] } });
    const { out } = await levee("ls -o wide");
    expect(out).toContain("CONTAINER");
    expect(out).toContain("ccccccccccccc   /var/run/netns/levee-web   bridge+tuning macvlan");
  });

  test("-o json and -o yaml carry everything and where it is from, before or after the command", async () => {
    await daemon({ attachments: { attachments: [web] } });
    const expected = { source: "daemon", attachments: [web] };
    expect(JSON.parse((await levee("ls -o json")).out)).toEqual(expected);
    expect(JSON.parse((await levee("-o json ls")).out)).toEqual(expected);
    expect(parse((await levee("ls --output yaml")).out)).toEqual(expected);
  });

  test("paints the phase on a terminal only, and not with NO_COLOR", async () => {
    await daemon({ attachments: { attachments: [web] } });
    expect((await levee("ls", { isTerminal: true })).out).toContain("\u001b[32mattached\u001b[39m");
    expect((await levee("ls", { isTerminal: true, env: { NO_COLOR: "1" } })).out).not.toContain("\u001b");
    expect((await levee("ls")).out).not.toContain("\u001b");
  });

  test("filters by namespace, and says so when there is nothing", async () => {
    await daemon({ attachments: { attachments: [web] } });
    expect((await levee("ls -n shop")).out).toBe("No attachments\n");
    expect((await levee("ls -o wide -n shop")).out).toBe("No attachments\n");
    expect((await levee("list -n default")).out).toContain("default/web");
  });
});

describe("without a daemon", () => {
  async function journalWithPod(): Promise<void> {
    const journal = await Journal.open(journalOptions(shim.context().settings.stateDir));
    await journal.begin(aRecord(1));
    await journal.commit(aRecord(1).token, [json('{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.5/24"}]}')]);
    await journal.acknowledge(aRecord(1).token);
    await journal.close();
  }

  test("ls reads the journal and says so on stderr", async () => {
    await journalWithPod();
    const { status, out, err } = await levee("ls");
    expect(status).toBe(0);
    expect(out).toContain("default/pod1   attached   default/lan→net1 10.0.0.5");
    expect(err).toMatch(
      /^Note: Cannot ask the daemon on .*levee\.sock: the socket does not exist\. Showing what the journal in .*state says/u,
    );
    expect(JSON.parse((await levee("ls -o json")).out)).toMatchObject({ source: "disk" });
  });

  test("ls and why show a pod whose delete waits on disk as detaching", async () => {
    await journalWithPod();
    const offline = join(shim.context().settings.stateDir, "offline");
    mkdirSync(offline, { recursive: true });
    writeFileSync(join(offline, `container1:${aRecord(1).ifname}.del`), "x");
    expect((await levee("ls")).out).toContain("default/pod1   detaching");
    expect((await levee("why pod1")).out).toContain("default/pod1 is being detached");
  });

  test("why and leaks do so too, with one note each", async () => {
    await journalWithPod();
    const why = await levee("why pod1");
    expect(why.out).toContain("default/pod1 attached");
    expect(why.out).toContain("planned       default/lan as net1");
    expect(why.err.match(/Note:/gu)).toHaveLength(1);
    expect((await levee("leaks")).out).toBe("No leaks, no damaged records\n");
  });

  test("with neither daemon nor journal the error names the socket and both places are told", async () => {
    const { status, out, err } = await levee("ls");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain("no daemon has run with that folder");
    expect(err).toContain("(daemon-unreachable)\n  try: check that the daemon runs");
  });
});

describe("levee why", () => {
  const entry = { wallMs: nowMs - 60_000, containerId: web.containerId, verb: "ADD", what: "asked" };

  test("tells the story of a pod", async () => {
    await daemon({
      attachments: { attachments: [web] },
      timeline: { namespace: "default", name: "web", entries: [entry] },
    });
    const { status, out } = await levee("why web");
    expect(status).toBe(0);
    expect(out).toStartWith(
      "default/web attached 1m30s ago on default/lan (eth0 10.1.0.2), default/dmz (net1)\n\nADD of ccccccccccccc",
    );
    expect(JSON.parse((await levee("why default/web -o json")).out)).toMatchObject({
      source: "daemon",
      entries: [entry],
      attachments: [web],
    });
  });

  test("finds a nameless one by its container ID", async () => {
    await daemon({
      attachments: { attachments: [nameless] },
      timeline: { namespace: "", name: nameless.containerId, entries: [] },
    });
    expect((await levee(`why ${nameless.containerId}`)).out).toContain("lost its shim");
  });

  test("finds a pod, named or not, by the beginning of its container ID", async () => {
    await daemon({
      attachments: { attachments: [web, nameless] },
      timeline: { namespace: "default", name: "web", entries: [entry] },
    });
    expect((await levee("why ccccccccccccc")).out).toStartWith("default/web attached");
    expect((await levee("why dddddd")).out).toContain("lost its shim");
  });

  test("refuses a beginning that two containers share", async () => {
    await daemon({
      attachments: { attachments: [web, { ...web, pod: "two", containerId: `cccccc${"e".repeat(58)}` }] },
    });
    const { status, err } = await levee("why cccccc");
    expect(status).toBe(2);
    expect(err).toContain("Cannot tell which container cccccc is");
  });

  test("takes a pod of that name before a container", async () => {
    await daemon({
      attachments: { attachments: [{ ...web, pod: "dddddd" }, nameless] },
      timeline: { namespace: "default", name: "dddddd", entries: [] },
    });
    expect((await levee("why dddddd")).out).toStartWith("default/dddddd attached");
  });

  test("fails for an unknown pod, and says where to look", async () => {
    await daemon({
      attachments: { attachments: [web] },
      timeline: { namespace: "default", name: "nope", entries: [] },
    });
    const { status, err } = await levee("why nope");
    expect(status).toBe(1);
    expect(err).toContain("(pod-unknown)\n  try: levee ls");
  });
});

describe("levee leaks", () => {
  const leak = {
    id: "ab12",
    namespace: "default",
    pod: "web",
    containerId: "c".repeat(64),
    network: "default/lan",
    ifname: "eth0",
    reason: "bridge\ntimed out\u001b[0m",
    sinceWallMs: nowMs - 3_600_000,
    attempts: 4,
  };

  test("prints leaks and what was put aside", async () => {
    const quarantined = [
      { file: "journal-12.bad", reason: "checksum", sinceWallMs: nowMs - 1000 },
      { file: "journal.log", reason: "cut off", sinceWallMs: 0 },
    ];
    await daemon({ leaks: { leaks: [leak, { ...leak, pod: "" }], quarantined }, node: { stateDir: "/their/state" } });
    const { out } = await levee("leaks");
    expect(out.split("\n").map((line) => line.split(/ {3,}/u))).toEqual([
      ["POD", "NETWORK", "INTERFACE", "REASON", "ATTEMPTS", "AGE"],
      ["default/web", "default/lan", "eth0", "bridge timed out", "4", "1h"],
      ["-", "default/lan", "eth0", "bridge timed out", "4", "1h"],
      [""],
      ["Damaged records, moved to /their/state/quarantine:"],
      ["FILE", "REASON", "AGE"],
      ["journal-12.bad", "checksum", "1s"],
      ["journal.log", "cut off", "-"],
      [""],
    ]);
    expect((await levee("leaks -o wide")).out).toContain(`ab12   ${"c".repeat(64)}`);
  });

  test("says so when only records are damaged", async () => {
    await daemon({ leaks: { leaks: [], quarantined: [{ file: "f", reason: "r", sinceWallMs: 1 }] } });
    const { stateDir } = shim.context().settings;
    expect((await levee("leaks")).out).toStartWith(`No leaks\n\nDamaged records, moved to ${stateDir}/quarantine:\n`);
  });
});

describe("levee version", () => {
  test("shows all three parts", async () => {
    writeFileSync(shim.path, "#!/bin/sh\necho 'levee-shim/0.1.0'\n");
    await daemon({ node: { software: "levee 0.1.0", protocol: 1 } });
    const { status, out } = await levee("version -o json");
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual({
      cli: { version: "0.1.0", protocol: protocolVersion },
      daemon: { software: "levee 0.1.0", protocol: 1 },
      shim: { software: "levee-shim/0.1.0" },
    });
  });

  test("works without daemon and shim, and says why they are missing", async () => {
    const { status, out } = await levee("version", { env: { LEVEE_SHIM: "/nowhere/levee-shim" } });
    expect(status).toBe(0);
    expect(out).toContain("the socket does not exist");
    expect(out).toContain("/nowhere/levee-shim: ENOENT");
  });
});

describe("levee attach and detach", () => {
  test("attach prints what the pod got; detach undoes it and may be repeated", async () => {
    await daemon({ attachments: { attachments: [] } });
    const attached = await levee(`attach ${podName} --networks lan,dmz`);
    expect({ status: attached.status, err: attached.err }).toEqual({ status: 0, err: "" });
    expect(attached.out).toContain(
      `default/${podName} is attached, network namespace /var/run/netns/levee-${podName}\n\nINTERFACE   NETWORK       IPS`,
    );
    expect(attached.out).toMatch(/^eth0 {8}default\/lan {3}192\.0\.2\.7\/24 {5}[0-9a-f:]{17} {3}192\.0\.2\.1$/mu);
    expect(shim.calls()[0]?.conf).toContain(`"daemonSocketDir":"${shim.context().settings.socketDir}"`);
    expect(await levee(`detach ${podName}`)).toEqual({ status: 0, out: `default/${podName} is detached\n`, err: "" });
    expect(await levee(`detach ${podName}`)).toEqual({
      status: 0,
      out: `default/${podName} was not attached, nothing to do\n`,
      err: "",
    });
    expect(netnsExists(`levee-${podName}`)).toBe(false);
  });

  test("--default and --conf", async () => {
    const conf = join(shim.folder, "00-levee.conf");
    writeFileSync(conf, '{"of":"the file"}');
    const { status } = await levee(`attach ${podName} --networks lan,dmz --default dmz --conf ${conf}`);
    expect(status).toBe(0);
    expect(shim.calls()[0]?.conf).toBe('{"of":"the file"}');
    expect(await levee(`attach other --networks lan --conf /nowhere/conf`)).toMatchObject({
      status: 1,
      err: expect.stringContaining("Cannot read the configuration /nowhere/conf (ENOENT)"),
    });
  });

  test("a failing ADD ends with 1 and the CNI error", async () => {
    await daemon({});
    shim.behave({ add: `echo '{"code":7,"msg":"bad"}'; exit 1` });
    const { status, out, err } = await levee(`attach ${podName} --networks lan`);
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toBe(
      `Error: Cannot attach default/${podName}: bad (CNI code 7, config-invalid)\n  try: levee why default/${podName}\n`,
    );
  });

  test("detach says when the DEL was kept on disk for the daemon", async () => {
    await levee(`attach ${podName} --networks lan`);
    const offline = join(shim.context().settings.stateDir, "offline");
    shim.behave({ del: `mkdir -p ${offline}; echo x > "${offline}/$CNI_CONTAINERID:$CNI_IFNAME.del"` });
    expect((await levee(`detach ${podName}`)).out).toBe(
      `default/${podName} is detached; the daemon is away and finishes the undo when it is back\n`,
    );
  });

  test("detach --all detaches every pod, and says so when there is none", async () => {
    await levee(`attach ${podName} --networks lan`);
    expect((await levee("detach --all")).out).toBe(`default/${podName} is detached\n`);
    expect((await levee("detach --all")).out).toBe("Nothing is attached\n");
  });

  test("detach --all reports what it could not detach, after the rest", async () => {
    await levee(`attach ${podName} --networks lan`);
    shim.behave({ del: "exit 3" });
    const { status, out, err } = await levee("detach --all");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain(`Cannot detach default/${podName}`);
  });
});
