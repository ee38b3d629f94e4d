/** The parameter that both routes take: the id of a job. */
import { z } from "zod";

export const params = z.strictObject({ job_id: z.uuid() });
