import type { JSX } from "preact";
import type { DecisionCard } from "../../src/wire/console-decision.ts";
import type { AlertSums, ConsoleSnapshot, ConsoleViewer } from "../../src/wire/console-view.ts";
import { countText, dayText, plural } from "../base/words.ts";
import { Code, Figure } from "../parts/explain.tsx";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";
import { Card } from "./card.tsx";

/** What the guard found and proposes; what waits for a person is at the top. */
export function DecisionsView({ decisions, alerts, viewer }: ConsoleSnapshot): JSX.Element {
  const open = decisions.filter(({ isOpen }) => isOpen);
  const waiting = open.filter(({ needsPerson }) => needsPerson).length;
  return (
    <>
      <section class="headline">
        <h1>
          {open.length === 0
            ? "No Decision is open"
            : `${plural(open.length, "open Decision")}, ${countText(waiting)} waiting for a person`}
        </h1>
        <AlertLine alerts={alerts} />
      </section>
      {open.map((card) => (
        <Card key={card.name} card={card} viewer={viewer} />
      ))}
      <Ended decisions={decisions.filter(({ isOpen }) => !isOpen)} viewer={viewer} />
      <AlertNames alerts={alerts} />
    </>
  );
}

function AlertLine({ alerts: { firing, explained = 0, why } }: { readonly alerts: AlertSums }): JSX.Element {
  if (firing === undefined) return <p class="quiet">Alerts are not counted: {why}</p>;
  const rest = firing - explained;
  return (
    <p class="alert-line">
      <Figure of="firing">
        {countText(firing)} firing, {countText(explained)} explained
      </Figure>
      {rest === 0 ? null : <Sign state="warning" label={`${plural(rest, "alert")} with another cause`} />}
    </p>
  );
}

function AlertNames({ alerts: { names } }: { readonly alerts: AlertSums }): JSX.Element | null {
  if (names.length === 0) return null;
  return (
    <List
      title="Alerts"
      heads={["alert", "firing", "explained", "not explained"]}
      none=""
      rows={names.map(({ name, firing, explained, hasTopic }) => (
        <tr key={name}>
          <th scope="row">{hasTopic === true ? <Code code={name} /> : <Name text={name} />}</th>
          <td class="number">{countText(firing)}</td>
          <td class="number">{countText(explained)}</td>
          <td class="number">
            {firing === explained ? "0" : <Sign state="warning" label={countText(firing - explained)} />}
          </td>
        </tr>
      ))}
    />
  );
}

function Ended(props: {
  readonly decisions: readonly DecisionCard[];
  readonly viewer: ConsoleViewer;
}): JSX.Element | null {
  const { decisions, viewer } = props;
  if (decisions.length === 0) return null;
  return (
    <section>
      <h2>Ended</h2>
      {decisions.map((card) => (
        <details key={card.name} class="ended">
          <summary>
            <Name text={card.name} />{" "}
            <span class="quiet">
              {card.phase} {dayText(card.sinceMs)}
            </span>
          </summary>
          <Card card={card} viewer={viewer} />
        </details>
      ))}
    </section>
  );
}
