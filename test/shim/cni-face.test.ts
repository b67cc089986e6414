import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Sandbox, type Conf, type Env } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = new Sandbox();
});

afterEach(() => sandbox.clean());

test("VERSION is answered without a daemon or a configuration", async () => {
  const shim = sandbox.start([], "", { CNI_COMMAND: "VERSION" });
  expect(await shim.exited).toEqual({
    code: 0,
    signal: null,
    stdout: '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}\n',
    stderr: "",
  });
});

test("without a command it says what it is", async () => {
  const { code, stdout, stderr } = await sandbox.start([], "", {}).exited;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toBe(
    "meta-plugin that delegates to other CNI plugins\nCNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n",
  );
});

test.each([["--version"], ["-v"]])("%s prints the version", async (option) => {
  expect(await sandbox.start([option], "", {}).exited).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^levee-shim \d+\.\d+\.\d+\n$/),
  });
});

test("--help says that the socket is looked up inside the new root", async () => {
  const { code, stdout } = await sandbox.start(["--help"], "", {}).exited;
  expect(code).toBe(0);
  expect(stdout).toContain("after the change of root");
});

test("an unknown option is an error", async () => {
  expect(await sandbox.start(["--resistent"], "", {}).exited).toMatchObject({ code: 2, stdout: "" });
});

test("errors are indented by four spaces and carry the configuration's version", async () => {
  const { code, stdout } = await sandbox.call("ADD", { cniVersion: "0.4.0" }, { CNI_IFNAME: "a/b" }).exited;
  expect(code).toBe(1);
  expect(stdout).toBe(`{
    "cniVersion": "0.4.0",
    "code": 4,
    "msg": "interface name contains / or : or whitespace characters",
    "details": "a/b"
}`);
});

describe("missing variables are named all at once", () => {
  const none: Env = { CNI_CONTAINERID: undefined, CNI_NETNS: undefined, CNI_IFNAME: undefined, CNI_PATH: undefined };
  test.each([
    ["ADD", "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"],
    ["CHECK", "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"],
    ["DEL", "CNI_CONTAINERID,CNI_IFNAME"],
    ["GC", "CNI_PATH"],
  ])("%s", async (verb, names) => {
    const error = await sandbox.call(verb, {}, none).error();
    expect(error).toEqual({ cniVersion: "1.1.0", code: 4, msg: `required env variables [${names}] missing` });
  });
});

test.each<[string, Env, string]>([
  ["an unknown command", { CNI_COMMAND: "UPDATE" }, "unknown CNI_COMMAND: UPDATE"],
  ["a container ID with a slash", { CNI_CONTAINERID: "../x" }, "invalid characters in containerID"],
  ["an interface name of 16 bytes", { CNI_IFNAME: "a234567890123456" }, "interface name is too long"],
  ["an interface named ..", { CNI_IFNAME: ".." }, "interface name is . or .."],
])("%s is code 4", async (_, env, message) => {
  const error = await sandbox.call("ADD", {}, env).error();
  expect(error.code).toBe(4);
  expect(error.msg).toContain(message);
});

test.each<[string, Conf, number, string]>([
  ["no name", { name: undefined }, 7, "missing network name"],
  ["an invalid name", { name: "a b" }, 7, "invalid characters found in network name"],
  ["an unknown version", { cniVersion: "2.0.0" }, 1, "incompatible CNI versions"],
  ["a relative socket folder", { daemonSocketDir: "run" }, 7, "daemonSocketDir"],
  ["a budget that is no number", { addBudgetMs: "5s" }, 7, "addBudgetMs"],
])("a configuration with %s is refused", async (_, conf, code, message) => {
  const error = await sandbox.call("ADD", conf).error();
  expect(error.code).toBe(code);
  expect(error.msg).toContain(message);
});

test.each([
  ["CHECK", "0.3.1"],
  ["STATUS", "1.0.0"],
  ["GC", "1.0.0"],
])("%s is not allowed with version %s", async (verb, cniVersion) => {
  expect(await sandbox.call(verb, { cniVersion }).error()).toMatchObject({
    cniVersion,
    code: 1,
    msg: `config version does not allow ${verb}`,
  });
});

test.each([["[]"], [""], ['{"name":"x"'], ['{"name":"x"} trailing'], ["[".repeat(100_000)]])(
  "stdin that is no object is code 6",
  async (stdin) => {
    const shim = sandbox.start([], stdin, {
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: "c",
      CNI_NETNS: "/n",
      CNI_IFNAME: "e",
      CNI_PATH: "/b",
    });
    expect((await shim.error()).code).toBe(6);
  },
);

test("an oversized configuration is refused with its size and the limit", async () => {
  const error = await sandbox.call("ADD", { padding: "x".repeat(400_000) }).error();
  const size = sandbox.conf({ padding: "x".repeat(400_000) }).length;
  expect(error).toMatchObject({ code: 7, msg: expect.stringContaining(`at most 262144 bytes: its size is ${size}`) });
});

test("ADD into the shim's own network namespace is refused before anything runs", async () => {
  const error = await sandbox.call("ADD", {}, { CNI_NETNS: "/proc/self/ns/net" }).error();
  expect(error).toMatchObject({ code: 8, details: "/proc/self/ns/net" });
});

test("STATUS without a daemon succeeds within its two seconds", async () => {
  const started = performance.now();
  expect(await sandbox.call("STATUS").exited).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  expect(performance.now() - started).toBeLessThan(2_500);
});

test.each([["ADD"], ["CHECK"], ["GC"]])("%s without a daemon is code 11 and says what was tried", async (verb) => {
  const error = await sandbox.call(verb, { addBudgetMs: 600 }).error();
  expect(error.code).toBe(11);
  expect(error.msg).toMatch(
    /^Cannot reach the daemon, tried \d+ times within \d+ ms: connecting to .*levee\.sock failed: No such file or directory \(errno 2\)$/,
  );
});
