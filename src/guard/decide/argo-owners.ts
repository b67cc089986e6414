import type { ApplicationFacts, DaemonSetFacts, ProjectFacts, World } from "../facts/world.ts";

/** An Application that owns a DaemonSet or claims to, and the project whose windows can hold it. */
export interface ArgoOwner {
  readonly application: ApplicationFacts;
  readonly projectNamespace: string;
  /** Undefined when the project is missing or not visible. */
  readonly project: ProjectFacts | undefined;
}

/** An object with Argo CD's marks. */
type MarkedObject = Pick<DaemonSetFacts, "namespace" | "name" | "trackedBy" | "instance">;

/**
 * Every Application that may revert a change of this object. Its resource list, the tracking annotation and the
 * instance label each point to an owner; any of them can be missing, and none is certain. Several owners contradict each
 * other, so each of them must be held.
 */
export function argoOwners(object: MarkedObject, world: World): readonly ArgoOwner[] {
  const label = `${object.namespace}/${object.name}`;
  const own = argoNamespaces(world.projects);
  return world.applications
    .filter(
      (application) =>
        application.owns.includes(label) ||
        isNamedBy(object.trackedBy, application, own) ||
        isNamedBy(object.instance, application, own),
    )
    .flatMap((application) => ownerOf(application, world.projects, own));
}

/** The Application in the annotation, if it is not one of these owners: it or its Argo CD is elsewhere. */
export function unseenTracker(
  { trackedBy }: Pick<MarkedObject, "trackedBy">,
  owners: readonly ArgoOwner[],
): string | undefined {
  if (trackedBy === "") return undefined;
  const isSeen = owners.some(({ application: { namespace, name } }) =>
    [name, `${namespace}_${name}`].includes(trackedBy),
  );
  return isSeen ? undefined : trackedBy;
}

/** Namespaces with an Argo CD: it creates the project `default` beside itself, so other projects prove nothing. */
function argoNamespaces(projects: readonly ProjectFacts[]): ReadonlySet<string> {
  const defaults = projects.filter(({ name }) => name === "default");
  return new Set((defaults.length > 0 ? defaults : projects).map(({ namespace }) => namespace));
}

/** A bare name means Argo CD's own namespace; otherwise the namespace and an underscore precede it. */
function isNamedBy(mark: string, { namespace, name }: ApplicationFacts, own: ReadonlySet<string>): boolean {
  if (mark === "") return false;
  return mark === `${namespace}_${name}` || (mark === name && own.has(namespace));
}

/** Empty for an Application that Argo CD ignores: a tenant may create one in its own namespace. */
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

/** A star matches any characters. Any other pattern syntax is unknown here and counts as a match. */
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
