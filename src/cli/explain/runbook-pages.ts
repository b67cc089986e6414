/** The runbook pages themselves: the build embeds their text, so the program and the pages cannot differ. */
import ArgoCDAppsUnknown from "../../../docs/runbooks/ArgoCDAppsUnknown.md" with { type: "text" };
import CniAddErrorRate from "../../../docs/runbooks/CniAddErrorRate.md" with { type: "text" };
import ContainerOOMKilledChildren from "../../../docs/runbooks/ContainerOOMKilledChildren.md" with { type: "text" };
import KuredLockOfAbsentNode from "../../../docs/runbooks/KuredLockOfAbsentNode.md" with { type: "text" };
import LeveeGateMismatch from "../../../docs/runbooks/LeveeGateMismatch.md" with { type: "text" };
import LeveeGateStale from "../../../docs/runbooks/LeveeGateStale.md" with { type: "text" };
import NetworkAddressesLow from "../../../docs/runbooks/NetworkAddressesLow.md" with { type: "text" };
import NodeLeftCordoned from "../../../docs/runbooks/NodeLeftCordoned.md" with { type: "text" };
import KuredRebootBacklog from "../../../docs/runbooks/KuredRebootBacklog.md" with { type: "text" };
import LeveeBlind from "../../../docs/runbooks/LeveeBlind.md" with { type: "text" };
import LeveeDecisionPaused from "../../../docs/runbooks/LeveeDecisionPaused.md" with { type: "text" };
import LeveeDecisionWaiting from "../../../docs/runbooks/LeveeDecisionWaiting.md" with { type: "text" };
import LeveeDecisionsKept from "../../../docs/runbooks/LeveeDecisionsKept.md" with { type: "text" };
import LeveeGuardAbsent from "../../../docs/runbooks/LeveeGuardAbsent.md" with { type: "text" };
import LeveeLeaksGrowing from "../../../docs/runbooks/LeveeLeaksGrowing.md" with { type: "text" };
import MultusMemoryPressure from "../../../docs/runbooks/MultusMemoryPressure.md" with { type: "text" };
import MultusOOMLoop from "../../../docs/runbooks/MultusOOMLoop.md" with { type: "text" };
import NamespacePendingPodBacklog from "../../../docs/runbooks/NamespacePendingPodBacklog.md" with { type: "text" };
import OwnerlessPods from "../../../docs/runbooks/OwnerlessPods.md" with { type: "text" };
import OwnerlessPodsGrowing from "../../../docs/runbooks/OwnerlessPodsGrowing.md" with { type: "text" };
import OwnerlessPodsScattered from "../../../docs/runbooks/OwnerlessPodsScattered.md" with { type: "text" };
import StaleSandboxReservations from "../../../docs/runbooks/StaleSandboxReservations.md" with { type: "text" };

export const runbookPages: Readonly<Record<string, string>> = {
  ArgoCDAppsUnknown,
  CniAddErrorRate,
  ContainerOOMKilledChildren,
  KuredLockOfAbsentNode,
  LeveeGateMismatch,
  LeveeGateStale,
  NetworkAddressesLow,
  NodeLeftCordoned,
  KuredRebootBacklog,
  LeveeBlind,
  LeveeDecisionPaused,
  LeveeDecisionWaiting,
  LeveeDecisionsKept,
  LeveeGuardAbsent,
  LeveeLeaksGrowing,
  MultusMemoryPressure,
  MultusOOMLoop,
  NamespacePendingPodBacklog,
  OwnerlessPods,
  OwnerlessPodsGrowing,
  OwnerlessPodsScattered,
  StaleSandboxReservations,
};
