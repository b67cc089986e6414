import { expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import type { IfName, NetnsPath, PluginType } from "../base/brand.ts";
import { isAmongLinks } from "./call-netns.ts";
import { bytesFields, decodeFrame, encodeFrame, numberField, textField, type Frame } from "./frame.ts";
import {
  encodeReap,
  encodeRoutes,
  encodeRun,
  negotiateVersion,
  readCall,
  readResume,
  encodeRefuse,
} from "./messages.ts";
import { readOutcome } from "./outcome.ts";

function decoded(frame: Uint8Array): Frame {
  return decodeFrame(frame.subarray(4));
}

const callFields = [
  ["version_min", 1],
  ["version_max", 1],
  ["software", "levee-shim 0.1.0"],
  ["verb", "ADD"],
  ["container_id", "c1"],
  ["netns", "/run/netns/x"],
  ["ifname", "eth0"],
  ["netns_dev", 4],
  ["netns_ino", 2n ** 40n],
  ["pid", 12],
  ["pid_start", 34],
  ["pid_namespace", 56],
  ["config_length", 100],
  ["budget_ms", 55_000],
] as const;

test("readCall reads the header of a call, with empty text for what is absent", () => {
  expect(readCall(decoded(encodeFrame("CALL", callFields)))).toEqual({
    hand: { software: "levee-shim 0.1.0", pid: 12, pidStart: 34, pidNamespace: 56 },
    verb: "ADD",
    containerId: "c1",
    netns: "/run/netns/x",
    ifname: "eth0",
    cniArgs: "",
    cniPath: "",
    netnsIdentity: { device: 4n, inode: 2n ** 40n, cookie: undefined, ctimeNs: undefined },
    links: "",
    mayBeOwnNetns: false,
    ownNetns: undefined,
    configLength: 100,
    budgetMs: 55_000,
  });
});

test("readCall reads which namespace it is, and the interfaces in it", () => {
  const call = readCall(
    decoded(
      encodeFrame("CALL", [...callFields, ["netns_cookie", 2n ** 63n], ["link", "lo"], ["link", Buffer.from([0xff])]]),
    ),
  );
  expect(call.netnsIdentity).toEqual({ device: 4n, inode: 2n ** 40n, cookie: 2n ** 63n, ctimeNs: undefined });
  expect(["lo", "l", "", "eth0", "/"].map((name) => isAmongLinks(call.links, name))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(readCall(decoded(encodeFrame("CALL", [...callFields, ["netns_ctime", 7]]))).netnsIdentity?.ctimeNs).toBe(7n);
});

test("readCall refuses a call without a verb, naming the field", () => {
  expect(() =>
    readCall(
      decoded(
        encodeFrame(
          "CALL",
          callFields.filter(([tag]) => tag !== "verb"),
        ),
      ),
    ),
  ).toThrow("without its field verb");
});

test("readResume has the last outcome only when a step was finished", () => {
  const token = Buffer.alloc(16, 0xab);
  const none = readResume(decoded(encodeFrame("RESUME", [...callFields, ["token", token], ["printed", 0]])));
  expect([none.token, none.last, none.printed]).toEqual(["ab".repeat(16), undefined, false]);
  const some = readResume(
    decoded(
      encodeFrame("RESUME", [
        ...callFields,
        ["token", token],
        ["printed", 1],
        ["step", 3],
        ["exit_code", 0],
        ["stdout", "{}"],
      ]),
    ),
  );
  expect(some.last?.step).toBe(3);
  expect(Buffer.from(some.last?.outcome.stdout ?? []).toString()).toBe("{}");
});

test("negotiateVersion takes the newest version of both ranges and names them when they do not meet", () => {
  const range = (min: number, max: number): Frame =>
    decoded(
      encodeFrame("CALL", [
        ["version_min", min],
        ["version_max", max],
        ["software", "levee-shim 9"],
      ]),
    );
  expect([range(1, 7), range(1, 1), range(2, 2), range(0, 1)].map(negotiateVersion)).toEqual([6, 1, 2, 1]);
  expect(() => negotiateVersion(range(7, 8))).toThrow("levee-shim 9: it speaks protocol 7 to 8, this daemon 1 to 6;");
  expect(() => negotiateVersion(range(0, 0))).toThrow("it speaks protocol 0 to 0");
  expect(() => negotiateVersion(range(9, 0))).toThrow("it speaks protocol 9 to 0");
});

test("readOutcome refuses a failure it does not know", () => {
  expect(() =>
    readOutcome(
      decoded(
        encodeFrame("OUTCOME", [
          ["step", 1],
          ["failure", "whim"],
        ]),
      ),
    ),
  ).toThrow('current value is "whim"');
});

test("readOutcome replaces broken UTF-8 in stderr instead of refusing it", () => {
  expect(readOutcome(decoded(encodeFrame("OUTCOME", [["stderr", Buffer.from([0x61, 0xff])]]))).stderr).toBe("a\ufffd");
});

test("readOutcome reads found namespaces in order", () => {
  const found = Buffer.alloc(17);
  found.writeUInt8(1, 0);
  found.writeBigUInt64LE(4n, 1);
  found.writeBigUInt64LE(99n, 9);
  const outcome = readOutcome(
    decoded(
      encodeFrame("OUTCOME", [
        ["found", Buffer.from([0])],
        ["found", found],
      ]),
    ),
  );
  expect(outcome.found).toEqual([undefined, { device: 4n, inode: 99n }]);
  const born = (kind: number): Buffer => Buffer.concat([found, Buffer.from([kind, 7, 0, 0, 0, 0, 0, 0, 0])]);
  const kinds = [0, 1, 2, 3].map((kind) => ["found", born(kind)] as const);
  expect(readOutcome(decoded(encodeFrame("OUTCOME", kinds))).found).toEqual([
    { device: 4n, inode: 99n, isNetns: false, cookie: undefined, ctimeNs: undefined },
    { device: 4n, inode: 99n, isNetns: true, cookie: 7n, ctimeNs: undefined },
    { device: 4n, inode: 99n, isNetns: true, cookie: undefined, ctimeNs: 7n },
    { device: 4n, inode: 99n, isNetns: true, cookie: undefined, ctimeNs: undefined },
  ]);
  expect(() => readOutcome(decoded(encodeFrame("OUTCOME", [["found", Buffer.alloc(3)]])))).toThrow("26 bytes, 17 or 1");
});

test("encodeRun carries the compensation and rounds times up to at least one millisecond", () => {
  const frame = decoded(
    encodeRun(5, {
      plugin: "bridge" as PluginType,
      env: { CNI_COMMAND: "ADD" },
      stdin: "{}",
      timeoutMs: 0.2,
      undo: { command: "DEL", timeoutMs: 8_000 },
    }),
  );
  expect(numberField(frame, "timeout_ms")).toBe(1);
  expect(textField(frame, "undo_command")).toBe("DEL");
  expect(numberField(frame, "undo_timeout_ms")).toBe(8_000);
  expect(bytesFields(frame, "env").map(String)).toHaveLength(1);
});

test("encodeRoutes packs operation, family, name and gateway", () => {
  const ifname = "net1" as IfName;
  const frame = decoded(
    encodeRoutes(9, "/run/netns/x" as NetnsPath, [
      { op: "delete-default", family: 6, ifname },
      { op: "add-default", family: 4, ifname, gateway: Uint8Array.from([10, 0, 0, 1]) },
    ]),
  );
  expect(bytesFields(frame, "route_op").map((op) => Buffer.from(op).toString("hex"))).toEqual([
    "0106046e657431",
    "0204046e6574310a000001",
  ]);
});

test("encodeReap names the process by number and start time", () => {
  const frame = decoded(encodeReap(1, { pid: 77, pidStart: 88, pidNamespace: 99 }, 5_000));
  expect([numberField(frame, "pid"), numberField(frame, "pid_start"), numberField(frame, "timeout_ms")]).toEqual([
    77, 88, 5_000,
  ]);
});

test("readCall refuses a text that is too long to be kept, naming the field", () => {
  const fields = callFields.filter(([tag]) => tag !== "ifname");
  const frame = (size: number): Frame => decoded(encodeFrame("CALL", [...fields, ["ifname", "x".repeat(size)]]));
  expect(readCall(frame(32_768)).ifname.length).toBe(32_768);
  expect(() => readCall(frame(32_769))).toThrow("its field ifname may have 32768 bytes: its size is 32769");
});

test("encodeRefuse cuts a message that would not fit into a frame", () => {
  const refusal = decoded(encodeRefuse(new LeveeError("protocol-violated", "x".repeat(2_000_000))));
  expect(textField(refusal, "message")?.length).toBe(4_096);
});
