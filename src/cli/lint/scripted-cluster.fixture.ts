import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer, ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";

/** The items of lists by path, or the status that the server answers; 404 for all others. */
export type ClusterLists = Readonly<Record<string, readonly unknown[] | number>>;

/** An API server with these lists, and the options by which a command finds it. */
export async function scriptedCluster(
  folder: string,
  lists: ClusterLists,
): Promise<{ readonly server: ScriptedServer; readonly options: readonly string[] }> {
  const server = await ScriptedServer.listen(({ url }, response) => {
    const list = lists[url.pathname] ?? 404;
    if (typeof list === "number") answer(response, { kind: "Status", status: "Failure", code: list }, list);
    else answer(response, { items: list });
  });
  const path = join(folder, "kubeconfig");
  writeFileSync(
    path,
    `current-context: main\ncontexts: [{name: main, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "${server.url}"}}]\nusers: [{name: u, user: {token: t}}]\n`,
  );
  return { server, options: ["--kubeconfig", path] };
}
