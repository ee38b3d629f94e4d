/** Why a host is not to be asked before a time that is known. */
export class HostWait extends Error {
  readonly code: "CIRCUIT_OPEN" | "RATE_LIMITED";
  /** Epoch ms. */
  readonly until: number;

  constructor(code: HostWait["code"], message: string, until: number) {
    super(message);
    this.name = "HostWait";
    this.code = code;
    this.until = until;
  }
}
