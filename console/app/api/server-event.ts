/** An event of a stream, as it came. */
export interface ServerEvent {
  event: string;
  id: string | undefined;
  data: string;
}
