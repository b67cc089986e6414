import { test } from "bun:test";
import { expectMutatedEndProperly } from "./mutated.ts";

test("damaged configurations end properly and leave nothing", () => expectMutatedEndProperly(200));
