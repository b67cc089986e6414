import { join, resolve } from "node:path";
import { offeredPins } from "../debian/bump-pins.ts";
import { PackagesGone } from "../debian/package-cache.ts";
import { architectures, parsePins } from "../debian/pins.ts";
import { buildImages, type Images } from "../image/build-images.ts";

/** Where the images for the tests are. */
export const imagesFolder = join(resolve(import.meta.dirname, "../.."), "dist/image");

/**
 * The images for the tests. Debian's archive forgets old versions, so a checkout of some weeks ago is tested with the
 * versions of today; its own images then need `npm run image -- --bump`.
 */
export function testImages(): Images {
  try {
    return buildImages({ architectures, outDir: imagesFolder });
  } catch (thrown) {
    if (!(thrown instanceof PackagesGone)) throw thrown;
    console.warn(`${thrown.message}\nThe tests go on with the versions that are offered today`);
    return buildImages({ architectures, outDir: imagesFolder, pins: parsePins(offeredPins(new Date())) });
  }
}
