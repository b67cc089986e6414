/**
 * What the daemon loads late, to be small while nobody needs it. In a simulation all of it is here from the start:
 * loading is real work of the real machine, so its end would come at an instant that no seed decides.
 */
import "../../daemon/collect/leases/address-rooms.ts";
import "../../daemon/compose-answers.ts";
import "../../daemon/dry-run/dry-run-desk.ts";
import "../../daemon/dry-run/dry-run-request.ts";
import "../../daemon/dry-run/dry-run.ts";
import "../../daemon/look-up/devices-of-claims.ts";
import "../../daemon/look-up/devices.ts";
import "../../daemon/multus/open-multus.ts";
import "../../daemon/plug/plug-look.ts";
import "../../daemon/tell/claim-data.ts";
import "../../daemon/traces/open-traces.ts";
import "../../kube/claims/claim-reader.ts";
import "../../state/recorder/read-storms.ts";
