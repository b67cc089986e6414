import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import { defaultDestination, isDefaultDestination, parseCidr, parseIp } from "./ip.ts";

describe("parseIp", () => {
  test.each([
    ["10.0.0.1", "10.0.0.1", 4],
    ["255.255.255.255", "255.255.255.255", 4],
    ["::", "::", 6],
    ["::1", "::1", 6],
    ["1::", "1::", 6],
    ["FD00:0:0:0:0:0:0:A", "fd00::a", 6],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1", 6],
    ["2001:0db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1", 6],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3", 6],
    ["::ffff:10.0.0.1", "10.0.0.1", 4],
    ["::ffff:a00:1", "10.0.0.1", 4],
    ["64:ff9b::10.0.0.1", "64:ff9b::a00:1", 6],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", 6],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304", 6],
  ] as const)("reads %s as %s", (text, canonical, family) => {
    const ip = parseIp(text);
    expect(ip?.text).toBe(canonical);
    expect(ip?.family).toBe(family);
    expect(ip?.bytes.length).toBe(family === 4 ? 4 : 16);
  });

  test.each([
    "",
    "10.0.0",
    "10.0.0.256",
    "010.0.0.1",
    "10.0.0.1 ",
    "1::2::3",
    ":::",
    "fe80::1%eth0",
    "g::",
    "10.0.0.1/24",
    "1:2:3:4:5:6:7:8:9",
    "localhost",
  ])("refuses %j", (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  test("canonical form reads back as itself", () => {
    for (const text of ["::", "fd00::a", "1:0:0:2::3", "2001:db8::1:0:0:1", "192.168.0.1"]) {
      expect(parseIp(text)?.text).toBe(text);
    }
  });
});

test("parseIp gives the bytes of an address in the order of the network", () => {
  expect([...(parseIp("10.0.255.107")?.bytes ?? [])]).toEqual([10, 0, 255, 107]);
  expect([...(parseIp("::ffff:1.2.3.4")?.bytes ?? [])]).toEqual([1, 2, 3, 4]);
});

test("parseIp takes what the system takes, whatever is done to an address", () => {
  const pieces = ["0", "1", "ffff", "00ff", "12345", "255", "256", "g", ":", "::", ".", "1.2.3.4", "01.2.3.4", ""];
  let seed = 4_711;
  const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + next(9) }, () => pieces[next(pieces.length)] ?? "").join(next(2) ? ":" : "");
    expect([text, parseIp(text) !== undefined]).toEqual([text, isIP(text) !== 0]);
  }
});

describe("parseCidr", () => {
  test.each([
    ["10.0.0.2/24", "10.0.0.2/24", 24],
    ["0.0.0.0/0", "0.0.0.0/0", 0],
    ["::0/0", "::/0", 0],
    ["FD00::1/64", "fd00::1/64", 64],
    ["fd00::/128", "fd00::/128", 128],
    ["::ffff:10.0.0.2/120", "10.0.0.2/24", 24],
    ["10.1.1.5/024", "10.1.1.5/24", 24],
    ["fd00::1/0064", "fd00::1/64", 64],
  ] as const)("reads %s as %s, host bits kept", (text, canonical, prefix) => {
    expect(parseCidr(text)).toMatchObject({ text: canonical, prefix });
  });

  test.each([
    "10.0.0.2",
    "10.0.0.2/",
    "10.0.0.2/33",
    "10.0.0.2/-1",
    "10.0.0.2/2 ",
    "fd00::/129",
    "::ffff:10.0.0.2/95",
    "/24",
    "x/24",
    "10.0.0.2/24/24",
    "10.0.0.2/1000",
    `10.0.0.2/${"9".repeat(400)}`,
    "10.0.0.2/+24",
    "10.0.0.2/0x18",
    "10.0.0.2/2e1",
  ])("refuses %j", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });
});

describe("isDefaultDestination", () => {
  test("is true for both families' all-zero prefix and nothing else", () => {
    const answers = ["0.0.0.0/0", "::/0", "::0/0", "0.0.0.0/1", "::/1", "10.0.0.0/0", "10.0.0.0/8"].map((text) => {
      const cidr = parseCidr(text);
      return cidr !== undefined && isDefaultDestination(cidr);
    });
    expect(answers).toEqual([true, true, true, false, false, false, false]);
    expect([defaultDestination(4), defaultDestination(6)]).toEqual(["0.0.0.0/0", "::/0"]);
  });
});
