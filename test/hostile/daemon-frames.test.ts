import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { NetnsPath, PluginType } from "../../src/base/brand.ts";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import { bytesField, encodeFrame } from "../../src/wire/frame.ts";
import { encodeList, encodeRemove, encodeRun, encodeStat, encodeWelcome } from "../../src/wire/messages.ts";
import { encodeLinks } from "../../src/wire/netns-links.ts";
import { Sandbox } from "../shim/sandbox.ts";
import { token } from "../shim/scripted-daemon.ts";
import type { Exited } from "../shim/shim-process.ts";
import { mutateBytes } from "./mutate.ts";
import { inParallel, trial, trials, type Random } from "./random.ts";

setDefaultTimeout(120_000);

let sandbox: Sandbox;
let server: Server;
/** By container: what the hostile daemon says to it after CALL. */
const speeches = new Map<string, (socket: Socket) => void>();

beforeAll(async () => {
  sandbox = new Sandbox();
  sandbox.plugin("good", 'echo "$CNI_COMMAND $CNI_CONTAINERID" >> "$DIR/ran"; env >> "$DIR/environment"; echo "{}"');
  // Everything that a mutated name could find on its way out of the plugins' folder.
  writeFileSync(sandbox.path("outside"), "#!/bin/sh\ntouch $(dirname $0)/escaped\n", { mode: 0o755 });
  server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) {
        if (frame.type !== "CALL" && frame.type !== "RESUME") continue;
        const id = bytesField(frame, "container_id") ?? new Uint8Array();
        speeches.get(Buffer.from(id).toString())?.(socket);
      }
    });
  });
  server.listen(join(sandbox.socketDir, "levee.sock"));
  await once(server, "listening");
});

afterAll(() => {
  server.close();
  sandbox.clean();
});

function speech(container: string): readonly Uint8Array[] {
  const env = {
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: container,
    CNI_NETNS: "/run/netns/none",
    CNI_IFNAME: "eth0",
    CNI_PATH: sandbox.binDir,
  };
  const order = {
    plugin: "good" as PluginType,
    env,
    stdin: "{}",
    timeoutMs: 2_000,
    undo: { command: "DEL", timeoutMs: 2_000 },
  };
  return [
    encodeWelcome(token, 2_000, "hostile"),
    encodeFrame("GO", []),
    encodeRun(1, order),
    encodeStat(2, ["/proc/self/ns/net"]),
    encodeLinks(4, "/run/netns/none" as NetnsPath),
    encodeList(5, "/var/lib/cni/results", "a"),
    encodeRemove(6, { path: sandbox.path("none/10.1.0.2"), changedWallMs: 7, lock: sandbox.path("none/lock") }),
    encodeFrame("HEARTBEAT", []),
    encodeFrame("KILL", [["step", 9]]),
    encodeFrame("ROUTES", [
      ["step", 3],
      ["netns", "/run/netns/none"],
      ["route_op", Uint8Array.from([1, 4, 4, 101, 116, 104, 48])],
    ]),
    encodeFrame("FINISH", [
      ["exit_code", 0],
      ["output", "{}"],
    ]),
    encodeFrame("BYE", []),
  ];
}

/** Runs the real shim against a daemon that says this. */
async function run(verb: string, container: string, say: (socket: Socket) => void): Promise<Exited> {
  speeches.set(container, say);
  const conf = { addBudgetMs: 1_500, delBudgetMs: 1_500, delPatienceMs: 200 };
  const exited = await sandbox.call(verb, conf, { CNI_CONTAINERID: container }).exited;
  speeches.delete(container);
  return exited;
}

/** However it ended, it ended as a CNI plugin does: 0, or an error that can be read. */
function expectCniEnd(verb: string, { code, signal, stdout, stderr }: Exited): void {
  expect({ signal, stderr: /panic/.test(stderr) ? stderr : "" }).toEqual({ signal: null, stderr: "" });
  if (verb === "DEL" && code === 0) return;
  // An exit code of the hostile daemon's own choice comes with its own output.
  if (code !== 1 || !stdout.includes('"msg"')) return;
  const error = JSON.parse(stdout) as { code: number; msg: string };
  expect(error.code).toBeGreaterThan(0);
  expect(error.msg).not.toBe("");
}

function mutated(random: Random, container: string): Buffer {
  const frames = speech(container);
  const victim = random.below(frames.length);
  const kept = frames.filter((_, index) => index === victim || random.below(8) > 0);
  return Buffer.concat(kept.map((frame) => (frame === frames[victim] ? mutateBytes(random, frame) : frame)));
}

test("four hundred shims survive daemons whose frames are mutated, and nothing but the plugin is ever run", async () => {
  await inParallel(trials(400), 16, (random) =>
    trial(random, "A mutated daemon", async () => {
      const container = `m${random.seed}`;
      const verb = random.pick(["ADD", "ADD", "DEL", "CHECK", "STATUS", "GC"]);
      const bytes = mutated(random, container);
      const isCut = random.below(3) > 0;
      const exited = await run(verb, container, (socket) => {
        socket.write(bytes);
        if (isCut) setTimeout(() => socket.destroy(), random.below(60));
      });
      expectCniEnd(verb, exited);
    }),
  );
  expect(existsSync(sandbox.path("escaped"))).toBe(false);
  const environment = readFileSync(sandbox.path("environment"), "utf8").split("\n");
  const names = environment.filter((line) => /^\w+=/.test(line)).map((line) => line.slice(0, line.indexOf("=")));
  // PWD, OLDPWD, SHLVL and _ are the shell's own.
  const strangers = names.filter(
    (name) => !/^(?:CNI_\w*|PATH|TRACEPARENT|TRACESTATE|BAGGAGE|PWD|OLDPWD|SHLVL|_)$/.test(name),
  );
  expect([...new Set(strangers)]).toEqual([]);
  rmSync(sandbox.path("state"), { recursive: true, force: true });
});

const hostileNames = [
  "../outside",
  "..",
  ".",
  "",
  "/bin/true",
  "a/../../outside",
  "good/",
  "./good",
  "good\0",
  "../bin/good",
];

test("no name leads out of the plugins' folder, no variable into the plugin, no order into another namespace", async () => {
  const base = {
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: "h1",
    CNI_NETNS: "/run/netns/none",
    CNI_IFNAME: "eth0",
    CNI_PATH: sandbox.binDir,
  };
  const good = "good" as PluginType;
  const orders = [
    ...hostileNames.map((name) => encodeRun(1, { plugin: name as PluginType, env: base, stdin: "{}", timeoutMs: 500 })),
    ...["LD_PRELOAD", "PATH", "BASH_ENV", "CNI", "cni_args", " CNI_ARGS", "X\nCNI_ARGS"].map((name) =>
      encodeRun(1, { plugin: good, env: { ...base, [name]: "/x" }, stdin: "{}", timeoutMs: 500 }),
    ),
    ...["/run/netns/other", "/run/netns/../netns/none", "/proc/1/ns/net", "/run/netns/none/", "none"].map((netns) =>
      encodeRun(1, { plugin: good, env: { ...base, CNI_NETNS: netns }, stdin: "{}", timeoutMs: 500 }),
    ),
    encodeRun(1, { plugin: good, env: { ...base, CNI_CONTAINERID: "h2" }, stdin: "{}", timeoutMs: 500 }),
    encodeFrame("ROUTES", [
      ["step", 1],
      ["netns", "/proc/1/ns/net"],
    ]),
    encodeFrame("ROUTES", [
      ["step", 1],
      ["netns", ""],
    ]),
    encodeStat(1, ["relative"]),
    encodeLinks(1, ""),
    encodeLinks(1, "/proc/1/ns/net" as NetnsPath),
    encodeList(1, "/etc"),
    encodeRemove(1, { path: sandbox.path("ran"), changedWallMs: 0, lock: sandbox.path("ran") }),
    encodeRun(1, { plugin: good, env: base, stdin: "{}", timeoutMs: 500, scratchNetns: true }),
    encodeFrame("REAP", [
      ["step", 1],
      ["pid", 1],
      ["pid_start", 0],
      ["timeout_ms", 1],
    ]),
    encodeFrame("REAP", [
      ["step", 1],
      ["pid", 2n ** 32n + 1n],
      ["pid_start", 0],
      ["timeout_ms", 1],
    ]),
  ];
  const before = readFileSync(sandbox.path("ran"), "utf8");
  for (const order of orders) {
    const answers: string[] = [];
    const exited = await run("ADD", "h1", (socket) => {
      const reader = new FrameReader();
      socket.on("data", (chunk: Buffer) => {
        for (const frame of reader.push(chunk)) {
          if (frame.type !== "OUTCOME") continue;
          const failure = bytesField(frame, "failure") ?? new Uint8Array();
          answers.push(Buffer.from(failure).toString());
          socket.write(
            encodeFrame("FINISH", [
              ["exit_code", 1],
              ["output", "told"],
            ]),
          );
          socket.write(encodeFrame("BYE", []));
        }
      });
      socket.write(Buffer.concat([encodeWelcome(token, 2_000, "hostile"), encodeFrame("GO", []), order]));
    });
    expect({
      order: Buffer.from(order).toString("latin1"),
      answers,
      code: exited.code,
      stdout: exited.stdout,
    }).toMatchObject({ answers: ["refused"], code: 1, stdout: "told" });
  }
  expect(readFileSync(sandbox.path("ran"), "utf8")).toBe(before);
  expect(existsSync(sandbox.path("escaped"))).toBe(false);
});

test("tokens that are none, and a flood of frames, end the call with a clear error", async () => {
  const floods = [
    encodeWelcome(new Uint8Array(0), 1_000, "x"),
    encodeWelcome(Buffer.from("../../../../etc/x"), 1_000, "x"),
    encodeWelcome(new Uint8Array(500_000), 1_000, "x"),
    encodeFrame("RUN", []),
    encodeFrame("FINISH", [["exit_code", 0]]),
  ];
  for (const flood of floods) {
    const { code, stdout } = await run("ADD", "h1", (socket) => void socket.write(flood));
    expect({ code, error: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 1,
      error: { code: 112, msg: expect.stringMatching(/^Cannot /) },
    });
  }
  const heartbeats = Buffer.concat(Array.from({ length: 50_000 }, () => encodeFrame("HEARTBEAT", [])));
  const { code, stdout } = await run("ADD", "h1", (socket) => {
    socket.write(encodeWelcome(token, 1_000, "x"));
    socket.write(heartbeats);
    socket.write(
      encodeFrame("REFUSE", [
        ["code", "protocol-violated"],
        ["message", "Cannot go on"],
      ]),
    );
  });
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining("Cannot go on") });
});
