import { expect, test } from "bun:test";
import { readMultusRequest } from "./multus-request.ts";

function mayBeOwnNetns(override: string): boolean {
  const env = { CNI_COMMAND: "ADD", CNI_NETNS_OVERRIDE: override };
  const body = JSON.stringify({ env, config: Buffer.from("{}").toString("base64") });
  return readMultusRequest(Buffer.from(body)).mayBeOwnNetns;
}

test.each([
  ...["1", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["", "0", "yes", "2", "t", "true "].map((text) => [text, false] as const),
])("CNI_NETNS_OVERRIDE=%j of a request is read as skel reads it: %j", (text, isOverride) => {
  expect(mayBeOwnNetns(text)).toBe(isOverride);
});
