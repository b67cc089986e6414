import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { clockText } from "../base/words.ts";
import { asOfMs, blindSinceMs, isOld, link, retryNow, signIn, snapshot } from "../stream/store.ts";

/** Says when the page shows the past, and why. */
export function LinkBanner(): JSX.Element | null {
  const { value } = link;
  if (value.state === "ended")
    return <Ended code={value.problem.code} message={value.problem.message} remedy={value.problem.remedy} />;
  if (value.state === "live" || (value.state === "connecting" && !isOld.value)) return <StaleSources />;
  return (
    <div class="banner is-warning" role="status">
      <p>
        <b>{isOld.value ? `Old: what you see was so at ${clockText(asOfMs.value)}.` : "Not connected yet."}</b>{" "}
        {value.state === "away" ? value.problem.message : "Connecting again…"}
      </p>
      {value.state === "away" && value.problem.remedy !== "" ? <p class="quiet">{value.problem.remedy}</p> : null}
      <button type="button" class="plain" onClick={retryNow}>
        Try now
      </button>
    </div>
  );
}

const namesMax = 3;

/** The server is there, but it cannot see everything. */
function StaleSources(): JSX.Element | null {
  const stale = (snapshot.value?.sources ?? []).filter(({ state }) => state === "stale");
  if (stale.length === 0) return null;
  const names = stale.map(({ name }) => name);
  const named = `${names.slice(0, namesMax).join(", ")}${names.length > namesMax ? ` and ${names.length - namesMax} more` : ""}`;
  return (
    <div class="banner is-warning" role="status">
      <p>
        <b>
          {blindSinceMs.value === undefined
            ? `Old facts about ${named}.`
            : `Old: what you see was so at ${clockText(blindSinceMs.value)}.`}
        </b>{" "}
        {stale[0]?.why ?? ""}
      </p>
    </div>
  );
}

function Ended({
  code,
  message,
  remedy,
}: {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="banner is-failed" role="alert">
      <p>
        <b>The page has stopped asking.</b> {message}
      </p>
      {remedy === "" ? null : <p>{remedy}</p>}
      {code === "sign-in-needed" ? (
        <form
          class="sign-in"
          onSubmit={(event) => {
            event.preventDefault();
            signIn(input.current?.value ?? "");
          }}
        >
          <label>
            Bearer token
            <input ref={input} type="password" autocomplete="off" required />
          </label>
          <button type="submit" class="main">
            Sign in
          </button>
        </form>
      ) : null}
    </div>
  );
}
