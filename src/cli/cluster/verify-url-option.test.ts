import { expect, test } from "bun:test";
import { failureOf } from "../failure-of.fixture.ts";
import { parseVerifyUrl } from "./verify-url-option.ts";

test("parseVerifyUrl takes a URL with its query, and what it should answer", () => {
  expect(parseVerifyUrl("http://update.example/health?full=1")).toEqual({
    url: "http://update.example/health?full=1",
    status: 200,
  });
  expect(parseVerifyUrl("https://127.0.0.1,server-name=update.example,ca=/etc/x/ca.crt,status=401")).toEqual({
    url: "https://127.0.0.1/",
    status: 401,
    ca: "/etc/x/ca.crt",
    serverName: "update.example",
  });
});

for (const [text, why] of [
  [
    "update.example",
    'as it must be a URL of http or https without user and fragment, of at most 1024 characters: current value is "update.example"',
  ],
  ["ftp://update.example", 'current value is "ftp://update.example"'],
  ["https://me:secret@update.example", 'current value is "https://…@update.example"'],
  ["https://update.example/#top", "current value is"],
  [`https://update.example/${"x".repeat(1_024)}`, "of at most 1024 characters"],
  ["https://update.example,status=700", 'status= must be a status of HTTP from 100 to 599: current value is "700"'],
  ["https://update.example,status=ok", 'current value is "ok"'],
  ["https://update.example,status=", "status= is empty"],
  ["https://update.example,code=200", '"code" is not one of status=, ca=, server-name='],
  ["http://update.example,ca=/ca.crt", "ca= concerns a certificate, and http has none. Use https"],
  ["https://update.example,ca=ca.crt", "ca= must be the absolute path of a file with certificates"],
  ["https://update.example,server-name=10.0.0.1", "server-name= must be a DNS name of the certificate"],
] as const) {
  test(`parseVerifyUrl refuses ${text.slice(0, 60)}`, async () => {
    const failure = await failureOf(Promise.try(() => parseVerifyUrl(text)));
    const remedy: unknown = expect.stringContaining("--verify-url https://");
    expect(failure).toMatchObject({ code: "usage", exitCode: 2, remedy });
    expect(failure.message).toStartWith("Cannot use --verify-url ");
    expect(failure.message).toContain(why);
    expect(failure.message).not.toContain("secret");
  });
}
