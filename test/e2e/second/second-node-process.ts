/** The second node: does what second-node.ts asks for on standard input, and answers on standard output. */
import { createInterface } from "node:readline";
import { deeds } from "./node-deeds.ts";
import type { Answer, Asked } from "./second-node.ts";

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => void answer(JSON.parse(line) as Asked));
// The first node is done, or is no more.
lines.on("close", () => process.exit(0));

async function answer({ id, deed, args }: Asked): Promise<void> {
  // The arguments have come from a caller that the compiler has checked.
  const carryOut = deeds[deed] as (...given: readonly unknown[]) => Promise<unknown>;
  try {
    tell({ id, value: await carryOut(...args) });
  } catch (thrown) {
    tell({ id, failure: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

function tell(said: Answer): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
