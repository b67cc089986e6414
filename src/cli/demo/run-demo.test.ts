import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { protocolVersion } from "../../wire/frame.ts";

/** The demonstration as `npm start` runs it: the built programs, real plugins, real namespaces. Needs root and a build. */
const dist = resolve(import.meta.dirname, "../../../dist");
const levee = join(dist, "levee");
const canRun = process.getuid?.() === 0 && existsSync(levee) && existsSync(join(dist, "levee-shim"));
const env = {
  PATH: process.env["PATH"] ?? "",
  LEVEE_SOCKET_DIR: "/run/levee-demo",
  LEVEE_STATE_DIR: "/var/lib/levee-demo",
};

const running = new Set<Demo>();
afterAll(async () => {
  for (const demo of running) await demo.end("SIGTERM");
});

/** A demonstration under way, with what it has printed so far. */
class Demo {
  readonly #process = Bun.spawn([levee, "demo"], { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  readonly #done = Promise.all([this.#collect(this.#process.stdout), this.#collect(this.#process.stderr)]);
  text = "";

  constructor() {
    running.add(this);
  }

  async until(words: string): Promise<void> {
    while (!this.text.includes(words)) {
      if (this.#process.exitCode !== null) throw new Error(`The demonstration ended too early: ${this.text}`);
      await Bun.sleep(20);
    }
  }

  async end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number | null> {
    this.#process.kill(signal);
    return this.ended();
  }

  async ended(): Promise<number | null> {
    await this.#process.exited;
    await this.#done;
    running.delete(this);
    return this.#process.exitCode;
  }

  async #collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of stream) this.text += new TextDecoder().decode(chunk);
  }
}

function run(...args: readonly string[]): { status: number; out: string; err: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([levee, ...args], { env });
  return { status: exitCode, out: stdout.toString(), err: stderr.toString() };
}

function pidsWith(words: string): readonly number[] {
  const { stdout } = Bun.spawnSync(["ps", "-eo", "pid=,args="]);
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line.includes(words))
    .map((line) => Number.parseInt(line, 10));
}

function expectNothingLeft(): void {
  const netns = Bun.spawnSync(["ip", "netns", "list"]).stdout.toString();
  expect(netns).not.toMatch(/levee-(?:demo|extra)\b/u);
  const paths = ["/run/levee-demo", "/var/lib/levee-demo", "/sys/class/net/levee-lan0", "/sys/class/net/levee-dmz0"];
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
  expect(pidsWith("/var/lib/levee-demo/daemon-config.json")).toEqual([]);
  expect(pidsWith("--socket-dir /run/levee-demo")).toEqual([]);
}

describe.skipIf(!canRun)("levee demo", () => {
  test("--once attaches a pod to two networks, proves it, and leaves nothing", () => {
    const { status, out, err } = run("demo", "--once");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(/^eth0 +default\/lan +10\.201\.0\.\d+\/24 .* 10\.201\.0\.1$/mu);
    expect(out).toMatch(/^net1 +default\/dmz +10\.202\.0\.\d+\/24/mu);
    expect(out.match(/^ {2}ok /gmu)?.length).toBeGreaterThanOrEqual(2);
    expect(out).not.toContain("FAIL");
    expect(out).toContain("Nothing is left");
    expectNothingLeft();
  });

  test("serves the commands it prints, and detaches the person's own pods at the end", async () => {
    const demo = new Demo();
    await demo.until("Ctrl-C ends");
    expect(run("attach", "extra", "--networks", "dmz,lan").status).toBe(0);
    expect(run("ls").out).toMatch(/^default\/extra +attached/mu);
    expect(run("why", "extra").out).toStartWith("default/extra attached");
    const failed = run("attach", "extra2", "--networks", "lan,nope");
    expect(failed).toMatchObject({ status: 1, err: expect.stringContaining("CNI code 101, network-unknown") });
    expect(JSON.parse(run("version", "-o", "json").out)).toMatchObject({ daemon: { protocol: protocolVersion } });
    expect(await demo.end("SIGTERM")).toBe(0);
    expect(demo.text).toContain("Nothing is left");
    expectNothingLeft();
  });

  test("a second one says so and ends with 1, and the first goes on", async () => {
    const demo = new Demo();
    await demo.until("Ctrl-C ends");
    expect(run("demo")).toMatchObject({ status: 1, err: expect.stringContaining("already-running") });
    expect(run("ls").out).toContain("default/demo");
    expect(await demo.end("SIGINT")).toBe(0);
    expectNothingLeft();
  });

  test("after SIGKILL the next one removes what it left", async () => {
    const demo = new Demo();
    await demo.until("Ctrl-C ends");
    await demo.end("SIGKILL");
    expect(existsSync("/var/run/netns/levee-demo")).toBe(true);
    const { status, out } = run("demo", "--once");
    expect(status).toBe(0);
    expect(out).toContain("An earlier demo was killed; removed what it left: process");
    expectNothingLeft();
  });

  test("when the daemon dies it shows the end of the log, cleans up and ends with 1", async () => {
    const demo = new Demo();
    await demo.until("Ctrl-C ends");
    for (const pid of pidsWith("/var/lib/levee-demo/daemon-config.json")) process.kill(pid, "SIGKILL");
    expect(await demo.ended()).toBe(1);
    expect(demo.text).toContain("Error: The daemon ended unexpectedly with signal SIGKILL, the end of its log:");
    expect(demo.text).toContain("The daemon is ready");
    expectNothingLeft();
  });

  test.each([20, 120, 250, 330, 400])("interrupted %d ms after its start it leaves nothing", async (ms) => {
    const demo = new Demo();
    await Bun.sleep(ms);
    await demo.end("SIGTERM");
    expectNothingLeft();
  });
});
