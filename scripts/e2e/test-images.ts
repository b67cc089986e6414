import { join, resolve } from "node:path";
import { offeredPins } from "../debian/bump-pins.ts";
import { PackagesGone } from "../debian/package-cache.ts";
import { architectures, parsePins, readPins, type Pins } from "../debian/pins.ts";
import { buildImages, type ImageOrder } from "../image/build-images.ts";
import type { Images } from "../image/made-images.ts";

export const imagesFolder = join(resolve(import.meta.dirname, "../.."), "dist/image");

/** A commit that changes nothing of the images does not make them again. */
const order: ImageOrder = { architectures, outDir: imagesFolder, isAnyDateGood: true };

/**
 * The images for the tests. Debian's archive forgets old versions, so a checkout of some weeks ago is tested with the
 * versions of today; its own images then need `npm run image -- --bump`.
 */
export function testImages(): Images {
  return buildWithSomePins().images;
}

/** The packages that the images for the tests are made of. */
export function testPins(): Pins {
  return buildWithSomePins().pins;
}

function buildWithSomePins(): { readonly images: Images; readonly pins: Pins } {
  const pins = readPins();
  try {
    return { images: buildImages({ ...order, pins }), pins };
  } catch (thrown) {
    if (!(thrown instanceof PackagesGone)) throw thrown;
    console.warn(`${thrown.message}\nThe tests go on with the versions that are offered today`);
    const offered = parsePins(offeredPins(new Date()));
    return { images: buildImages({ ...order, pins: offered }), pins: offered };
  }
}
