import { expect, test } from "bun:test";
import { foreignText, markdownText } from "./foreign-text.ts";

test("foreignText leaves one short line without control characters and nothing invisible", () => {
  expect(foreignText("a\u001b[31mred\u001b[0m\nb\t\u202ec\u200bd\u0000e", 100)).toBe("ared b cde");
  expect(foreignText("x".repeat(1_000_000), 10)).toBe("x".repeat(10));
  expect(foreignText("\u200b".repeat(50) + "ok", 10)).toBe("");
});

test("markdownText cannot leave its place in the text", () => {
  const hostile = "# All good\n| [click](ftp:evil) <img src=x> `rm` **b** @everyone a:b";
  const shown = markdownText(hostile, 200);
  expect(shown).toBe(
    "\\# All good \\| \\[click\\]\\(ftp\\:evil\\) &lt;img src=x\\> \\`rm\\` \\*\\*b\\*\\* \\@everyone a\\:b",
  );
});
