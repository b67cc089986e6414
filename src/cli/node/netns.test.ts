import { afterEach, describe, expect, test } from "bun:test";
import { failureOf } from "../failure-of.fixture.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { interfacesOf } from "./interfaces.ts";
import { addNetns, netnsExists, netnsPath, removeNetns, requireToolSuccess } from "./netns.ts";

const shell = fakeShell();
const name = `levee-n${process.pid}`;
afterEach(() => removeNetns(shell, name));

const end = { exitCode: 1, signal: undefined, stdout: "", stderr: "", startError: undefined, stopped: undefined };

describe("addNetns and removeNetns", () => {
  test("make it once, and remove it once", async () => {
    expect(netnsPath(name)).toBe(`/var/run/netns/${name}`);
    await addNetns(shell, name);
    expect(netnsExists(name)).toBe(true);
    expect(await failureOf(addNetns(shell, name))).toMatchObject({
      code: "tool-failed",
      message: expect.stringContaining("File exists"),
    });
    expect(await removeNetns(shell, name)).toBe(true);
    expect(await removeNetns(shell, name)).toBe(false);
  });

  test("interfacesOf a new one are none: lo does not count", async () => {
    await addNetns(shell, name);
    expect(await interfacesOf(shell, name)).toEqual([]);
  });

  test("interfacesOf one that does not exist is an error", async () => {
    expect(await failureOf(interfacesOf(shell, "levee-none"))).toMatchObject({
      message: expect.stringContaining("levee-none"),
    });
  });
});

describe("requireToolSuccess", () => {
  const thrown = (isRoot: boolean, change: object): unknown => {
    try {
      requireToolSuccess({ isRoot }, { ...end, ...change }, "Cannot do it");
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test("is content with success", () => {
    expect(thrown(true, { exitCode: 0 })).toBeUndefined();
  });

  test("says what to install when the tool is missing", () => {
    expect(thrown(true, { exitCode: undefined, startError: "ENOENT" })).toMatchObject({
      code: "tool-missing",
      remedy: "apt-get install iproute2",
    });
  });

  test("quotes the tool, or says how it ended", () => {
    expect(thrown(true, { stderr: "RTNETLINK answers: no\n" })).toMatchObject({
      message: "Cannot do it: RTNETLINK answers: no",
      remedy: "",
    });
    expect(thrown(true, { exitCode: undefined, signal: "SIGKILL" })).toMatchObject({
      message: "Cannot do it: it ended with SIGKILL",
    });
    expect(thrown(true, { exitCode: undefined })).toMatchObject({ message: "Cannot do it: it ended with no status" });
  });

  test("suggests root to those who are not", () => {
    expect(thrown(false, { stderr: "Operation not permitted" })).toMatchObject({ remedy: "run the command as root" });
  });
});
