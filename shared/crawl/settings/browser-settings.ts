/**
 * Settings of pages that are opened in a browser: how large its window is, and what is done before the page is taken.
 */
import { z } from "zod";
import { selectorSchema } from "../../extract/fields/field-schema.ts";

const MAX_ACTIONS = 20;
/** Of one action, and of all together, in ms. */
const LONGEST_WAIT_MS = 10_000;
const LONGEST_WAITS_MS = 30_000;

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** CSS pixels. */
export const viewportSchema = z.strictObject({
  width: z.int().min(200).max(3_840),
  height: z.int().min(200).max(2_160),
});

const actionSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("wait"), milliseconds: z.int().min(1).max(LONGEST_WAIT_MS) }),
  /** Until something matches. */
  z.strictObject({ type: z.literal("wait_for"), selector: selectorSchema }),
  /** The first element that matches, once it is shown. */
  z.strictObject({ type: z.literal("click"), selector: selectorSchema }),
  /** Into the field, after what it holds. */
  z.strictObject({ type: z.literal("type"), selector: selectorSchema, text: z.string().min(1).max(500) }),
  /** Downwards, or upwards where it is negative; to the end of the page where it is left out. */
  z.strictObject({ type: z.literal("scroll"), pixels: z.int().min(-50_000).max(50_000).optional() }),
]);

/** One after the other. */
export const actionsSchema = z
  .array(actionSchema)
  .max(MAX_ACTIONS)
  .refine(
    (actions) =>
      actions.reduce((sum, action) => sum + (action.type === "wait" ? action.milliseconds : 0), 0) <= LONGEST_WAITS_MS,
    `wait for more than ${LONGEST_WAITS_MS} ms together`,
  );
export type PageActions = z.output<typeof actionsSchema>;

interface WindowSettings {
  viewport?: { width: number; height: number } | undefined;
  mobile: boolean;
}

/** What is effective where none is set, too. */
export const viewportOf = ({ viewport, mobile }: WindowSettings): { width: number; height: number } =>
  viewport ?? (mobile ? PHONE : DESKTOP);

/** The browser's window; a phone's has a touch screen, and pages lay themselves out for it. */
export const windowOf = (settings: WindowSettings) => ({ ...viewportOf(settings), mobile: settings.mobile });
