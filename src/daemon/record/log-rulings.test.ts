import { expect, test } from "bun:test";
import type { RulingKind } from "../../admission/rulings.ts";
import type { LogFields } from "../../base/log.ts";
import { RulingFeed } from "./ruling-feed.ts";
import { logRulings } from "./log-rulings.ts";

test("logRulings logs what concerns the node, and leaves calls to their own lines", () => {
  const said: unknown[] = [];
  const at =
    (level: string) =>
    (_message: string, fields: LogFields = {}): unknown =>
      said.push([level, fields]);
  const rulings = new RulingFeed();
  logRulings(rulings, { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") });
  const request = { kind: "attach", namespace: "shop", pod: "u1", priority: undefined, networks: ["n"] } as const;
  const tell = (what: RulingKind, detail: string, about?: typeof request): void =>
    rulings.emit({ what, request: about, admissionClass: undefined, forMs: 0, detail });
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
