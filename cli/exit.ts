/** The exit codes of the commands, and the error that ends one. */

export const EXIT = {
  done: 0,
  /** The API refused the request, or the job failed. */
  failed: 1,
  /** Of the command line, or of the API: what it was given is no request. */
  usage: 2,
  unreachable: 3,
  /** No key, or one that is not accepted. */
  access: 4,
} as const;

/** An end with a message for the terminal, without a stack. */
export class CliError extends Error {
  readonly exitCode: number;
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(message: string, exitCode: number, hint?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
