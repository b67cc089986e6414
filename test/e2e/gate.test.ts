/**
 * The reboot gate with the real kured: the guard, a node's daemon and hand, the shim and two kureds, each behind one door,
 * on a real API server. The guard's verdicts stand for 30 s here; each time it is killed, wedged or cut off, both doors
 * must be closed within that time.
 */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../lab/free-port.ts";
import { builtKured } from "../peers/kured.ts";
import { askDoor, makeKuredSet, makeWorkload, podOf, startGateCluster, writeGate } from "./gate/gate-cluster.ts";
import { GateNode, shim } from "./gate/gate-node.ts";
import { KeptGuard } from "./gate/kept-guard.ts";
import { KuredProcess, type KuredDoor } from "./gate/kured-process.ts";
import { needsServer } from "./needs-server.ts";
import { mergePatch, type PolicyServer } from "./policy-server.ts";
import { pause, until } from "./until.ts";

const kured = builtKured();
const missing = kured === undefined ? "kured is not built (npm run e2e -- gate builds it)" : undefined;
const { group, beforeAll, afterAll } = needsServer("gate", missing);

const levee = join(import.meta.dir, "../../dist/levee");
const expiryMs = 30_000;
/** The daemon looks once a second, and asks for up to five. */
const lateMs = 6_000;
/** The guard looks every ten seconds, and a new leader waits for the old one's lease. */
const opensMs = 120_000;

let server: PolicyServer;
let folder: string;
let node: GateNode;
let guard: KeptGuard;
let byLabel: KuredProcess;
let byTicket: KuredProcess;
let elsewhere: KuredProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-gate-"));
  server = await startGateCluster(["n1", "n2", "n3"]);
  await writeFile(join(folder, "admin-kubeconfig"), await Bun.file(await server.kubeconfig()).text());
  // The daemon of n1 would answer for them too, and they would take their turns.
  for (const name of ["n2", "n3"]) {
    const path = `/api/v1/nodes/${name}/status`;
    await server.ask({ method: "PATCH", path, type: mergePatch, body: { status: { addresses: null } } });
  }
  const metricsPort = await freePort();
  node = new GateNode({ server, folder, node: "n1", pod: podOf("n1"), metricsPort });
  guard = await KeptGuard.make(server, folder, [
    ...["--gate-door", "label", "--gate-expiry", String(expiryMs / 1_000), "--daemon-port", String(metricsPort)],
  ]);
  const start = (name: string, where: string, door: KuredDoor): KuredProcess => {
    makeKuredSet(server, name);
    const one = new KuredProcess({ program: kured ?? "", server, folder, name, node: where, door });
    one.program.start();
    return one;
  };
  const label: KuredDoor = ({ mark }) => [
    ...["--reboot-sentinel", mark, "--blocking-pod-selector", "levee.dev/reboot=deny"],
  ];
  byLabel = start("kured", "n1", label);
  byTicket = start("kured-b", "n1", ({ mark, said }) => [
    ...["--reboot-sentinel-command", `sh -c "test -e ${mark} && ${shim} gate check --file ${node.ticket} >> ${said}"`],
  ]);
  elsewhere = start("kured-c", "n2", label);
  await node.start();
}, 180_000);

afterAll(async () => {
  for (const one of [byLabel, byTicket, elsewhere]) await one.program.stop("SIGKILL");
  await guard.kill();
  await node.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

async function untilOpen(): Promise<void> {
  const isOpen = async (): Promise<true | undefined> =>
    node.check().code === 0 && (await askDoor(server, "n1")) === "allow" ? true : undefined;
  await until("both doors of n1 are open", isOpen, { timeoutMs: opensMs, everyMs: 500 }).catch((thrown: unknown) => {
    const seen = [node.check().line, why("n1"), guard.said(), node.daemon.logTail(10)].join("\n");
    throw new Error(`${String(thrown)}\n${seen}`);
  });
}

/** How long the last open door stayed open. */
async function untilClosed(isClosed: () => Promise<boolean> | boolean): Promise<number> {
  const startedMs = performance.now();
  const look = async (): Promise<true | undefined> => ((await isClosed()) ? true : undefined);
  await until("the doors of n1 are closed", look, { timeoutMs: opensMs, everyMs: 250 });
  return performance.now() - startedMs;
}

async function bothClosed(): Promise<boolean> {
  return node.check().code === 1 && (await askDoor(server, "n1")) === "deny";
}

function unlabel(name: string): void {
  const pods = ["levee", "levee-hand"].map((owner) => podOf(name, owner));
  server.must(["-n", "levee-system", "label", "pod", ...pods, "levee.dev/reboot-"]);
}

function why(name: string): string {
  const config = join(folder, "admin-kubeconfig");
  const { stdout, stderr } = spawnSync(levee, ["gate", "why", name, "--kubeconfig", config], { encoding: "utf8" });
  return stdout + stderr;
}

group("the reboot gate before real kureds", () => {
  test("both doors are closed before anybody has looked", async () => {
    await until("the daemon has written its ticket", () => node.check().line.includes("GateAbsent") || undefined);
    expect(node.check()).toMatchObject({ code: 1 });
    expect(await Promise.all(["n1", "n2", "n3"].map((name) => askDoor(server, name)))).toEqual([
      "deny",
      "deny",
      "deny",
    ]);
  });

  test("the guard opens both doors of the node that waits, and no other", async () => {
    guard.start();
    await untilOpen();
    expect(node.check().line).toBe("Allow: the guard found no reason against a reboot");
    expect(await Promise.all(["n2", "n3"].map((name) => askDoor(server, name)))).toEqual(["deny", "deny"]);
    expect(why("n1")).toStartWith("Allow: n1 may be rebooted now\n");
  }, 280_000);

  test("a guard that is killed leaves both doors closed within the expiry", async () => {
    await untilOpen();
    await guard.kill();
    expect(await untilClosed(bothClosed)).toBeLessThan(expiryMs + lateMs);
    expect(node.check().line).toContain("GateStale");
    guard.start();
  }, 280_000);

  test("a guard that is wedged leaves both doors closed within the expiry", async () => {
    await untilOpen();
    guard.signal("SIGSTOP");
    expect(await untilClosed(bothClosed)).toBeLessThan(expiryMs + lateMs);
    guard.signal("SIGCONT");
  }, 280_000);

  test("a daemon that is wedged leaves its ticket to expire, and a garbled ticket is closed at once", async () => {
    await untilOpen();
    process.kill(node.daemon.pid, "SIGSTOP");
    try {
      expect(await untilClosed(() => node.check().code === 1)).toBeLessThan(expiryMs + lateMs);
      expect(node.check().line).toContain("the ticket expired");
      await writeFile(node.ticket, "verdict Allow\n");
      expect(node.check()).toEqual({ code: 1, line: "Deny: the ticket is damaged, or of another version of Levee" });
    } finally {
      process.kill(node.daemon.pid, "SIGCONT");
    }
  }, 280_000);

  test("an API server that is away leaves the ticket to expire", async () => {
    await untilOpen();
    await server.stopApiServer("SIGKILL");
    try {
      expect(await untilClosed(() => node.check().code === 1)).toBeLessThan(expiryMs + lateMs);
      expect(node.check().line).toContain("GateUnreadable");
    } finally {
      await server.startApiServer();
    }
  }, 280_000);

  test("verdicts of clocks that run ahead or behind are closed within the expiry", async () => {
    await guard.kill();
    await untilClosed(bothClosed);
    const allow = { node: "n1", verdict: "Allow", standsMs: expiryMs } as const;
    // By this node's clock the guard is ten minutes ahead, or two minutes behind.
    for (const [observedInMs, code] of [
      [600_000, "GateAhead"],
      [-120_000, "GateStale"],
    ] as const) {
      await writeGate(server, { ...allow, observedInMs });
      await until(code, () => node.check().line.includes(code) || undefined, { timeoutMs: 10_000 });
      expect(await bothClosed()).toBe(true);
    }
    // Half a minute ahead is let pass, and still ends after its own length.
    await writeGate(server, { ...allow, observedInMs: 30_000 });
    await until("the ticket allows", () => node.check().code === 0 || undefined, { timeoutMs: 10_000 });
    expect(await untilClosed(() => node.check().code === 1)).toBeLessThan(expiryMs + lateMs);
  }, 280_000);

  test("a label that somebody deletes is put back by the node's daemon, without a guard", async () => {
    unlabel("n1");
    expect(await untilClosed(async () => (await askDoor(server, "n1")) === "deny")).toBeLessThan(lateMs);
  }, 60_000);

  test("and by the guard on a node without a daemon", async () => {
    guard.start();
    await until("the guard leads", () => why("n1").startsWith("Allow") || undefined, { timeoutMs: opensMs });
    unlabel("n2");
    // It looks every ten seconds.
    expect(await untilClosed(async () => (await askDoor(server, "n2")) === "deny")).toBeLessThan(20_000);
    await guard.kill();
  }, 180_000);
});

group("kured before the reboot gate", () => {
  test("kured waits behind each door while the gate denies", async () => {
    server.must(["delete", "rebootgate", "n1"]);
    server.must(["cordon", "n3"]);
    guard.start();
    await makeWorkload(server, "n1");
    await until("the guard says why", () => why("n1").includes("OtherNodeCordoned") || undefined, {
      timeoutMs: opensMs,
    });
    for (const one of [byLabel, byTicket, elsewhere]) one.mark();
    const hears = (one: KuredProcess, words: string): Promise<true> =>
      until(`${one.program.name} hears ${words}`, () => (one.program.log + one.said).includes(words) || undefined, {
        timeoutMs: 120_000,
      });
    await hears(byLabel, "Reboot blocked: matching pods: [levee-hand-n1 levee-n1]");
    await hears(byTicket, "Deny: OtherNodeCordoned");
    await hears(elsewhere, "Reboot blocked: matching pods: [levee-hand-n2 levee-n2]");
    // Some rounds of each.
    await pause(8_000);
    expect(byTicket.program.logTail(1)).toContain("Reboot not required");
    expect([byLabel, byTicket, elsewhere].map(({ hasRebooted }) => hasRebooted)).toEqual([false, false, false]);
    expect(server.kubectl(["get", "pod", "web"]).status).toBe(0);
  }, 290_000);

  test("kured drains and reboots when the gate allows, through each door, and nowhere else", async () => {
    server.must(["uncordon", "n3"]);
    for (const one of [byLabel, byTicket])
      await until(`${one.program.name} has rebooted n1`, () => one.hasRebooted || undefined, {
        timeoutMs: 120_000,
      }).catch((thrown: unknown) => {
        throw new Error(`${String(thrown)}\n${one.program.logTail()}\n${why("n1")}`);
      });
    for (const one of [byLabel, byTicket]) expect(one.program.log).toContain("Draining node n1");
    expect(byTicket.said).toContain("Allow: the guard found no reason against a reboot");
    expect(server.kubectl(["get", "pod", "web"]).stderr).toContain("NotFound");
    expect(server.must(["get", "node", "n1", "-o", "jsonpath={.spec.unschedulable}"])).toBe("true");
    expect(elsewhere.hasRebooted).toBe(false);
  }, 280_000);
});
