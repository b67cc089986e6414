import { describe, expect, test } from "bun:test";
import { gotText, howToGoOn } from "./report.ts";
import { demoSite } from "./site.ts";

const plain = (_: unknown, text: string): string => text;

describe("gotText", () => {
  const attached = {
    namespace: "default",
    name: "demo",
    containerId: "c",
    netns: "/var/run/netns/levee-demo",
    interfaces: [
      {
        ifname: "eth0",
        network: "default/lan",
        ips: ["10.201.0.2/24"],
        mac: "02:00:00:00:00:01",
        gateways: ["10.201.0.1"],
      },
      {
        ifname: "net1",
        network: "default/dmz",
        ips: ["10.202.0.2/24", "fd00:202::2/64"],
        mac: "02:00:00:00:00:02",
        gateways: [],
      },
    ],
  };
  const reaches = [
    { from: "/var/run/netns/levee-demo", to: "10.201.0.1", isReached: true, how: "ping answered in 0.05 ms" },
    { from: "10.202.0.1", to: "10.202.0.2", isReached: false, how: "no answer within 3 s" },
  ];

  test("shows what the pod got, the proof, and the memory", () => {
    const memory = { daemon: { rssKib: 30_720, anonymousKib: 7168 }, hand: undefined };
    const text = gotText({ attached, tookMs: 104.6, reaches, memory }, plain);
    expect(text).toStartWith(
      "default/demo is on 2 networks after 105 ms, network namespace /var/run/netns/levee-demo\n\nINTERFACE   NETWORK",
    );
    expect(text).toContain("net1        default/dmz   10.202.0.2/24,fd00:202::2/64   02:00:00:00:00:02   -\n");
    expect(text).toContain("  ok    /var/run/netns/levee-demo to 10.201.0.1: ping answered in 0.05 ms\n");
    expect(text).toContain("  FAIL  10.202.0.1 to 10.202.0.2: no answer within 3 s\n");
    expect(text).toEndWith("Memory: daemon 30.0 MiB (7.0 MiB of its own), resident hand unknown\n");
  });
});

describe("howToGoOn", () => {
  test("gives commands that work as they stand", () => {
    const text = howToGoOn(demoSite(true), { levee: "/opt/levee/levee", console: "http://127.0.0.1:1/t/" }, plain);
    expect(text).toContain("  export LEVEE_SOCKET_DIR=/run/levee-demo LEVEE_STATE_DIR=/var/lib/levee-demo\n");
    expect(text).toContain("  /opt/levee/levee attach web --networks dmz,lan\n  ip netns exec levee-web ip addr\n");
    expect(text).toContain("Watch it in a browser: http://127.0.0.1:1/t/\n");
    expect(text).toContain("Ctrl-C");
  });
});
