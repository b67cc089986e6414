import { writeFileSync } from "node:fs";
import { Cluster } from "../../test/e2e/cluster.ts";
import { say } from "../../test/e2e/say.ts";
import { surroundings } from "../../test/e2e/the-cluster.ts";
import { contenderLabels, makeContender, type ContenderName } from "./make-contender.ts";
import { runStorm } from "./storm.ts";

/** The order of the cell for the program that runs in its own namespaces. */
export interface Order {
  readonly contender: ContenderName;
  readonly pods: number;
  /** The storm ends here, even if some pods do not run. */
  readonly cutMs: number;
  /** The file for the outcome. */
  readonly file: string;
}

export const orderVariable = "LEVEE_BENCH_NODE";

if (import.meta.main) await main(JSON.parse(process.env[orderVariable] ?? "{}") as Order);

async function main(order: Order): Promise<void> {
  const about = surroundings();
  say(`a node for ${contenderLabels[order.contender]}`);
  const cluster = await Cluster.start(about);
  try {
    await cluster.untilNodeReady();
    const contender = makeContender(order.contender, cluster, about);
    await contender.start();
    writeFileSync(order.file, JSON.stringify(await runStorm(cluster, contender, order)));
  } finally {
    await cluster.stop();
  }
}
