/** The query parameters that say which fields of a page are answered; `selectFields` checks the names. */
import { z } from "zod";
import { RESULT_FIELDS } from "../../../shared/crawl/results/fields.ts";

const NAMES = `Names with commas between them: ${RESULT_FIELDS.join(", ")}`;
const list = (description: string) =>
  z
    .string()
    .max(1_000)
    .optional()
    .meta({ description: `${description}. ${NAMES}` });

export const fieldSelection = {
  include: list("The fields of a page, beside url, depth and status_code, which are always there"),
  exclude: list("Fields that a page is without; of no effect beside include"),
};
