import { describe, expect, test } from "bun:test";
import { daemonRemedy, isDaemonAway, remedyFor } from "./remedies.ts";

const places = { directory: "/d", stateDir: "/s" };
const pod = { namespace: "default", name: "web" };

describe("remedyFor", () => {
  test.each([
    [11, "Cannot reach the daemon, tried 9 times within 100 ms: x", daemonRemedy],
    [11, "Cannot complete ADD within 100 ms: the daemon did not finish it", "levee why default/web"],
    [7, "bad", "levee why default/web"],
    [100, "x", "--directory must be the daemon's directory: it is /d here"],
    [101, "x", "networks are files in /d/networks"],
    [106, "x", "install the plugin in one of the folders of --cni-path"],
    [109, "x", "make room in /s"],
    [115, "x", daemonRemedy],
    [4711, "x", "levee why default/web"],
  ])("for code %d, %s", (code, message, remedy) => {
    expect(remedyFor({ code, message }, places, pod)).toBe(remedy);
  });
});

describe("isDaemonAway", () => {
  test("tells a daemon that was never reached from one that was busy", () => {
    expect(isDaemonAway({ code: 11, message: "Cannot reach the daemon, tried 2 times" })).toBe(true);
    expect(isDaemonAway({ code: 115, message: "Cannot obey the process" })).toBe(true);
    expect(isDaemonAway({ code: 11, message: "queue is full" })).toBe(false);
    expect(isDaemonAway({ code: 101, message: "Cannot reach the daemon" })).toBe(false);
  });
});
