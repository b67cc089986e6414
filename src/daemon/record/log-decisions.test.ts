import { expect, test } from "bun:test";
import type { DecisionKind } from "../../admission/decisions.ts";
import type { LogFields } from "../../base/log.ts";
import { DecisionFeed } from "./decision-feed.ts";
import { logDecisions } from "./log-decisions.ts";

test("logDecisions tells what concerns the node, and leaves calls to their own lines", () => {
  const said: unknown[] = [];
  const at =
    (level: string) =>
    (_message: string, fields: LogFields = {}): unknown =>
      said.push([level, fields]);
  const decisions = new DecisionFeed();
  logDecisions(decisions, { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") });
  const request = { kind: "attach", namespace: "shop", pod: "u1", priority: undefined, networks: ["n"] } as const;
  const tell = (what: DecisionKind, detail: string, about?: typeof request): void =>
    decisions.tell({ what, request: about, admissionClass: undefined, forMs: 0, detail });
  tell("admitted", "", request);
  tell("expired", "all slots are taken", request);
  tell("network-opened", "shop/n: no answer");
  tell("hung", "shop/n has run 900 ms", request);
  tell("oom-killed", "shop/n", request);
  tell("network-closed", "shop/n");
  expect(said).toEqual([
    ["warn", { reason: "shop/n: no answer" }],
    ["warn", { namespace: "shop", pod: "u1", reason: "shop/n has run 900 ms" }],
    ["error", { namespace: "shop", pod: "u1", network: "shop/n" }],
    ["info", { network: "shop/n" }],
  ]);
});
