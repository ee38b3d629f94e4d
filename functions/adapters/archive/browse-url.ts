/** Where a capture can be seen as it was. */
import { timestampOf } from "../../../shared/archive/replay/timestamp.ts";

/** @param replayUrl empty where nothing is replayed */
export const browseUrl = (replayUrl: string, url: string, capturedAt: Date): string | null =>
  replayUrl === "" ? null : `${replayUrl}/${timestampOf(capturedAt)}/${url}`;
