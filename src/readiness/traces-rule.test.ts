import { expect, test } from "bun:test";
import { tracesCheck } from "./traces-rule.ts";

const facts = {
  endpoint: "http://127.0.0.1:4318/v1/traces",
  sent: 7,
  dropped: 3,
  waiting: 2,
  trouble: undefined,
  forMs: 0,
};

test("tracesCheck passes while the collector takes traces", () => {
  expect(tracesCheck(facts)).toMatchObject({
    state: "ok",
    detail: "the collector at http://127.0.0.1:4318/v1/traces takes traces: 7 sent, 3 dropped, 2 waiting",
  });
});

test.each([
  ["connection refused", "check that a collector listens there"],
  ["no answer within 10000 ms", "check that a collector listens there"],
  ["status 401: no token", "check the token in tracesHeadersFile"],
  ["status 404: page not found", "usually port 4318"],
  ["status 200, but the answer is not of OTLP: <html>", "usually port 4318"],
  ["status 503", "overloaded"],
  ["status 400: bad", "the collector's log"],
  ["it rejected 3 spans: too old", "the collector's log"],
  ["unable to verify the first certificate", "set tracesCaFile"],
  ["Cannot read tracesCaFile: no such file", "mend the file"],
])("tracesCheck of %j says what to do", (trouble, hint) => {
  const check = tracesCheck({ ...facts, trouble, forMs: 61_234 });
  expect(check.state).toBe("warning");
  expect(check.detail).toBe(
    `the collector at ${facts.endpoint} has taken no traces for 61 s: ${trouble}; 7 sent, 3 dropped, 2 waiting`,
  );
  expect(check.hint).toContain(hint);
  expect(check.hint).toEndWith("; pods start without it");
});
