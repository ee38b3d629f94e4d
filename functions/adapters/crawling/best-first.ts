/** The fields of a request that say what `best_first` looks for: another strategy would ignore them. */
import { z } from "zod";
import { keywordsOf } from "../../../shared/crawl/urls/relevance.ts";

/** @param threshold what clients send that write all fields of the reference's model, whatever the strategy */
export const bestFirstOptions = (threshold: number) => ({
  /** What `best_first` looks for: words, or phrases each word of which counts. */
  keywords: z.array(z.string().trim().toLowerCase().min(1).max(100)).max(50).default([]),
  /** `best_first`: links that score less are not followed. */
  score_threshold: z.number().min(0).max(1).default(threshold),
});

/** The same for the OpenAPI document. */
export const bestFirstRule = (threshold: number) => ({
  oneOf: [
    {
      required: ["strategy", "keywords"],
      properties: { strategy: { enum: ["best_first"] }, keywords: { minItems: 1 } },
    },
    {
      properties: {
        strategy: { not: { enum: ["best_first"] } },
        keywords: { maxItems: 0 },
        score_threshold: { enum: [threshold] },
      },
    },
  ],
});

interface BestFirstRequest {
  strategy: string;
  keywords: readonly string[];
  score_threshold: number;
}

/** Refines a request with these fields. */
export const checkBestFirst =
  (threshold: number) =>
  ({ strategy, keywords, score_threshold }: BestFirstRequest, issues: z.RefinementCtx): void => {
    const refuse = (field: string, message: string) => issues.addIssue({ code: "custom", path: [field], message });
    if (strategy === "best_first") {
      if (keywords.length === 0) refuse("keywords", "best_first needs at least one keyword");
      else if (keywordsOf(keywords.join(" ")).length === 0) refuse("keywords", "hold no word to look for");
      return;
    }
    const message = 'is for the strategy "best_first" alone: set strategy to it, or leave this out';
    if (keywords.length > 0) refuse("keywords", message);
    if (score_threshold !== threshold) refuse("score_threshold", message);
  };
