import { expect, test } from "bun:test";
import { parseAlertmanager } from "./alertmanager-option.ts";
import { failureOf } from "../failure-of.fixture.ts";

test("parseAlertmanager takes a URL alone, and what an Alertmanager of https wants besides", () => {
  expect(parseAlertmanager("http://alertmanager.example:9093/")).toEqual({ url: "http://alertmanager.example:9093" });
  expect(parseAlertmanager("https://am.example:9094,server-name=am.svc,ca=/etc/x/ca.crt,token=/etc/x/token")).toEqual({
    url: "https://am.example:9094",
    token: "/etc/x/token",
    ca: "/etc/x/ca.crt",
    serverName: "am.svc",
  });
});

for (const [text, why] of [
  ["alertmanager.example:9093,token=/secret", "as it must be a URL"],
  ["https://me:secret@am.example", 'current value is "https://…@am.example"'],
  ["https://am.example/?token=secret", 'current value is "https://am.example/?…"'],
  ["http://am.example,token=/secret", "a token over http can be read on the way. Use https"],
  ["http://am.example,ca=/ca.crt", "ca= concerns a certificate, and http has none. Use https"],
  ["http://am.example,server-name=am.svc", "server-name= concerns a certificate, and http has none. Use https"],
  ["https://am.example,tokn=/x", '"tokn" is not one of token=, ca=, server-name='],
  ["https://am.example,token=/x,token=/y", "token is set twice"],
  ["https://am.example,token=", "token= is empty"],
  ["https://am.example,token=secret", "token= must be the absolute path of a file that holds the token"],
  ["https://am.example,token=//secret", "token= must be the absolute path of a file that holds the token"],
  ["https://am.example,ca=secret", "ca= must be the absolute path of a file with certificates"],
  ["https://am.example,server-name=10.0.0.1", "server-name= must be a DNS name of the certificate"],
  ["https://am.example,server-name=a secret", "server-name= must be a DNS name of the certificate"],
] as const) {
  test(`parseAlertmanager refuses ${text}`, async () => {
    const failure = await failureOf(Promise.try(() => parseAlertmanager(text)));
    const remedy: unknown = expect.stringContaining("--alertmanager http");
    expect(failure).toMatchObject({ code: "usage", exitCode: 2, remedy });
    expect(failure.message).toStartWith("Cannot use --alertmanager ");
    expect(failure.message).toContain(why);
    expect(failure.message).not.toContain("secret");
  });
}
