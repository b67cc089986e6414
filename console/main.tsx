import { render } from "preact";
import { App } from "./app.tsx";
import { followAddress } from "./base/route.ts";
import { startFollowing } from "./stream/store.ts";

followAddress();
startFollowing();
const place = document.getElementById("page");
if (place !== null) {
  place.replaceChildren();
  render(<App />, place);
}
