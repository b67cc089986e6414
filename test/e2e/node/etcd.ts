import type { Machine } from "../machine.ts";
import { Program } from "../program.ts";

export const etcdUrl = "http://127.0.0.1:2379";

export async function startEtcd(machine: Pick<Machine, "path" | "logFolder">): Promise<Program> {
  const etcd = new Program(machine.logFolder, "etcd", {
    command: [
      "etcd",
      `--data-dir=${machine.path("etcd")}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      "--listen-peer-urls=http://127.0.0.1:2380",
      "--unsafe-no-fsync",
    ],
  });
  etcd.start();
  await etcd.untilUp("answers", async () => (await fetch(`${etcdUrl}/health`)).ok);
  return etcd;
}
