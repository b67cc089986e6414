import { join, resolve } from "node:path";
import { offeredPins } from "../debian/bump-pins.ts";
import { PackagesGone } from "../debian/package-cache.ts";
import { architectures, parsePins, readPins, type Pins } from "../debian/pins.ts";
import { buildImages, type Images } from "../image/build-images.ts";

export const imagesFolder = join(resolve(import.meta.dirname, "../.."), "dist/image");

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
    return { images: buildImages({ architectures, outDir: imagesFolder, pins }), pins };
  } catch (thrown) {
    if (!(thrown instanceof PackagesGone)) throw thrown;
    console.warn(`${thrown.message}\nThe tests go on with the versions that are offered today`);
    const offered = parsePins(offeredPins(new Date()));
    return { images: buildImages({ architectures, outDir: imagesFolder, pins: offered }), pins: offered };
  }
}
