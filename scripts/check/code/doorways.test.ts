import { describe, expect, test } from "bun:test";
import { doorwayRule } from "./doorways.ts";
import { problemsIn } from "../planted.ts";

async function seen(path: string, source: string): Promise<readonly string[]> {
  return (await problemsIn(doorwayRule, { [path]: source })).map((line) => line.slice(path.length + 1));
}

describe("doorways", () => {
  test.each([
    ["Date.now()", "Date.now"],
    ["Math.random()", "Math.random"],
    ["performance.now()", "performance.now"],
    ["setTimeout(f, 1)", "setTimeout"],
    ["setInterval(f, 1)", "setInterval"],
    ["new Date()", "new Date()"],
    ["AbortSignal.timeout(5)", "AbortSignal.timeout"],
    ["randomUUID()", "randomUUID"],
  ])("refuses time or randomness outside the clock: %s", async (source, what) => {
    expect(await seen("src/daemon/a.ts", `\n${source};`)).toEqual([`2 time or randomness: ${what}`]);
    expect(await seen("src/base/clock.ts", source)).toEqual([]);
    expect(await seen("src/daemon/a.test.ts", source)).toEqual([]);
  });

  test("lets a given time be formatted and a clock be asked", async () => {
    expect(await seen("src/base/log.ts", "new Date(clock.wallMs()).toISOString(); clock.randomBytes(16);")).toEqual([]);
  });

  test("refuses the timers module", async () => {
    expect(await seen("src/state/a.ts", `import { setTimeout } from "node:timers/promises";`)).toEqual([
      "1 time or randomness: node:timers/promises",
    ]);
  });

  test("lets only main.ts touch the process", async () => {
    expect(await seen("src/config/a.ts", `process.env["X"]; process.exit(1); process.exitCode = 1;`)).toEqual([
      "1 the process's environment, arguments or end: process.env",
      "1 the process's environment, arguments or end: process.exit",
    ]);
    expect(await seen("src/main.ts", "process.argv;")).toEqual([]);
    expect(await seen("src/daemon/main.ts", "process.env;")).toEqual([]);
  });

  test("refuses sockets except behind their doors", async () => {
    const source = `import { createServer } from "node:net";`;
    expect(await seen("src/cli/a.ts", source)).toEqual(["1 sockets: node:net"]);
    expect(await seen("src/cli/node/ask.ts", source)).toEqual([]);
  });

  test("refuses the built-in clients too, and tells them from methods of that name", async () => {
    const source = `await fetch("x"); new WebSocket("x"); mirror.fetch("main"); class A { async fetch(x) {} }`;
    expect(await seen("src/cli/a.ts", source)).toEqual(["1 sockets: fetch", "1 sockets: new WebSocket"]);
    expect(await seen("src/cli/vendor/download.ts", source)).toEqual([]);
  });

  test("lets every file import a socket's type", async () => {
    expect(await seen("src/cni/a.ts", `import type { Socket } from "node:net";`)).toEqual([]);
  });

  test("refuses modules that bring Node's streams into the daemon", async () => {
    const source = `import { crc32 } from "node:zlib";\nprocess.stderr.write("x");`;
    expect(await seen("src/state/a.ts", source)).toEqual([
      "1 Node's streams: node:zlib",
      "2 Node's streams: process.stderr",
    ]);
    expect(await seen("src/daemon/main.ts", source)).toHaveLength(2);
    expect(await seen("src/cli/a.ts", source)).toEqual([]);
  });

  test("refuses child processes in the daemon and lets the commands have them, and the guard git", async () => {
    const source = `import { spawn } from "node:child_process";`;
    expect(await seen("src/daemon/a.ts", source)).toEqual(["1 child processes: node:child_process"]);
    expect(await seen("src/cli/a.ts", source)).toEqual([]);
    expect(await seen("src/guard/git/run-git.ts", source)).toEqual([]);
    expect(await seen("src/guard/git/git-mirror.ts", source)).toHaveLength(1);
  });

  test("lets only a few call atomic-file", async () => {
    const source = `import { writeFileAtomically } from "../base/atomic-file.ts";`;
    expect(await seen("src/daemon/a.ts", source)).toEqual(["1 the atomic-file doorway: ../base/atomic-file.ts"]);
    for (const path of [
      "src/state/a.ts",
      "src/daemon/conf-dir/conf-dir.ts",
      "src/daemon/chains/device-info.ts",
      "src/cli/a.ts",
    ]) {
      expect(await seen(path, source)).toEqual([]);
    }
  });

  test("refuses writing a file past atomic-file", async () => {
    const source = "await writeFile(path, text); fs.appendFileSync(path, text); await writeFileAtomically(path, text);";
    expect(await seen("src/cli/a.ts", source)).toEqual([
      "1 file writes past the atomic-file doorway: writeFile",
      "1 file writes past the atomic-file doorway: appendFileSync",
    ]);
    expect(await seen("src/state/a.ts", source)).toEqual([]);
  });

  test("refuses Bun's own API", async () => {
    expect(await seen("src/daemon/a.ts", "Bun.gc(true);")).toEqual(["1 Bun's own API: Bun.gc"]);
  });

  test("is not fooled by comments and strings", async () => {
    expect(await seen("src/daemon/a.ts", '// Date.now()\nconst text = "process.env and Math.random()";')).toEqual([]);
  });
});
