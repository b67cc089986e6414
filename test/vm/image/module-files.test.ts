import { expect, test } from "bun:test";
import { moduleFiles } from "./module-files.ts";

const lists = {
  dependencies: [
    "kernel/drivers/virtio/virtio.ko:",
    "kernel/drivers/virtio/virtio_ring.ko:",
    "kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko",
    "kernel/drivers/block/virtio-blk.ko.xz: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko",
    "",
  ].join("\n"),
  builtIn: "kernel/fs/ext4/ext4.ko\n",
};

test("moduleFiles lists what is needed before what needs it, each once, and nothing that is built in", () => {
  expect(moduleFiles(["virtio_pci", "virtio_blk", "ext4"], lists)).toEqual([
    "kernel/drivers/virtio/virtio.ko",
    "kernel/drivers/virtio/virtio_ring.ko",
    "kernel/drivers/virtio/virtio_pci.ko",
    "kernel/drivers/block/virtio-blk.ko.xz",
  ]);
});

test("moduleFiles names a module that the kernel does not have", () => {
  expect(() => moduleFiles(["virtio_pci", "nothing"], lists)).toThrow("The kernel has no module nothing");
});
