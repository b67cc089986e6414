import { expect, test } from "bun:test";
import { InventedDesk, InventedViewers } from "../serve/invented.fixture.ts";
import { exportPage } from "./export-page.ts";

async function exported(change: (desk: InventedDesk) => void = () => undefined): Promise<string> {
  const desk = new InventedDesk(200);
  change(desk);
  const { view } = await new InventedViewers().of();
  return exportPage({ ...desk.parts(), revision: 1, viewer: view });
}

test("exportPage has what waits for a person, in one file that loads and runs nothing", async () => {
  const page = await exported();
  for (const words of [
    "2 Decisions wait for a person",
    "219 ownerless pods of one template in shop do not start",
    "kubectl label namespace shop levee.dev/ownerless-pods=deny",
    "levee decisions approve stop-shop-1",
    "45 alerts firing, 41 explained",
    "NodeFilesystemFull fires",
    "alerts pass by an exception of bob until ",
    "Waiting pods in the last 60 minutes",
  ])
    expect(page).toContain(words);
  expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|href=|src=|url\(|javascript:|http:\/\//iu);
  expect(page).toContain("default-src 'none'");
});

test("exportPage shows names of tenants as text", async () => {
  const hostile = `<img src=x onerror=alert(1)>"'&\u202egpj`;
  const page = await exported((desk) => {
    desk.cards = desk.cards.map((card) => ({ ...card, name: hostile, summary: hostile, notes: [hostile] }));
    desk.cells = [{ name: hostile, state: "failed", why: [hostile] }];
  });
  expect(page).not.toContain("<img");
  expect(page).not.toContain("\u202e");
  expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;gpj");
});
