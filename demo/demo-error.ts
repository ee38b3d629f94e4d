/** A reason to end the demonstration, shown without a stack. */
export class DemoError extends Error {
  /** What to do about it. */
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DemoError";
    this.hint = hint;
  }
}
