import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { Server } from "./server.ts";

let folder: string;
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-server-"));
});

afterEach(async () => {
  await server?.stopListening();
  server?.closeConnections();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function listen(socketDir: string): Promise<void> {
  const made = new Server({
    socketDir,
    clock: systemClock,
    heartbeatMs: 1_000,
    connectionsMax: 4,
    onOpened: () => undefined,
  });
  return made.listen().then(() => {
    server = made;
  });
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777;
}

// The socket folder must belong to root, so only root can make one.
describe.skipIf(process.getuid?.() !== 0)("Server.listen", () => {
  test("makes the folder private, and the socket too", async () => {
    await listen(join(folder, "run/levee"));
    expect(modeOf(join(folder, "run/levee"))).toBe(0o700);
    expect(modeOf(join(folder, "run/levee/levee.sock"))).toBe(0o600);
  });

  test.each([0o755, 0o777, 0o1700, 0o500])(
    "sets a folder of root with mode %o to the mode that the shim requires",
    async (mode) => {
      const socketDir = join(folder, "run");
      mkdirSync(socketDir);
      chmodSync(socketDir, mode);
      await listen(socketDir);
      expect(modeOf(socketDir)).toBe(0o700);
    },
  );

  test("refuses another user's folder, as the shim would, and leaves it as it is", async () => {
    const socketDir = join(folder, "run");
    mkdirSync(socketDir, { mode: 0o755 });
    chownSync(socketDir, 1_000, 1_000);
    expect(await listen(socketDir).catch((thrown: unknown) => thrown)).toMatchObject({
      code: "setting-invalid",
      message: `Cannot trust the socket folder ${socketDir}: it must be a folder of uid 0 with mode 0700, it is a folder of uid 1000 with mode 0755; give it to root (chown 0:0 ${socketDir}) or set another socketDir`,
    });
    expect(modeOf(socketDir)).toBe(0o755);
  });

  test.each(["file", "file/below"])("refuses %s because a file is in the way, and names the setting", async (name) => {
    writeFileSync(join(folder, "file"), "");
    const socketDir = join(folder, name);
    expect(await listen(socketDir).catch((thrown: unknown) => thrown)).toMatchObject({
      code: "setting-invalid",
      message: expect.stringContaining(
        `Cannot use socketDir as it must be a folder: current value is ${socketDir}, and there is a file in its place`,
      ),
    });
  });

  test("refuses a link to a folder", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    expect(await listen(join(folder, "link")).catch((thrown: unknown) => thrown)).toMatchObject({
      code: "setting-invalid",
      message: expect.stringContaining("not a link or a file"),
    });
  });
});
