import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { encodeFrame } from "../wire/frame.ts";
import type { AttachmentView } from "../wire/node-view.ts";

/** The program as a process: pipes, signals and exit status, which no call of a function shows. */
const script = resolve(import.meta.dirname, "../main.ts");
const pods = 1500;
let folder = "";
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "levee-process-"));
  const one: Omit<AttachmentView, "pod"> = {
    namespace: "default",
    uid: "u",
    containerId: "c".repeat(64),
    netns: "/run/netns/x",
    phase: "attached",
    sinceWallMs: 1,
    networks: [],
  };
  const attachments = Array.from({ length: pods }, (_, at) => ({ ...one, pod: `pod${at}` }));
  const answer = encodeFrame("ANSWER", [["answer", JSON.stringify({ answer: { attachments } })]]);
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => socket.write(answer));
  });
  await new Promise<void>((done) => void server.listen(join(folder, "levee.sock"), done));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Asynchronous, as the daemon it talks to lives in this process. `$levee` in the line is the program. */
async function shell(line: string): Promise<Ended> {
  const child = Bun.spawn(["bash", "-c", line], {
    env: {
      PATH: process.env["PATH"] ?? "",
      levee: `${process.execPath} ${script}`,
      LEVEE_SOCKET_DIR: folder,
      LEVEE_STATE_DIR: folder,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, out, err };
}

describe("levee as a process", () => {
  test("refuses an endless input, which is no bug of its own", async () => {
    const { status, err } = await shell("$levee lint - < /dev/zero");
    expect({ status, err }).toEqual({
      status: 1,
      err: "Error: Cannot read the input: it has more than 67108864 bytes (EFBIG)\n",
    });
  });

  test("writes all of a large answer into a slow pipe before it ends", async () => {
    const { status, out, err } = await shell("$levee ls -o json | (sleep 0.5; cat); exit ${PIPESTATUS[0]}");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out.length).toBeGreaterThan(4 * 65_536);
    expect((JSON.parse(out) as { attachments: unknown[] }).attachments).toHaveLength(pods);
  });

  test("is quiet when the reader goes away", async () => {
    const { status, out, err } = await shell("$levee ls -o json | head -1; exit ${PIPESTATUS[0]}");
    expect({ status, out, err }).toEqual({ status: 0, out: "{\n", err: "" });
  });

  test.each(["ls -o json", "--help"])("says when the output of %s cannot be written, and ends with 1", async (line) => {
    expect(await shell(`$levee ${line} > /dev/full`)).toEqual({
      status: 1,
      out: "",
      err: "Error: Cannot write the output: ENOSPC\n",
    });
  });

  test("keeps errors off stdout and ends with 2 for a wrong command line, 1 for a failure", async () => {
    expect(await shell("$levee ls --nope 2>/dev/null")).toEqual({ status: 2, out: "", err: "" });
    expect(await shell("LEVEE_SOCKET_DIR=/nowhere LEVEE_STATE_DIR=/nowhere $levee ls 2>/dev/null")).toEqual({
      status: 1,
      out: "",
      err: "",
    });
  });

  test("ends with 130 on SIGTERM while it waits for an answer", async () => {
    const socketDir = mkdtempSync(join(tmpdir(), "levee-silent-"));
    const asked = join(socketDir, "asked");
    const silent = createServer(() => writeFileSync(asked, ""));
    await new Promise<void>((done) => void silent.listen(join(socketDir, "levee.sock"), done));
    const { status, err } = await shell(
      `LEVEE_SOCKET_DIR=${socketDir} $levee ls & until [ -e ${asked} ]; do sleep 0.05; done; kill -TERM $!; wait $!`,
    );
    expect(status).toBe(130);
    expect(err).toContain("Interrupted while asking the daemon");
    silent.close();
    rmSync(socketDir, { recursive: true });
  });

  test("hands `daemon` to the daemon, and its help to the command line", async () => {
    const daemon = await shell("$levee daemon --config /nowhere/daemon-config.json");
    expect(daemon).toMatchObject({ status: 1, out: "", err: expect.stringContaining("/nowhere/daemon-config.json") });
    expect((await shell("$levee daemon --help")).out).toContain("Usage: levee daemon");
  });

  test("does not load the command line's libraries into the daemon", async () => {
    const { out } = await shell(
      `${process.execPath} build --target=bun --splitting --outdir=${folder}/out ${script} >/dev/null && grep -l commander ${folder}/out/*.js | xargs -n1 basename; grep -c commander ${folder}/out/main.js`,
    );
    // One chunk has it, and that is not the entry, which both ways start with.
    expect(out).toMatch(/^main-\w+\.js\n0\n$/u);
  });
});
