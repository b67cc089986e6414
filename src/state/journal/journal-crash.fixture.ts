import { writeSync } from "node:fs";
import { aRecord, json, openIn, tokenOf } from "./record.fixture.ts";

/** A process for tests to kill. It attaches and removes forever, and prints what the journal has confirmed. */
async function run(folder: string, from: number): Promise<never> {
  const journal = await openIn(folder);
  const say = (word: string, number: number): void => void writeSync(1, `${word} ${number}\n`);
  // Large enough that the journal is rewritten about every hundred attachments.
  const results = [json(`{"padding":"${"p".repeat(10_000)}"}`)];
  const one = async (number: number): Promise<void> => {
    await journal.begin(aRecord(number));
    say("begun", number);
    await journal.step(tokenOf(number), { step: 1, result: json("{}") });
    await journal.commit(tokenOf(number), results);
    say("committed", number);
    if (number % 10 === 0) return;
    say("removing", number);
    await journal.removed(tokenOf(number));
    say("removed", number);
  };
  for (let number = from; ; number += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, offset) => one(number + offset)));
    if (number === from) say("ready", number);
  }
}

await run(process.argv[2] ?? "", Number(process.argv[3]));
