import { describe, expect, test } from "bun:test";
import { createServer, type AddressInfo, type Server } from "node:net";
import { systemClock } from "../../base/clock.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { makeBridges, removeBridges } from "./bridges.ts";
import { knock } from "./reach.ts";
import { testSite } from "./site.fixture.ts";

async function openPort(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

describe("knock", () => {
  test("a refused connection is an answer", async () => {
    const { port, server } = await openPort();
    server.close();
    expect(await knock(systemClock, "127.0.0.1", port)).toEqual({
      isReached: true,
      words: "the pod answered a connection",
    });
  });

  test("so is an accepted one", async () => {
    const { port, server } = await openPort();
    expect(await knock(systemClock, "127.0.0.1", port)).toMatchObject({ isReached: true });
    server.close();
  });

  test("silence is none", async () => {
    const site = testSite();
    await makeBridges(fakeShell(), site);
    const impatient = {
      ...systemClock,
      after: (_ms: number, callback: () => void) => systemClock.after(200, callback),
    };
    const answer = await knock(impatient, "10.203.77.99");
    await removeBridges(fakeShell(), site);
    site.remove();
    expect(answer).toMatchObject({ isReached: false });
  });
});
