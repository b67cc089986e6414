import { expect, test } from "bun:test";
import { pathOf } from "../../e2e/manifests.ts";
import { podObject } from "../../e2e/pods.ts";
import { say } from "../../e2e/say.ts";
import { networksAnnotation } from "../../e2e/the-levee.ts";
import { removePods, untilAttached } from "../expectations.ts";
import { theNode } from "../the-node.ts";
import { slowly } from "../slowly.ts";

const series = 'levee_pod_oom_kills_total{namespace="default",pod="oom"}';
/** A child that takes more than the pod may have, each time somebody asks for it. */
const script =
  "name=levee-child-oom; while :; do if [ -e /tmp/go ]; then busybox rm /tmp/go; busybox dd if=/dev/zero of=/dev/null bs=200M count=1; fi; sleep 1; done";

test("a child is killed for memory while the container's first process lives: the daemon counts it as the kernel does", async () => {
  const scene = await theNode();
  const wish = podObject({ name: "oom", annotations: { [networksAnnotation]: "mac" } });
  await scene.plane.api.create(pathOf("Pod", "default"), limited(wish));
  await untilAttached(scene, ["oom"], ["default/mac"]);
  await slowly("the daemon counts the pod's kills", async () =>
    (await scene.levee.metric(series)) === 0 ? true : undefined,
  );
  const { shell } = scene.machine;
  const pid = (await shell.run("pgrep --oldest --full levee-child-oom")).trim();
  const cgroup = (await shell.run(`cut -d: -f3 /proc/${pid}/cgroup`)).trim();
  // By default the kubelet lets a container die as a whole; this is its setting singleProcessOOMKill, for one container.
  expect((await shell.run(`cat /sys/fs/cgroup${cgroup}/memory.oom.group`)).trim()).toBe("1");
  await shell.run(`echo 0 > /sys/fs/cgroup${cgroup}/memory.oom.group && touch /proc/${pid}/root/tmp/go`);
  const counted = await slowly("a kill is counted", async () => {
    const kills = await scene.levee.metric(series);
    return kills === undefined || kills === 0 ? undefined : kills;
  });
  // The container's cgroup of systemd is below the pod's slice, which counts for all of them.
  const slice = cgroup.slice(0, cgroup.lastIndexOf("/"));
  const events = await shell.run(`cat /sys/fs/cgroup${slice}/memory.events`);
  say(`${cgroup.split("/").at(-1) ?? ""}: ${counted} killed`);
  expect(slice).toMatch(/kubepods.*\.slice$/u);
  expect(`oom_kill ${counted}`).toBe(/^oom_kill \d+$/mu.exec(events)?.[0] ?? "");
  const pod = await scene.plane.pods.get("oom");
  expect(pod.status?.containerStatuses?.[0]?.restartCount).toBe(0);
  await shell.run(`kill -0 ${pid}`);
  await removePods(scene, ["oom"]);
});

function limited(pod: ReturnType<typeof podObject>): unknown {
  const spec = pod["spec"] as { containers: readonly Record<string, unknown>[] }; // made above
  const containers = spec.containers.map((container) => ({
    ...container,
    command: ["/bin/sh", "-c", script],
    resources: { limits: { memory: "32Mi" } },
  }));
  return { ...pod, spec: { ...spec, containers } };
}
