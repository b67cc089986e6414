import { describe, expect, test } from "bun:test";
import { resultGateways } from "./attach-pod.ts";
import { cniEnv, parsePrintedError } from "./shim-call.ts";
import { childEnv } from "../shell.ts";

describe("parsePrintedError", () => {
  test("reads code, message and details", () => {
    expect(parsePrintedError('{"cniVersion":"1.0.0","code":7,"msg":"bad","details":"more"}')).toEqual({
      code: 7,
      message: "bad",
      details: "more",
    });
    expect(parsePrintedError('{"code":7,"msg":"bad"}')).toEqual({ code: 7, message: "bad", details: "" });
  });

  test.each([
    "",
    "text",
    "null",
    "[]",
    "{}",
    '{"code":"7","msg":"x"}',
    '{"code":7}',
    '{"code":7,"msg":1}',
    '{"ips":[]}',
  ])("is undefined for %j", (stdout) => {
    expect(parsePrintedError(stdout)).toBeUndefined();
  });
});

describe("cniEnv", () => {
  test("is what the specification asks for, and nothing of ours", () => {
    const pod = { namespace: "shop", name: "web", uid: "u", containerId: "c", netns: "levee-shop.web" };
    expect(cniEnv({ verb: "DEL", pod }, "/a:/b")).toEqual({
      CNI_COMMAND: "DEL",
      CNI_CONTAINERID: "c",
      CNI_NETNS: "/var/run/netns/levee-shop.web",
      CNI_IFNAME: "eth0",
      CNI_PATH: "/a:/b",
      CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID=u",
    });
  });
});

describe("childEnv", () => {
  test("passes on PATH and the trace, and nothing else", () => {
    const env = {
      PATH: "/bin",
      TRACEPARENT: "00-1",
      TRACESTATE: undefined,
      BAGGAGE: "a=1",
      SECRET: "x",
      LEVEE_STATE_DIR: "/s",
    };
    expect(childEnv({ env }, { CNI_COMMAND: "ADD" })).toEqual({
      PATH: "/bin",
      TRACEPARENT: "00-1",
      BAGGAGE: "a=1",
      CNI_COMMAND: "ADD",
    });
  });
});

describe("resultGateways", () => {
  test("reads every version, without repetition", () => {
    expect(
      resultGateways(
        '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1"},{"address":"10.0.0.3/24","gateway":"10.0.0.1"},{"address":"fd00::2/64","gateway":"fd00::1"}]}',
      ),
    ).toEqual(["10.0.0.1", "fd00::1"]);
    expect(resultGateways('{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24","gateway":"10.0.0.1"}}')).toEqual([
      "10.0.0.1",
    ]);
  });

  test.each(["", "not json", "{}", '{"cniVersion":"9.9.9"}', '{"cniVersion":"1.0.0","ips":"x"}'])(
    "names none for %j",
    (result) => {
      expect(resultGateways(result)).toEqual([]);
    },
  );
});
