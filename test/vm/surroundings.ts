/** What scripts/e2e/vm.ts found and built, and the folder to work in. */
export interface VmSurroundings {
  readonly folder: string;
  /** The image's folder in the cache. */
  readonly image: string;
  readonly busybox: string;
  /** Those below are empty where nothing needs them. Folder of Kubernetes' programs: */
  readonly kubernetes: string;
  /** Folder of Levee's image, as `npm run image` leaves it: */
  readonly images: string;
  /** Folder of upstream's plugins, for the comparison of built-in ones. */
  readonly plugins: string;
}

export function vmSurroundings(): VmSurroundings {
  const told = process.env["LEVEE_VM"];
  if (told === undefined) throw new Error("Start the tests in a virtual machine with: npm run e2e -- --vm");
  return JSON.parse(told) as VmSurroundings; // as scripts/e2e/vm.ts wrote it
}
