import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import type { Hand } from "../../hands/hand.ts";
import { HeldAddresses } from "./held-addresses.ts";

const place = { dataDir: "/var/lib/cni/networks", network: "lan" };

function key(containerId: string, ifname = "eth0") {
  return { containerId: containerId as ContainerId, ifname: ifname as IfName };
}

/** A hand with these files; each list waits until it is released. */
class SlowHand {
  lists = 0;
  isFailing = false;
  readonly #files: Readonly<Record<string, string>>;
  #release: () => void = () => undefined;

  constructor(files: Readonly<Record<string, string>>) {
    this.#files = files;
  }

  get hand(): Hand {
    return { list: (folder: string) => this.#list(folder) } as unknown as Hand; // only what it uses
  }

  release(): void {
    this.#release();
  }

  async #list(folder: string): Promise<unknown> {
    expect(folder).toBe("/var/lib/cni/networks/lan");
    this.lists += 1;
    await new Promise<void>((resolve) => (this.#release = resolve));
    if (this.isFailing) throw new Error("no such disk");
    const entries = Object.entries(this.#files).map(([name, text]) => {
      return { name, kind: "file", changedWallMs: 0, content: Buffer.from(text) };
    });
    return { entries, isTruncated: false };
  }
}

test("HeldAddresses.find finds the address of a container and interface, and of old files without one", async () => {
  const slow = new SlowHand({ "10.0.0.2": "c1\r\neth0", "10.0.0.3": "c2", "lock": "" });
  const held = new HeldAddresses();
  const found = async (asked: ReturnType<typeof key>): Promise<string | undefined> => {
    const finding = held.find(slow.hand, place, asked);
    slow.release();
    return await finding;
  };
  expect(await found(key("c1"))).toBe("10.0.0.2");
  expect(await found(key("c1", "net1"))).toBeUndefined();
  expect(await found(key("c2"))).toBe("10.0.0.3");
  expect(await found(key("c3"))).toBeUndefined();
});

test("HeldAddresses.find reads a folder once for all that come while another look is under way", async () => {
  const slow = new SlowHand({ "10.0.0.2": "c1\r\neth0" });
  const held = new HeldAddresses();
  const first = held.find(slow.hand, place, key("c1"));
  const storm = Array.from({ length: 100 }, () => held.find(slow.hand, place, key("c1")));
  expect(slow.lists).toBe(1);
  slow.release();
  expect(await first).toBe("10.0.0.2");
  await Promise.resolve();
  slow.release();
  expect(new Set(await Promise.all(storm))).toEqual(new Set(["10.0.0.2"]));
  expect(slow.lists).toBe(2);
});

test("HeldAddresses.find looks again after a look that failed", async () => {
  const slow = new SlowHand({ "10.0.0.2": "c1\r\neth0" });
  slow.isFailing = true;
  const held = new HeldAddresses();
  const first = held.find(slow.hand, place, key("c1"));
  const second = held.find(slow.hand, place, key("c1"));
  slow.release();
  expect(first).rejects.toThrow("no such disk");
  await first.catch(() => undefined);
  slow.isFailing = false;
  await Promise.resolve();
  slow.release();
  expect(await second).toBe("10.0.0.2");
});
