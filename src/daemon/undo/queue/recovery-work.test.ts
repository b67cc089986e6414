import { expect, test } from "bun:test";
import { offlineText } from "./recovery-work.ts";

test.each([
  [1, true, "1 delete made while the daemon was away waits to be carried out"],
  [3, true, "3 deletes made while the daemon was away wait to be carried out"],
  [1, false, "1 delete made while the daemon was away waits to be carried out: it waits for a resident hand"],
  [3, false, "3 deletes made while the daemon was away wait to be carried out: they wait for a resident hand"],
])("offlineText of %d with a resident hand %p", (count, hasResident, text) => {
  expect(offlineText(count, hasResident)).toBe(text);
});
