/** Kueue decides about Jobs with this label. */
export const queueLabel = "kueue.x-k8s.io/queue-name";
