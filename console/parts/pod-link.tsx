import type { JSX } from "preact";
import { linkTo } from "../base/route.ts";
import { Name } from "./name.tsx";

/** A pod's name, which leads to its story. */
export function PodLink({ namespace, pod }: { readonly namespace: string; readonly pod: string }): JSX.Element {
  return (
    <a class="pod-link" href={linkTo("find", "pod", namespace, pod)}>
      <span class="quiet">
        <Name text={namespace} />/
      </span>
      <Name text={pod} />
    </a>
  );
}
