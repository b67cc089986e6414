import { expect, test } from "bun:test";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { SharedDeletes } from "./shared-deletes.ts";

const never = new AbortController().signal;

function gate(): { promise: Promise<void>; open: () => void; fail: (error: Error) => void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { promise, open: resolve, fail: reject };
}

test("run does the work once for five simultaneous DELs", async () => {
  const deletes = new SharedDeletes();
  const work = gate();
  let runs = 0;
  const all = Array.from({ length: 5 }, () =>
    deletes.run("a/eth0", never, () => {
      runs += 1;
      return work.promise;
    }),
  );
  work.open();
  await Promise.all(all);
  expect(runs).toBe(1);
});

test("run gives the first DEL's error to all that joined, and the next one tries anew", async () => {
  const deletes = new SharedDeletes();
  const work = gate();
  const all = Array.from({ length: 3 }, () =>
    deletes.run("a/eth0", never, () => work.promise).catch((thrown: unknown) => toLeveeError(thrown, "").message),
  );
  work.fail(new LeveeError("delegate-failed", "no"));
  expect(await Promise.all(all)).toEqual(["no", "no", "no"]);
  await deletes.run("a/eth0", never, () => Promise.resolve());
});

test("run passes the work on when the first DEL loses its shim", async () => {
  const deletes = new SharedDeletes();
  const first = gate();
  let second = 0;
  const leader = deletes
    .run("a/eth0", never, () => first.promise)
    .catch((thrown: unknown) => toLeveeError(thrown, "").code);
  const joiner = deletes.run("a/eth0", never, () => {
    second += 1;
    return Promise.resolve();
  });
  first.fail(new LeveeError("hand-lost", "gone"));
  expect(await leader).toBe("hand-lost");
  await joiner;
  expect(second).toBe(1);
});

test("run lets a joined DEL leave without harm to the first one", async () => {
  const deletes = new SharedDeletes();
  const work = gate();
  const leaving = new AbortController();
  const leader = deletes.run("a/eth0", never, () => work.promise);
  const joiner = deletes.run("a/eth0", leaving.signal, () => Promise.reject(new Error("must not run")));
  leaving.abort(new LeveeError("hand-lost", "left"));
  expect(joiner).rejects.toThrow("left");
  work.open();
  await leader;
});

test("run keeps different attachments apart", async () => {
  const deletes = new SharedDeletes();
  const work = gate();
  const slow = deletes.run("a/eth0", never, () => work.promise);
  await deletes.run("b/eth0", never, () => Promise.resolve());
  work.open();
  await slow;
});
