import type { ApplicationFacts, DaemonSetFacts, ProjectFacts, World } from "../facts/world.ts";

/** An Application that owns a DaemonSet, or says so, and where the project is that a hold goes into. */
export interface ArgoOwner {
  readonly application: ApplicationFacts;
  readonly projectNamespace: string;
  /** Undefined when it is not there, or not seen. */
  readonly project: ProjectFacts | undefined;
}

/**
 * Every Application that may take a change of this DaemonSet back. Three things tell of one: its own list of resources,
 * the tracking annotation and the instance label; any of them can be missing, and none is certain. More than one owner
 * is a disagreement: each of them has to be held.
 */
export function argoOwners(daemonSet: DaemonSetFacts, world: World): readonly ArgoOwner[] {
  const label = `${daemonSet.namespace}/${daemonSet.name}`;
  const own = argoNamespaces(world.projects);
  return world.applications
    .filter(
      (application) =>
        application.owns.includes(label) ||
        isNamedBy(daemonSet.trackedBy, application, own) ||
        isNamedBy(daemonSet.instance, application, own),
    )
    .flatMap((application) => ownerOf(application, world.projects, own));
}

/** The annotation names an Application that is none of these: it is elsewhere, or its Argo CD is. */
export function unseenTracker({ trackedBy }: DaemonSetFacts, owners: readonly ArgoOwner[]): string | undefined {
  if (trackedBy === "") return undefined;
  const isSeen = owners.some(({ application: { namespace, name } }) =>
    [name, `${namespace}_${name}`].includes(trackedBy),
  );
  return isSeen ? undefined : trackedBy;
}

/** Where an Argo CD lives: it makes the project `default` beside itself. Somebody else's project proves nothing then. */
function argoNamespaces(projects: readonly ProjectFacts[]): ReadonlySet<string> {
  const defaults = projects.filter(({ name }) => name === "default");
  return new Set((defaults.length > 0 ? defaults : projects).map(({ namespace }) => namespace));
}

/** A bare name is of Argo CD's own namespace; before one of another stands that namespace. No name has an underscore. */
function isNamedBy(mark: string, { namespace, name }: ApplicationFacts, own: ReadonlySet<string>): boolean {
  if (mark === "") return false;
  return mark === `${namespace}_${name}` || (mark === name && own.has(namespace));
}

/** None for an Application that Argo CD does not look at: anybody may make one in a namespace of theirs. */
function ownerOf(
  application: ApplicationFacts,
  projects: readonly ProjectFacts[],
  own: ReadonlySet<string>,
): readonly ArgoOwner[] {
  const { namespace } = application;
  const named = projects.filter((project) => project.name === application.project && own.has(project.namespace));
  if (own.has(namespace)) {
    const project = named.find((one) => one.namespace === namespace);
    return [{ application, projectNamespace: namespace, project }];
  }
  const project = named.find(({ sourceNamespaces }) => sourceNamespaces.some((pattern) => mayBe(pattern, namespace)));
  return project === undefined ? [] : [{ application, projectNamespace: project.namespace, project }];
}

/** Stars stand for any characters. What is more than that is not understood, and may be this namespace. */
function mayBe(pattern: string, namespace: string): boolean {
  if (/[^-a-z0-9*]/.test(pattern)) return true;
  const [first = "", ...parts] = pattern.split("*");
  if (parts.length === 0) return pattern === namespace;
  if (!namespace.startsWith(first)) return false;
  let from = first.length;
  for (const part of parts.slice(0, -1)) {
    const at = namespace.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  const last = parts.at(-1) ?? "";
  return namespace.length - last.length >= from && namespace.endsWith(last);
}
