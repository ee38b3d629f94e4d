/** What a command was given is no request. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** What to do about it. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
