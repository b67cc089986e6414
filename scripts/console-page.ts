/**
 * `bun scripts/console-page.ts [NODES] [PORT]`: the page of dist/console/ on a server with invented facts, for
 * work on the page.
 */
import { systemClock } from "../src/base/clock.ts";
import { ConsoleServer } from "../src/console/serve/console-server.ts";
import { InventedDesk, InventedViewers } from "../src/console/serve/invented.fixture.ts";
import { loopbackHost } from "../src/console/serve/own-host.ts";
import { pageFiles } from "../src/console/serve/page-files.ts";
import { embeddedPage } from "../src/console/embedded-page.ts";

const [nodes = "3", port = "0"] = process.argv.slice(2);
const log = (message: string, fields?: object): void => console.error(message, fields);
const desk = new InventedDesk(Number(nodes));
const server = new ConsoleServer({
  clock: systemClock,
  logger: { debug: log, info: log, warn: log, error: log },
  host: "127.0.0.1",
  port: Number(port),
  rules: (own) => ({ token: "page", isOwnHost: loopbackHost(own), schemes: ["http"] }),
  viewers: new InventedViewers(),
  desk,
  files: pageFiles(await embeddedPage()),
  explainFailure: (thrown) => ({ status: 500, problem: { code: "internal", message: String(thrown), remedy: "" } }),
});
console.log(`http://127.0.0.1:${await server.listen()}/page/`);
setInterval(() => {
  desk.nowMs = Date.now();
  const waiting = Math.round(100 + 80 * Math.sin(desk.nowMs / 20_000));
  desk.points.push({ atMs: desk.nowMs, waiting, attached: 900 - waiting, done: 3, byNamespace: { shop: waiting } });
  const [first, ...rest] = desk.cells;
  if (first !== undefined) desk.cells = [{ ...first, adds: waiting, state: "busy" }, ...rest];
}, 5_000);
