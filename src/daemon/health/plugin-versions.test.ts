import { expect, test } from "bun:test";
import type { Hand } from "../../hands/hand.ts";
import { PluginVersions } from "./plugin-versions.ts";

interface End {
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly failure?: string;
  readonly message?: string;
  readonly builtIn?: string;
}

function handWith(ends: Readonly<Record<string, End>>, asked: string[], busy = 0): Hand {
  const run = ({ plugin, env }: { plugin: string; env: Record<string, string> }): Promise<object> => {
    asked.push(`${env["CNI_COMMAND"]} ${plugin} in ${env["CNI_PATH"]}`);
    const { stdout = "", ...end } = ends[plugin] ?? {};
    return Promise.resolve({ exitCode: 0, failure: undefined, message: "", stdout: Buffer.from(stdout), ...end });
  };
  return { busy, run } as unknown as Hand; // what is asked of it
}

const file = (inode: bigint): { device: bigint; inode: bigint } => ({ device: 1n, inode });

test("PluginVersions asks each program once, and again when its file is another", async () => {
  const asked: string[] = [];
  const versions = new PluginVersions();
  const hand = handWith({ bridge: { stdout: '{"supportedVersions":["0.4.0","1.0.0"]}' } }, asked);
  for (const inode of [7n, 7n, 8n]) await versions.ask(hand, new Map([["bridge", file(inode)]]), ["/a", "/b"]);
  expect(asked).toEqual(["VERSION bridge in /a:/b", "VERSION bridge in /a:/b"]);
  expect(versions.of("bridge")).toEqual({ versions: ["0.4.0", "1.0.0"] });
  await versions.ask(hand, new Map(), []);
  expect(versions.of("bridge")).toBeUndefined();
});

test.each([
  ["cannot be executed", { failure: "exec", message: "Exec format error" }, { problem: "Exec format error" }],
  ["fails", { exitCode: 1 }, {}],
  ["prints rubbish", { stdout: "hello" }, {}],
  ["prints another object", { stdout: '{"supportedVersions":[1]}' }, {}],
  ["prints a book", { stdout: `{"supportedVersions":["${"x".repeat(5_000)}"]}` }, {}],
])("PluginVersions of a program that %s", async (_how, end, facts) => {
  const versions = new PluginVersions();
  await versions.ask(handWith({ odd: end }, []), new Map([["odd", file(1n)]]), ["/a"]);
  expect(versions.of("odd")).toEqual(facts);
});

test("PluginVersions asks nothing of a hand that has its hands full, and comes back", async () => {
  const asked: string[] = [];
  const versions = new PluginVersions();
  await versions.ask(handWith({}, asked, 8), new Map([["bridge", file(1n)]]), ["/a"]);
  expect(asked).toEqual([]);
  expect(versions.of("bridge")).toBeUndefined();
  await versions.ask(handWith({}, asked), new Map([["bridge", file(1n)]]), ["/a"]);
  expect(asked).toHaveLength(1);
});

test("PluginVersions takes a missing program for built in only if a hand serves it, and asks for no other name", async () => {
  const asked: string[] = [];
  const versions = new PluginVersions();
  const wanted = new Map(["bridge", "portmap", "ptp"].map((name) => [name, undefined]));
  await versions.ask(handWith({ bridge: { failure: "missing" }, ptp: { failure: "missing" } }, asked), wanted, ["/a"]);
  expect(asked).toEqual(["VERSION bridge in /a", "VERSION ptp in /a"]);
  expect(versions.isBuiltIn("bridge")).toBe(false);
  const newer = handWith({ bridge: { builtIn: "1.9.1", stdout: '{"supportedVersions":["1.1.0"]}' } }, asked);
  await versions.ask(newer, wanted, ["/a"]);
  expect(["bridge", "portmap"].map((name) => versions.isBuiltIn(name))).toEqual([true, false]);
  expect(versions.of("bridge")).toMatchObject({ versions: ["1.1.0"] });
  await versions.ask(handWith({}, asked), new Map([["bridge", file(1n)]]), ["/a"]);
  expect(versions.isBuiltIn("bridge")).toBe(false);
});
