/** Parts of the archive that a deployment can switch off, each by itself. */
import type { ArchiveFeature, Config } from "../../../shared/platform/config.ts";
import { ApiError } from "../../../shared/platform/errors.ts";

type Switches = Pick<Config, "archiveOff">;

export const isOn = ({ archiveOff }: Switches, feature: ArchiveFeature): boolean => !archiveOff.includes(feature);

/** @throws ApiError 404 FEATURE_OFF */
export function requireFeature(config: Switches, feature: ArchiveFeature): void {
  if (isOn(config, feature)) return;
  throw new ApiError(404, `This archive has ${feature} switched off`, { code: "FEATURE_OFF", details: { feature } });
}
