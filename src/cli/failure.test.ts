import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { KubeError } from "../kube/client/api.ts";
import {
  cniCodeName,
  CommandFailure,
  exitCode,
  failureText,
  interruptedFailure,
  toFailure,
  usageFailure,
} from "./failure.ts";

describe("toFailure of the API server's errors", () => {
  test.each([
    [new KubeError("api-unreachable", "no answer"), "kubectl get nodes must work here"],
    [new KubeError("api-refused", "no", { status: 401 }), "log in again"],
    [new KubeError("api-refused", "no", { status: 403 }), "kubectl auth can-i"],
  ])("says what to try: %s", (error, remedy) => {
    expect(toFailure(error)).toMatchObject({ code: error.code, remedy: expect.stringContaining(remedy) });
  });
});

describe("failureText", () => {
  test("says what went wrong, the code and what to try", () => {
    const failure = new CommandFailure("daemon-unreachable", "Cannot ask the daemon", { remedy: "start it" });
    expect(failureText(failure)).toBe("Error: Cannot ask the daemon (daemon-unreachable)\n  try: start it\n");
  });

  test("leaves out the second line without a remedy", () => {
    expect(failureText(new CommandFailure("x", "Cannot y"))).toBe("Error: Cannot y (x)\n");
  });

  test("shows the lines of a log under the message, cleaned", () => {
    const failure = new CommandFailure("child-ended", "The daemon ended", {
      details: "one\n\u001b[31mtwo\n",
      remedy: "again",
    });
    expect(failureText(failure)).toBe("Error: The daemon ended (child-ended)\n  | one\n  | two\n  try: again\n");
  });

  test("keeps a plugin's message on one line and free of control characters", () => {
    expect(failureText(new CommandFailure("x", "bad\n\u001b[31mnews\u0007"))).toBe("Error: bad news (x)\n");
  });
});

describe("toFailure", () => {
  test("keeps a failure as it is", () => {
    const failure = usageFailure("a", "b");
    expect(toFailure(failure)).toBe(failure);
  });

  test("takes code and message of an error of the catalogue", () => {
    expect(toFailure(new LeveeError("network-unknown", "Cannot find lan"))).toMatchObject({
      code: "network-unknown",
      message: "Cannot find lan",
      exitCode: 1,
    });
  });

  test("gives system errors their errno as code, and a remedy where there is one", () => {
    const error = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    expect(toFailure(error)).toMatchObject({ code: "EACCES", remedy: "run the command as root" });
    expect(toFailure(Object.assign(new Error("x"), { code: "EXDEV" })).remedy).toBe("");
  });

  test("calls everything else a defect", () => {
    expect(toFailure(new TypeError("x is undefined"))).toMatchObject({ code: "internal", exitCode: 1 });
    expect(toFailure("text").message).toBe("text");
  });
});

describe("exit status", () => {
  test("follows kubectl: 2 for a wrong command line, 130 for Ctrl-C", () => {
    expect(usageFailure("a", "b").exitCode).toBe(exitCode.usage);
    expect(exitCode.usage).toBe(2);
    expect(interruptedFailure("attaching").exitCode).toBe(130);
  });
});

describe("cniCodeName", () => {
  test("names our own numbers and those of the specification", () => {
    expect(cniCodeName(101)).toBe("CNI code 101, network-unknown");
    expect(cniCodeName(7)).toBe("CNI code 7, config-invalid");
  });

  test("leaves a plugin's private number as a number", () => {
    expect(cniCodeName(4711)).toBe("CNI code 4711");
  });
});
